"""What the demo's agents are busy with, in words: what they were asked, what they answered, what they noted."""

from random import Random
from typing import Any

DEPLOYS = (
    "Roll out {n} changes of {service}",
    "Release {service} with the new connection settings",
    "Bring the fix for the last incident of {service} to everybody",
    "Upgrade the runtime of {service} and watch p95",
    "Turn the flag on for another {n} % of {service}",
)
QUESTIONS = (
    "Find out why {service} answers slowly for {n} customers",
    "Change {service} so that the complaint of this morning cannot come back",
    "Prepare {service} for the weekend",
    "Answer the question of support about {service}",
    "Clean up the {n} failing jobs of {service}",
    "Check whether the numbers of {service} can be trusted",
)
WENT_WELL = ("Done as asked; nothing unusual.", "Done; one step took longer than noted.", "Done and checked twice.")
NOTED = (
    "The canary had too little traffic at night; waited an hour longer.",
    "Two of the alerts fired for a host that no longer exists; removed them.",
    "The runbook names a command that was renamed; used the new name.",
    "A retry was enough; the second answer came after 300 ms.",
    "The dashboard lags by four minutes; the logs were right.",
    "The change was smaller than its description; asked for a second look all the same.",
    "Cache warm-up made the first minutes look worse than they were.",
    "The customer's clock was wrong by a day; the signature could not match.",
    "Nobody of the team was there; the lead of the neighbouring team decided.",
    "The fix from last month had been lost in a merge; put it back with a test.",
    "A test passed for the wrong reason: its fixture had the result in it.",
    "Half of the time went into access rights.",
    "The numbers of both systems differ by the orders of the last hour of the day.",
    "Rolling back took 40 seconds, finding the cause three hours.",
    "The partner changed its format without a word; wrote to them.",
    "Kunden aus Österreich waren nicht betroffen: andere Postleitzahlen.",
    "El proveedor respondió en 10 minutos; el fallo era suyo.",
    "再発防止のため、閾値を二つの窓で見るようにした。",
)


def asked(rng: Random, path: str, *, deploy: bool) -> str:
    """Return what the task is, in a sentence without a full stop."""
    service = path.rpartition("/")[2]
    return rng.choice(DEPLOYS if deploy else QUESTIONS).format(service=service, n=rng.randint(2, 9))


def told(rng: Random, path: str, what: str, verified_by: str) -> dict[str, Any]:
    """Return what an outcome report says beside the outcome."""
    report: dict[str, Any] = {"entity_paths": [path], "task_input": what}
    if rng.random() < 0.3:
        report["response_text"] = rng.choice(WENT_WELL)
    if rng.random() < 0.2:
        report["situation"] = f"{path.partition('/')[0]}, {rng.choice(('busy', 'quiet', 'night', 'after a release'))}"
    if verified_by:
        report["session_metadata"] = {"verified_by": verified_by}
    return report


def summary(rng: Random, ref: str, path: str, what: str) -> dict[str, Any]:
    """Return what an agent notes after a task."""
    return {
        "task": ref,
        "asked": f"{what}.",
        "minutes": rng.randint(4, 190),
        "noted": rng.sample(NOTED, rng.choice((1, 1, 2))),
        "service": path.rpartition("/")[2],
    }
