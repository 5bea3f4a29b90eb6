"""Forms of people, held to the account's rule about keys and tokens before any page stores a word of them."""

import json
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from memories.rules.refusals import Refused
from memories.services import guarding
from memories.viewers import account_policy
from senselab import ui

Handler = Callable[[HttpRequest], HttpResponse]
# What is a secret by its nature goes where secrets go, and nowhere else.
PROOFS = ("password", "old_password", "new_password1", "new_password2", "code", "credential", "csrfmiddlewaretoken")
# What is typed to say that it is meant is stored nowhere, and may name what is to go for just that reason.
UNSTORED = (*PROOFS, "confirm")


def screen_forms(get_response: Handler) -> Handler:
    """Refuse a form that holds a key or a token, or strike it out, where the account says so: a middleware."""

    def handle(request: HttpRequest) -> HttpResponse:
        account = getattr(request, "person_account", None)
        if request.method == "POST" and account is not None and guarding.acts_before(account_policy(account)):
            try:
                strike(request)
            except Refused as refusal:
                return ui.refused(request, refusal)
        return get_response(request)

    return handle


def strike(request: HttpRequest) -> None:
    """Hold each text of a form to the rule.

    :raises Refused: it holds a key or a token and the account refuses those, or it cannot be looked through in time.
    """
    policy = account_policy(request.person_account)  # type: ignore[attr-defined]
    given = {name: texts for name, texts in request.POST.lists() if name not in UNSTORED}
    text = json.dumps(given, ensure_ascii=False)
    kept = guarding.kept_text(text, policy, pointer="")
    if kept != text:
        form = request.POST.copy()
        for name, texts in json.loads(kept).items():
            form.setlist(name, texts)
        form._mutable = False
        request.POST = form  # type: ignore[assignment]
