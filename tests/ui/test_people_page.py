"""Settings > People: roles, invitations, links to another password."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from senselab.accounts import people, services
from senselab.accounts.audit import SYSTEM
from senselab.accounts.models import AuditRecord, Invitation, Membership, Person, Role
from tests.conftest import joined
from tests.ui.conftest import plain

STRONG = "a quiet lake at dawn"


@pytest.fixture
def admin(client_of, ada):
    return client_of(ada)


def role_of(person, account):
    found = Membership.objects.filter(account=account, person=person).first()
    return found.role if found else None


def membership(person, account):
    return Membership.objects.get(account=account, person=person).pk


def link_in(answer):
    return re.search(r'readonly value="http://[^/]+([^"]+)"', answer.content.decode())[1]


def actions(account):
    return list(AuditRecord.objects.filter(account=account).order_by("id").values_list("action", flat=True))


def test_a_role_is_changed_and_taken_away(account, admin, rex):
    one = membership(rex, account)
    assert admin.post(f"/settings/people/{one}/role/", {"role": "viewer"}).status_code == 302
    assert role_of(rex, account) == Role.VIEWER
    assert admin.post(f"/settings/people/{one}/role/", {"role": "king"}).status_code == 422
    assert admin.post(f"/settings/people/{one}/remove/").status_code == 302
    assert role_of(rex, account) is None
    assert actions(account)[-2:] == ["role_given", "role_taken"]
    given = AuditRecord.objects.get(account=account, action="role_given")
    assert (given.before, given.after, given.actor_kind) == ({"role": "reviewer"}, {"role": "viewer"}, "person")


def test_the_last_admin_stays(account, admin, ada):
    one = membership(ada, account)
    assert admin.post(f"/settings/people/{one}/role/", {"role": "viewer"}).status_code == 409
    assert admin.post(f"/settings/people/{one}/remove/").status_code == 409
    assert role_of(ada, account) == Role.ADMIN
    joined(account, "ida", Role.ADMIN)
    assert admin.post(f"/settings/people/{one}/role/", {"role": "viewer"}).status_code == 302


def test_whoever_was_removed_sees_nothing_at_the_next_click(account, admin, client_of, rex):
    his = client_of(rex)
    assert his.get("/entries/").status_code == 200
    admin.post(f"/settings/people/{membership(rex, account)}/remove/")
    assert his.get("/entries/").status_code == 403


def test_an_invitation_lets_somebody_new_in_once(account, admin):
    link = link_in(admin.post("/settings/people/invite/", {"role": "reviewer", "note": "Rex"}))
    assert link not in admin.get("/settings/people/").content.decode()
    visitor = Client()
    assert "Acme Shop" in visitor.get(link).content.decode()
    form = {"username": "rex-new", "password": STRONG, "name": "Rex"}
    assert visitor.post(link, form).status_code == 302
    assert visitor.get("/entries/").status_code == 200
    assert role_of(Person.objects.get(username="rex-new"), account) == Role.REVIEWER
    again = Client().post(link, form | {"username": "eve"})
    assert again.status_code == 404
    assert not Person.objects.filter(username="eve").exists()
    assert "invitation_accepted" in actions(account)


def test_somebody_known_joins_a_second_account_and_switches(account, other_account, client_of, rex):
    token = people.invite(other_account, "viewer", note="", by=SYSTEM, now=timezone.now())
    his = client_of(rex)
    assert his.post(f"/invitation/{token}/").status_code == 302
    assert "Rival" in his.get("/settings/you/").content.decode()
    his.post("/account/", {"account": account.slug})
    assert "reviewer in" in plain(his.get("/settings/you/").content.decode())
    assert role_of(rex, other_account) == Role.VIEWER


def test_an_invitation_takes_no_role_away(account, client_of, ada):
    token = people.invite(account, "viewer", note="", by=SYSTEM, now=timezone.now())
    client_of(ada).post(f"/invitation/{token}/")
    assert role_of(ada, account) == Role.ADMIN


def test_links_that_are_over_withdrawn_or_guessed_say_the_same(account, admin):
    def told(token):
        answer = Client().get(f"/invitation/{token}/")
        return answer.status_code, plain(answer.content.decode())

    old = people.invite(account, "viewer", note="", by=SYSTEM, now=timezone.now() - timedelta(days=7, seconds=1))
    gone = people.invite(account, "viewer", note="", by=SYSTEM, now=timezone.now())
    open_one = Invitation.objects.filter(account=account).order_by("-id").first()
    assert admin.post(f"/settings/people/invitations/{open_one.pk}/withdraw/").status_code == 302
    assert admin.post(f"/settings/people/invitations/{open_one.pk}/withdraw/").status_code == 404
    assert told(old) == told(gone) == told("guessed")
    assert told(old)[0] == 404


def test_only_the_hash_of_an_invitation_is_kept(account):
    token = people.invite(account, "viewer", note="", by=SYSTEM, now=timezone.now())
    assert bytes(Invitation.objects.get(account=account).token_sha256) == people.sha256(token)


@pytest.mark.parametrize("weak", ["tiny", "password1234", "rex-new-member1"])
def test_a_weak_password_is_refused(account, weak):
    token = people.invite(account, "viewer", note="", by=SYSTEM, now=timezone.now())
    answer = Client().post(f"/invitation/{token}/", {"username": "rex-new-member", "password": weak})
    assert answer.status_code == 422
    assert f'"{weak}"' not in answer.content.decode()
    assert not Person.objects.filter(username="rex-new-member").exists()


def test_a_taken_name_is_refused(account, rex):
    token = people.invite(account, "viewer", note="", by=SYSTEM, now=timezone.now())
    answer = Client().post(f"/invitation/{token}/", {"username": rex.username, "password": STRONG})
    assert answer.status_code in {409, 422}
    assert role_of(rex, account) == Role.REVIEWER


def test_a_password_link_works_once_and_ends_every_session(account, admin, client_of, rex):
    his = client_of(rex)
    link = link_in(admin.post(f"/settings/people/{membership(rex, account)}/password/"))
    visitor = Client()
    page = visitor.get(link, follow=True)
    where = page.redirect_chain[-1][0]
    form = {"new_password1": STRONG, "new_password2": STRONG}
    assert visitor.post(where, form).status_code == 302
    assert his.get("/entries/").status_code == 302
    rex.refresh_from_db()
    assert rex.check_password(STRONG)
    assert "not valid any more" in Client().get(link, follow=True).content.decode()
    assert actions(account)[-2:] == ["password_link_made", "password_reset"]


def test_no_link_leads_into_an_account_one_does_not_look_after(account, other_account, admin, rex):
    services.give_role(rex, other_account, Role.VIEWER)
    assert admin.post(f"/settings/people/{membership(rex, account)}/password/").status_code == 403


def test_a_link_made_before_somebody_joined_another_account_does_not_lead_into_it(account, other_account, admin, rex):
    link = link_in(admin.post(f"/settings/people/{membership(rex, account)}/password/"))
    services.give_role(rex, other_account, Role.VIEWER)
    assert "not valid any more" in Client().get(link, follow=True).content.decode()


def test_only_admins_change_people(account, client_of, vera, rex, ada):
    one = membership(ada, account)
    for person in (vera, rex):
        client = client_of(person)
        assert client.get("/settings/people/").status_code == 403
        for what in (f"{one}/role/", f"{one}/remove/", f"{one}/password/", "invite/"):
            assert client.post(f"/settings/people/{what}", {"role": "admin"}).status_code == 403


def test_people_of_another_account_are_not_there(admin, other_account):
    theirs = joined(other_account, "zoe", Role.ADMIN)
    one = membership(theirs, other_account)
    assert "zoe" not in admin.get("/settings/people/").content.decode()
    for what in ("role", "remove", "password"):
        assert admin.post(f"/settings/people/{one}/{what}/", {"role": "viewer"}).status_code == 404
    people.invite(other_account, "viewer", note="secret note", by=SYSTEM, now=timezone.now())
    invitation = Invitation.objects.get(account=other_account)
    assert admin.post(f"/settings/people/invitations/{invitation.pk}/withdraw/").status_code == 404
    assert "secret note" not in admin.get("/settings/people/").content.decode()


def test_the_list_of_people_takes_as_many_statements_however_long_it_is(account, admin, django_assert_max_num_queries):
    with django_assert_max_num_queries(7):
        admin.get("/settings/people/")
    many = Person.objects.bulk_create(Person(username=f"p{n}") for n in range(300))
    Membership.objects.bulk_create(Membership(account=account, person=person, role="viewer") for person in many)
    with django_assert_max_num_queries(7):
        assert "p299" in admin.get("/settings/people/").content.decode()


def test_what_is_refused_is_said_on_the_page_in_place(client_of, ada, rex, account):
    hers, own = client_of(ada), Membership.objects.get(account=account, person=ada).pk
    for path, form in ((f"{own}/remove/", {}), (f"{own}/role/", {"role": "viewer"}), ("invite/", {"role": "king"})):
        answer = hers.post(f"/settings/people/{path}", form)
        assert answer.status_code in {409, 422}
        html = answer.content.decode()
        assert 'role="alert"' in html
        assert "Nothing was changed." in html
        assert rex.username in html
    assert hers.get("/settings/people/").status_code == 200


def test_who_takes_their_own_role_away_is_led_to_a_page_they_may_see(client_of, ada, rex, account):
    services.give_role(rex, account, Role.ADMIN)
    hers, own = client_of(ada), Membership.objects.get(account=account, person=ada).pk
    answer = hers.post(f"/settings/people/{own}/role/", {"role": "viewer"}, follow=True)
    assert (answer.status_code, "You are viewer in this account now." in answer.content.decode()) == (200, True)
    his, one = client_of(rex), Membership.objects.get(account=account, person=ada).pk
    assert his.post(f"/settings/people/{one}/role/", {"role": "admin"}).status_code == 302
    answer = hers.post(f"/settings/people/{own}/remove/", follow=True)
    assert "No account yet" in answer.content.decode()


def test_no_answer_to_a_browser_is_bare(client_of, ada, client, account):
    hers, own = client_of(ada), Membership.objects.get(account=account, person=ada).pk
    answer = hers.get(f"/settings/people/{own}/remove/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "sent by a button" in answer.content.decode()
    assert 'class="problem"' in client.get("/account/").content.decode()
    assert client.get("/api/v1/nowhere")["Content-Type"] == "application/problem+json"
    refused = hers.post("/account/", {"account": "nowhere"}, headers={"referer": "http://testserver/entries/?q=x"})
    assert 'href="/entries/?q=x">Back to where you were' in refused.content.decode()
    elsewhere = hers.post("/account/", {"account": "nowhere"}, headers={"referer": "http://evil.example/entries/"})
    assert "evil.example" not in elsewhere.content.decode()
