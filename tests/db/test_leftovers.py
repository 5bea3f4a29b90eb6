"""What signing in leaves behind is deleted each night; what is still good stays."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone
from django_q.models import Task

from memories import jobs
from senselab.accounts import leftovers, people
from senselab.accounts.audit import SYSTEM
from senselab.accounts.models import Account, Invitation, SignIn

# They stay empty, as nothing of allauth that writes them is used (docs/decisions.md).
EMPTY = {"account_emailaddress", "account_emailconfirmation", "socialaccount_socialaccount"}
EMPTY |= {"socialaccount_socialapp", "socialaccount_socialtoken"}
# Bounded by what there is: people, factors, schedules, models; the queue is emptied by the worker.
BOUNDED = {"accounts_account", "accounts_person", "accounts_identity", "mfa_authenticator", "django_q_ormq"}
BOUNDED |= {"auth_group", "auth_permission", "django_content_type", "django_q_schedule", "accounts_membership"}


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(leftovers, "BATCH", 2)


def test_sessions_that_are_over_go_and_so_do_sign_ins_without_one(db, client_of, ada, small_batches):
    now = timezone.now()
    for number in range(5):
        Session.objects.create(session_key=f"old-{number}", session_data="", expire_date=now - timedelta(hours=1))
    living = client_of(ada).session.session_key
    SignIn.objects.create(person=ada, session_key="gone", at=now - timedelta(days=3))
    SignIn.objects.filter(session_key=living).update(at=now - timedelta(days=3))
    assert jobs.clear() == 6
    assert list(Session.objects.filter(session_key__startswith="old-")) == []
    assert list(SignIn.objects.filter(person=ada).values_list("session_key", flat=True)) == [living]


def test_invitations_go_a_month_after_they_ended(db, account):
    now = timezone.now()
    tokens = [people.invite(account, "viewer", note=note, by=SYSTEM, now=now) for note in ("open", "old", "used")]
    stored = Invitation.objects.filter(account=account)
    stored.filter(note="old").update(expires_at=now - timedelta(days=31))
    stored.filter(note="used").update(ended_at=now - timedelta(days=29))
    leftovers.clear(now)
    assert set(stored.values_list("note", flat=True)) == {"open", "used"}
    assert people.invitation_of(tokens[0], now).note == "open"


def test_attempts_log_ins_and_failed_tasks_go_when_nobody_asks_any_more(db):
    now = timezone.now()
    for days in (2, 40):
        AccessAttempt.objects.create(username=f"eve {days}", failures_since_start=9)
        AccessAttempt.objects.filter(username=f"eve {days}").update(attempt_time=now - timedelta(days=days))
        AccessLog.objects.create(username=f"ada {days}")
        AccessLog.objects.filter(username=f"ada {days}").update(attempt_time=now - timedelta(days=days))
        then = now - timedelta(days=days)
        Task.objects.create(id=f"{days}", name="t", func="f", started=then, stopped=then, success=False)
    AccessAttempt.objects.create(username="now", failures_since_start=9)
    leftovers.clear(now)
    assert list(AccessAttempt.objects.values_list("username", flat=True)) == ["now"]
    assert "ada 2" in AccessLog.objects.values_list("username", flat=True)
    assert "ada 40" not in AccessLog.objects.values_list("username", flat=True)
    assert set(Task.objects.filter(id__in=["2", "40"]).values_list("id", flat=True)) == {"2"}


def test_every_table_that_is_no_accounts_own_is_bounded_somehow(db):
    owned = {
        model._meta.db_table
        for model in apps.get_models()
        if any(field.column == "account_id" for field in model._meta.local_concrete_fields)
    }
    cleared = {table for table, _, _ in leftovers.OVER}
    assert set(connection.introspection.table_names()) & EMPTY == EMPTY
    everything = {model._meta.db_table for model in apps.get_models()}
    assert everything - owned - cleared - EMPTY - BOUNDED == set()
    assert Account._meta.db_table in BOUNDED
