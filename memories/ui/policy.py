"""The page of the policy: its numbers with their curves, what another would change, and saving that."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from memories.ageing import policy_curves, policy_reads
from memories.ageing.policy_reads import Foreseen
from memories.jobs import job_reads
from memories.models import PolicyVersion
from memories.rules.policy import DEFAULT, Policy
from memories.services import policies
from memories.ui import policy_fields
from memories.ui.people import actor_of, viewer_of
from memories.viewers import account_policy
from senselab.accounts.audit import who_of
from senselab.accounts.models import Account, Role
from senselab.errors import Forbidden, Refusal
from senselab.ui import for_people, render_page

SHOWN = 20


@dataclass(slots=True)
class Answer:
    """What came of a form: the drafted policy, what it would change, or why it was refused."""

    draft: Policy
    foreseen: Foreseen | None = None
    refusal: Refusal | None = None

    @property
    def refused_field(self) -> str:
        places = self.refusal.places if self.refusal else ()
        return places[0].pointer.removeprefix("/") if places else ""


@require_http_methods(["GET", "HEAD", "POST"])
@for_people
def policy(request: HttpRequest) -> HttpResponse:
    """Show the policy; by POST, count what the numbers typed would change, or with `save` make them the next version.

    htmx gets the count alone.
    """
    account: Account = request.person_account  # type: ignore[attr-defined]
    present = account_policy(account)
    if request.method != "POST":
        return page(request, typed_from(request, account, present), Answer(present))
    if request.role != Role.ADMIN:  # type: ignore[attr-defined]
        raise Forbidden("The policy is for admins of this account to change. An admin can make you one.")
    typed = policy_fields.typed(request.POST, present)
    answer = answered(request, account, present, typed)
    if answer is None:
        return redirect("policy")
    return page(request, typed, answer)


def typed_from(request: HttpRequest, account: Account, present: Policy) -> dict[str, str]:
    """Return what the form begins with: the policy in force, the default, or an earlier version."""
    asked = request.GET.get("from", "")
    if asked == "default":
        return policy_fields.typed({}, DEFAULT)
    if asked.isascii() and asked.isdigit() and len(asked) < 10:
        found = policy_reads.version(account.pk, int(asked))
        if found is not None:
            return policy_fields.typed({}, Policy.from_values({**found.values, "version": found.number}))
    return policy_fields.typed({}, present)


def answered(request: HttpRequest, account: Account, present: Policy, typed: dict[str, str]) -> Answer | None:
    """Return what comes of what was typed; None when it was saved."""
    now, answer = timezone.now(), Answer(present)
    try:
        changes = policy_fields.changes(typed, present)
        answer.draft = policies.drafted(account, changes)
        if "save" not in request.POST:
            answer.foreseen = policy_reads.foresee(viewer_of(request), answer.draft, now)
            return answer
        expected = request.POST.get("expected", "")
        saved = policies.save(
            account.pk,
            changes,
            expected=int(expected) if expected.isascii() and expected.isdigit() else 0,
            actor=actor_of(request),
            reason=request.POST.get("reason", ""),
            now=now,
            by=who_of(request),
        )
    except Refusal as refusal:
        answer.refusal = refusal
        return answer
    messages.success(request, f"Version {saved.number} of the policy holds from now on and is being applied.")
    return None


def page(request: HttpRequest, typed: dict[str, str], answer: Answer) -> HttpResponse:
    account: Account = request.person_account  # type: ignore[attr-defined]
    present = account_policy(account)
    if answer.refusal is None and answer.draft is present:
        answer.draft = policies.drafted(account, policy_fields.changes(typed, present))
    run = job_reads.latest(account.pk, "policy")
    context: dict[str, Any] = {
        "present": present,
        "groups": policy_fields.shown(typed, present, answer.refused_field),
        "curves": policy_curves.curves(answer.draft, present),
        "answer": answer,
        "changed": [name for name, value in typed.items() if value != policy_fields.text(present.as_values()[name])],
        "run": run,
        "progress": job_reads.progress(run) if run is not None else None,
        "reason": request.POST.get("reason", ""),
        "longest": policies.LONGEST_REASON,
        "may_save": request.role == Role.ADMIN,  # type: ignore[attr-defined]
        "history": history(account),
        "begins": policy_curves.BEGINS,
    }
    status = answer.refusal.status if answer.refusal else 200
    part = "memories/_policy_foreseen.html"
    return render_page(request, "memories/policy.html", part=part, context=context, status=status)


def history(account: Account) -> list[dict[str, Any]]:
    """Return the newest versions with what each changed in the one before it."""
    versions: list[PolicyVersion | None] = [*policy_reads.versions(account.pk)[: SHOWN + 1], None]
    told = []
    for version, before in pairwise(versions):
        assert version is not None
        old, new = (before.values if before else {}), version.values
        default = DEFAULT.as_values()
        moved = {
            name: (old.get(name, default[name]), new.get(name, default[name]))
            for name in sorted({*old, *new})
            if old.get(name) != new.get(name)
        }
        told.append({"version": version, "moved": [(name, *pair) for name, pair in moved.items()]})
    return told[:SHOWN]
