"""Questions as people put them, full of words that say nothing, beside long pages that are full of those words too."""

import random

# A key, what is noted, and how somebody asks for it.
ASKED = (
    ("payment-retries", "{service}: payment gateway calls are retried {n} times, then parked",
     "How many times should I retry a call to the payment gateway from {service}?"),
    ("night-shift", "{service}: after 22:00 page the on-call of {team}, not the whole channel",
     "Who do I need to page when something in {service} breaks at night?"),
    ("export-format", "{service} exports are UTF-8 CSV with a semicolon",
     "What kind of file do I get when I run an export of {service}?"),
    ("secrets-place", "Secrets of {service} live in the vault under kv/{service}",
     "Where can I find the secrets that {service} needs to work?"),
    ("feature-owner", "{service} flags are switched by {team} only",
     "Is there somebody I have to ask before I switch a flag of {service}?"),
    ("log-retention", "{service} keeps logs {n} days",
     "How long do we usually keep the logs that {service} writes?"),
    ("memory-limit", "{service} pods are killed above {n} GiB of memory",
     "How much memory can one pod of {service} use before it gets killed?"),
    ("first-step", "Incident in {service}: freeze deploys first, then look at the dashboard",
     "What is the first thing I should do when there is an incident in {service}?"),
)  # fmt: skip
# What handbooks say, with everything people ask with and hardly anything they ask for.
SAID = (
    "There are many things you should know before you start to work here, and many times people ask the same things.",
    "How long something takes depends on how many people use it and on how much they need at one time.",
    "Whenever you get a call, ask who called, what they need and how many times they have tried before.",
    "You can find somebody to ask at any time; there is always someone you have to ask first when something breaks.",
    "What kind of work you do first is up to you, as long as the first thing you do in the morning is to say so.",
    "We usually keep what we write, and we write what we find, so that nobody needs to run after it at night.",
    "If one of us uses more than the others, it gets noticed before it gets out of hand.",
    "Switch off the light when you go, and look at the plan of the week before you switch teams.",
)
PAGES, SENTENCES = 3, 18


def asked(service: str, team: str, rng: random.Random) -> list[tuple[str, str, str]]:
    """Return (key, value, question) of what is known of a service and asked for in whole sentences."""
    told = {"service": service, "team": team}
    some = rng.sample(ASKED, 3)
    return [(key, value.format(**told, n=rng.randint(2, 90)), query.format(**told)) for key, value, query in some]


def pages(service: str, rng: random.Random) -> list[tuple[str, str]]:
    """Return (key, value) of long pages that nobody asks for."""
    made = []
    for number in range(PAGES):
        said = " ".join(rng.choice(SAID) for _ in range(SENTENCES))
        made.append((f"page-{number}", f"Handbook of {service}, part {number}. {said}"))
    return made
