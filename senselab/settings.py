"""Settings: everything comes from the environment (see .env.example) and has a default that is safe on one machine."""

from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from senselab import postgres, sign_on
from senselab.version import VERSION

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")

DATA_DIR = Path(env.str("SENSELAB_DATA", default="") or BASE_DIR / "var").absolute()
DEBUG = env.bool("DEBUG", default=False)
HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8000)
WEB_WORKERS = env.int("WEB_WORKERS", default=2)
WEB_THREADS = env.int("WEB_THREADS", default=4)
# A statement that an answer waits for is stopped after so long, and the answer is 503: clients give up after 30 s.
ANSWER_SECONDS = env.int("ANSWER_SECONDS", default=10)
# How many streams each web process keeps open; they have threads of their own, and one more is refused with 503.
STREAMS = env.int("STREAMS", default=8)
# How many of them one key holds; one more is refused with 429.
STREAMS_PER_KEY = env.int("STREAMS_PER_KEY", default=max(1, STREAMS // 2))


def secret_of(value: str, file: str) -> str:
    """Return a secret as it is set, else what stands in the file named in its place.

    :raises ImproperlyConfigured: the file cannot be read, or is empty.
    """
    if value or not file:
        return value
    try:
        found = Path(file).read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{file}, which should hold a secret, cannot be read: {error.strerror}") from error
    if not found:
        raise ImproperlyConfigured(f"{file}, which should hold a secret, is empty")
    return found


def secret_key() -> str:
    """Return SECRET_KEY, or the key that the first start wrote into the data folder."""
    given = secret_of(env.str("SECRET_KEY", default=""), env.str("SECRET_KEY_FILE", default=""))
    if given:
        return given
    kept = DATA_DIR / "secret_key"
    # Before the first start (collectstatic, type checks) nothing is signed that anybody keeps.
    return kept.read_text().strip() if kept.exists() else "unsafe-before-the-first-start"


SECRET_KEY = secret_key()
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]", HOST])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
BEHIND_TLS = env.bool("BEHIND_TLS", default=False)
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=[])

INSTALLED_APPS = [
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "csp",
    "django_htmx",
    "django_q",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "senselab.accounts",
    "memories",
    "outcomes",
    "senselab",
]

MIDDLEWARE = [
    "senselab.telemetry.trace",
    "senselab.short_way.short_way",
    "senselab.measuring.measure",
    "senselab.replicas.send_reads",
    "senselab.failures.once_more",
    "senselab.bodies.read_to_the_end",
    "senselab.accounts.middleware.request_id",
    "senselab.accounts.middleware.tell_the_rate",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "senselab.unmasking.show_what_misleads",
    "senselab.problems.dress_bare_answers",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "senselab.accounts.middleware.people_have_an_account",
    "senselab.accounts.middleware.second_factors_where_required",
    "senselab.accounts.middleware.note_refusals",
    "memories.ui.screened.screen_forms",
    "memories.ui.people.count_waiting",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "senselab.urls"
WSGI_APPLICATION = "senselab.wsgi.application"
AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in {
        "UserAttributeSimilarityValidator": {},
        "MinimumLengthValidator": {"min_length": 12},
        "CommonPasswordValidator": {},
    }.items()
]
PASSWORD_RESET_TIMEOUT = 24 * 3600
LOGIN_URL = "login"
LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "overview", "login"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False  # or every command opens with a line of axes
AXES_LOCKOUT_TEMPLATE = "accounts/locked.html"
# What axes keeps of a failed attempt leaves these out: a mistyped recovery code is nearly one.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "credential"]

# Of allauth we take second factors and the protocol of OpenID Connect; signing in and its pages are ours
# (senselab/accounts/entering.py).
SOCIALACCOUNT_ADAPTER = "senselab.accounts.openid.Adapter"
MFA_ADAPTER = "senselab.accounts.secrets_at_rest.Adapter"
MFA_RECOVERY_CODE_DIGITS = 10
# A phone whose clock is half a minute off still gets its owner in.
MFA_TOTP_TOLERANCE = 1

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "senselab.ui.shell",
                "senselab.ui.provider",
            ],
            "builtins": ["senselab.templatetags.look"],
        },
    }
]


def database(conninfo: str, *, said: str = "DATABASE_URL", **defaults: object) -> dict[str, object]:
    """Return Django's database settings for a libpq URL or key=value string; `defaults` are options it may replace.

    :raises ImproperlyConfigured: it is neither.
    """
    try:
        given = conninfo_to_dict(conninfo)
    except ProgrammingError as error:
        raise ImproperlyConfigured(f"{said} is no address of a database ({str(error).strip()})") from error
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    settings: dict[str, object] = {ours: given.pop(theirs, "") for ours, theirs in names.items()}
    # Persistent connections with prepared statements: without them a request costs seven to ten times as much.
    options = {"server_side_binding": True, "prepare_threshold": 2, "application_name": "senselab", **defaults, **given}
    return settings | {"ENGINE": "django.db.backends.postgresql", "CONN_MAX_AGE": None, "OPTIONS": options}


DATABASE_URL = secret_of(env.str("DATABASE_URL", default=""), env.str("DATABASE_URL_FILE", default=""))
DATABASE_URL = DATABASE_URL or postgres.url(DATA_DIR)
# A hot standby of the same database, for pages and searches (senselab/replicas.py). A machine that is gone is silent.
REPLICA_URL = secret_of(env.str("REPLICA_URL", default=""), env.str("REPLICA_URL_FILE", default=""))
SOON = {"connect_timeout": 2, "tcp_user_timeout": 5000} if REPLICA_URL else {}
DATABASES = {"default": database(DATABASE_URL, **SOON)}  # type: ignore[arg-type]
DATABASES |= {"standby": database(REPLICA_URL, said="REPLICA_URL", **SOON)} if REPLICA_URL else {}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N, USE_TZ = False, True

STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default="") or DATA_DIR / "staticfiles")
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        **{key: [NONE] for key in ("default-src", "base-uri", "frame-ancestors")},
        **{key: [SELF] for key in ("script-src", "style-src", "font-src", "connect-src", "form-action")},
        "img-src": [SELF, "data:"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = BEHIND_TLS and env.bool("HSTS_SUBDOMAINS", default=False)
SESSION_COOKIE_HTTPONLY = True
# Subdomains are the neighbours' business, and preloading is a promise for years: neither is made unasked. Sending
# people to https is the proxy's part: agents beside us may call without it, and their client follows no redirect.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["senselab.accounts.keys.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["senselab.accounts.keys.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "senselab.negotiation.AlwaysJson",
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "senselab.api.problem_response",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "SenseLab",
    "DESCRIPTION": "What agents have learned, how sure they may be of it, and what people decided about it.",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": [],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# django-q2 retries for ever by default; a job here is tried three times, and `retry` must exceed `timeout`.
Q_CLUSTER = {
    "name": "senselab",
    "orm": "default",
    "workers": env.int("WORKERS", default=2),
    "max_attempts": 3,
    "timeout": 300,
    "retry": 600,
    "ack_failures": True,
    "catch_up": False,
    "save_limit": 500,
    "poll": 1,
}

# A dotted path to what says how important entries are where nobody else did; empty: nobody (docs/operations.md).
IMPORTANCE_EVALUATOR = env.str("IMPORTANCE_EVALUATOR", default="")

# A folder with model.onnx and tokenizer.json, or `off`; empty: the model that is installed, if one is (docs/search.md).
EMBEDDING_MODEL = env.str("EMBEDDING_MODEL", default="")
# Copies of the whole database (manage.py backup): where, how often by themselves (0: only when asked), how many and how
# long they are kept (0: without that limit).
BACKUP_DIR = Path(env.str("BACKUP_DIR", default="") or DATA_DIR / "backups").absolute()
BACKUP_HOURS = env.int("BACKUP_HOURS", default=0)
BACKUP_KEEP = env.int("BACKUP_KEEP", default=14)
BACKUP_DAYS = env.int("BACKUP_DAYS", default=60)

# What Prometheus sends to read /metrics; empty: only this machine reads them.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
# Where faults and durations are sent (senselab/telemetry.py); empty: nowhere.
SENTRY_DSN = env.str("SENTRY_DSN", default="")
SENTRY_ENVIRONMENT = env.str("SENTRY_ENVIRONMENT", default="production")
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")

# A provider of OpenID Connect by which people may log in as well.
OIDC = sign_on.provider(env, secret_of)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "senselab.logs.Line"}, "json": {"()": "senselab.logs.Json"}},
    "handlers": {
        "out": {"class": "logging.StreamHandler", "formatter": env.str("LOG_FORMAT", default="line")},
    },
    # Axes tells what the audit trail tells; to mcp and httpx each call is a session of its own, and they would say so.
    "loggers": {name: {"level": "WARNING"} for name in ("axes", "mcp", "httpx")},
    "root": {"handlers": ["out"], "level": env.str("LOG_LEVEL", default="INFO")},
}
