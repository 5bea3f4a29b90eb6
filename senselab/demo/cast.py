"""Who acts in the demo, and where they are at home."""

DEPLOY_BOT = "agent/deploy-bot"
CHECKOUT_DEV = "agent/checkout-dev"
ONCALL_HELPER = "agent/oncall-helper"
SEARCH_TUNER = "dev/search-tuner"
RUNBOOK_IMPORT = "manual/runbook-import"
AGENTS = (DEPLOY_BOT, CHECKOUT_DEV, ONCALL_HELPER, SEARCH_TUNER, RUNBOOK_IMPORT)

MIRA, TOM = "mira", "tom"

# Who works on an entity, most often first.
HOMES = {
    "shop/checkout-service": (CHECKOUT_DEV, DEPLOY_BOT, ONCALL_HELPER),
    "shop/checkout-service/address-validation": (CHECKOUT_DEV, RUNBOOK_IMPORT),
    "shop/payments": (CHECKOUT_DEV, ONCALL_HELPER, DEPLOY_BOT),
    "shop/catalog": (SEARCH_TUNER, CHECKOUT_DEV, DEPLOY_BOT),
    "shop/search-api": (SEARCH_TUNER, DEPLOY_BOT, ONCALL_HELPER),
    "shop/storefront": (CHECKOUT_DEV, SEARCH_TUNER, DEPLOY_BOT),
    "platform/deploy": (DEPLOY_BOT, ONCALL_HELPER, CHECKOUT_DEV),
    "platform/auth": (ONCALL_HELPER, CHECKOUT_DEV, DEPLOY_BOT),
    "platform/postgres": (ONCALL_HELPER, DEPLOY_BOT, RUNBOOK_IMPORT),
    "platform/observability": (ONCALL_HELPER, DEPLOY_BOT),
    "finance/billing": (CHECKOUT_DEV, RUNBOOK_IMPORT),
    "finance/ledger": (RUNBOOK_IMPORT, CHECKOUT_DEV),
    "support/macros": (RUNBOOK_IMPORT, ONCALL_HELPER),
    "support/returns": (RUNBOOK_IMPORT, CHECKOUT_DEV),
    "data/warehouse": (SEARCH_TUNER, RUNBOOK_IMPORT),
    "mobile/android-app": (CHECKOUT_DEV, DEPLOY_BOT, SEARCH_TUNER),
}
SERVICES = tuple(path for path in HOMES if path.count("/") == 1)
# Entities whose tasks are deploys and incidents rather than questions.
RUNNING = tuple(path for path in SERVICES if not path.startswith("support/"))
TEAMS = {path: f"team-{path.rpartition('/')[2].split('-')[0]}" for path in SERVICES}
