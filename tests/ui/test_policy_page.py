"""The page of the policy: its numbers and curves, what another would change, saving it, who may."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from memories import jobs
from memories.ageing import policy_curves
from memories.models import JobRun, PolicyVersion
from memories.rules.policy import DEFAULT, Policy
from memories.ui import policy_fields
from senselab.accounts.models import Account
from tests.db import acts
from tests.ui.conftest import Page

DAY = timedelta(days=1)


@pytest.fixture
def show(client_of, ada):
    client = client_of(ada)
    return lambda **query: Page(client.get("/policy/", query))


@pytest.fixture
def send(client_of, ada):
    client = client_of(ada)

    def sent(htmx=False, follow=False, **fields):
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(client.post("/policy/", {"expected": "1", **fields}, headers=headers, follow=follow))

    return sent


def field(page, name):
    """Return the value that stands in a field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.html)
    return found and found[1]


def cells(page, curve):
    table = re.search(rf'<table[^>]*data-curve="{curve}".*?</table>', page.html, re.S)[0]
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", table, re.S)
    return {name: [float(value) for value in re.findall(r">([\d.]+)</td>", rest)] for name, rest in rows}


def test_it_shows_every_number_of_the_policy_in_force(show):
    page = show()
    values = DEFAULT.as_values()
    for name, one in policy_fields.FIELDS.items():
        if isinstance(one, policy_fields.Field):
            assert field(page, name) == policy_fields.text(values[name]), name
    assert 'value="half_life" selected' in page.html
    assert "Nobody has changed it" in page.text


def test_every_number_but_the_name_and_what_nothing_uses_can_be_changed():
    left_out = set(DEFAULT.as_values()) - set(policy_fields.FIELDS)
    unused = {"credit_by_uplift", "uplift_floor", "uplift_shrink", "uplift_window", "uplift_days"}
    assert left_out == {"name", "version", "freshness_floor"} | unused


def test_sliders_begin_at_what_is_in_force(show):
    for name, one in policy_fields.FIELDS.items():
        if isinstance(one, policy_fields.Field):
            assert one.low <= DEFAULT.as_values()[name] <= one.high, name


def test_the_curves_are_tables_of_what_the_rules_compute(show):
    page = show()
    assert cells(page, "silence")["60"][1] == pytest.approx(0.5 ** (60 / 69), abs=5e-4)
    assert cells(page, "outcomes")["5. success"] == [0.898, 0.898]
    assert cells(page, "outcomes")["8. failure"] == [0.316, 0.316]
    assert cells(page, "priority")["0"][1] == 1.7
    assert page.html.count('data-chart="curves"') == 3


def test_what_was_typed_draws_its_curves_beside_those_in_force(send):
    page = send(base_half_life="30", mass_decay="0.5")
    fact = cells(page, "silence")["30"]
    assert fact[0] == pytest.approx(0.5 ** (30 / 69), abs=5e-4)
    assert fact[1] == 0.5
    assert field(page, "base_half_life") == "30"
    assert "now 69" in page.text


def test_a_count_tells_what_would_change_and_changes_nothing(send, account):
    now = timezone.now()
    acts.fill(account, 4, confidence=0.4, now=now)
    acts.fill(account, 3, path="sure", now=now)
    jobs.retier(account, now)
    page = send(review_below="0.45", hot_capacity="2")
    said = page.said("foreseen-h")
    assert "Entries looked at 7" in said
    assert "Change status 4 4 from active to under review" in said
    assert "Change tier 5 1 from hot to warm 4 from hot to archive" in said
    assert "shop / k0 Active → Under review Hot → Archive 0.400 → 0.400" in said
    assert Account.objects.get(pk=account.pk).policy_version == 1
    assert not JobRun.objects.filter(account_id=account.pk, job="policy").exists()


def test_htmx_gets_the_count_alone(send, account):
    part = send(htmx=True, review_below="0.45")
    assert part.html.lstrip().startswith('<section class="card" id="foreseen"')
    assert "<html" not in part.html


def test_saving_makes_the_next_version_asks_for_its_job_and_tells_who_and_why(send, account, ada):
    page = send(save="1", reason="we forget too slowly", base_half_life="30", follow=True)
    assert "Version 2 of the policy holds from now on" in page.text
    assert "Version 2 is being applied" in page.text
    assert f"{ada.username} we forget too slowly base_half_life 69.0 → 30.0" in page.said("history-h")
    assert field(page, "base_half_life") == "30"
    run = JobRun.objects.get(account_id=account.pk, job="policy")
    assert (run.state, run.asked_by, run.terms) == ("waiting", ada.username, {"number": 2})
    jobs.asked()
    assert JobRun.objects.get(account_id=account.pk, job="policy").state == "done"


@pytest.mark.parametrize(
    ("typed", "words", "name"),
    [
        ({"hot_capacity": "-1"}, "It must lie between 0 and", "hot_capacity"),
        ({"base_half_life": "0"}, "It must lie between 0.01 and", "base_half_life"),
        ({"age_rate": "NaN"}, "A finite number is expected", "age_rate"),
        ({"daily_rate": "lots"}, "a number is meant, not “lots”", "daily_rate"),
        ({"review_below": "0.9"}, "The line of review lies between", "review_below"),
        ({"warm_capacity": "2.5"}, "A whole number is expected", "warm_capacity"),
    ],
)
def test_nonsense_is_refused_clearly_at_its_field_and_nothing_is_saved(send, account, typed, words, name):
    page = send(save="1", reason="why not", **typed)
    assert page.status == 422
    assert words in page.text
    assert field(page, name) == typed[name]
    assert re.search(rf'name="{name}"[^>]*aria-invalid="true"', page.html)
    assert not PolicyVersion.objects.filter(account_id=account.pk).exists()


def test_without_a_reason_or_over_somebody_elses_version_nothing_is_saved_and_all_is_kept(send, account):
    page = send(save="1", reason=" ", base_half_life="30")
    assert (page.status, field(page, "base_half_life")) == (422, "30")
    assert "Say why" in page.text
    send(save="1", reason="first", base_half_life="30")
    page = send(save="1", reason="mine", base_half_life="20")
    assert page.status == 412
    assert "You looked at version 1 of the policy; the current one is 2." in page.text
    assert field(page, "base_half_life") == "20"
    assert ">mine</textarea>" in page.html


def test_the_numbers_of_the_default_and_of_an_earlier_version_can_be_started_from(send, show):
    send(save="1", reason="first", base_half_life="30")
    assert field(show(), "base_half_life") == "30"
    assert field(show(**{"from": "default"}), "base_half_life") == "69"
    assert field(show(**{"from": "1"}), "base_half_life") == "69"
    assert field(show(**{"from": "77"}), "base_half_life") == "30"


def test_who_is_no_admin_may_look_and_not_touch(client_of, rex, vera, account):
    for person in (rex, vera):
        client = client_of(person)
        page = Page(client.get("/policy/"))
        assert page.status == 200
        assert "Save and apply" not in page.text
        assert client.post("/policy/", {"save": "1", "reason": "x", "base_half_life": "1"}).status_code == 403
    assert Account.objects.get(pk=account.pk).policy_version == 1


def test_a_long_history_shows_what_each_version_changed(send, show):
    for number in range(1, 4):
        send(save="1", reason=f"step {number}", base_half_life=str(60 + number), expected=str(number))
    rows = show().rows("history-h")[1:]
    assert [row.split()[0] for row in rows] == ["4", "3", "2", "1"]
    assert "step 3 base_half_life 62.0 → 63.0" in rows[0]
    assert "what the account began with" in rows[3]


@pytest.mark.parametrize("policy", [DEFAULT, Policy(decay="daily_rate", model="multiplicative")])
def test_every_curve_has_a_value_in_each_cell(policy):
    for curve in policy_curves.curves(policy, DEFAULT):
        assert {len(values) for _, values in curve.rows} == {len(curve.series)}
        assert all(value >= 0 for _, values in curve.rows for value in values)


class TestTimeToLive:
    @pytest.fixture
    def post(self, client_of, account):
        def posted(person, **fields):
            return client_of(person).post("/entry/ttl/?path=shop&key=retry", {"expected": "1", **fields}, follow=True)

        return posted

    def test_a_reviewer_sets_and_clears_when_an_entry_expires(self, post, rex, account):
        acts.put(account, 1, now=timezone.now())
        answer = post(rex, ttl_at="2099-12-31T23:59", reason="only for the sale")
        assert "It expires then." in answer.content.decode()
        assert acts.entry(account).state.ttl_at.isoformat() == "2099-12-31T23:59:00+00:00"
        answer = post(rex, ttl_at="", expected="2")
        assert "It does not expire any more." in answer.content.decode()
        assert acts.entry(account).state.ttl_at is None

    def test_what_cannot_be_is_refused(self, post, rex, vera, account):
        acts.put(account, 1, now=timezone.now())
        assert post(vera, ttl_at="2099-12-31T23:59").status_code == 403
        assert post(rex, ttl_at="soon").status_code == 422
        assert post(rex, ttl_at="1999-12-31").status_code == 422
        assert post(rex, ttl_at="2099-12-31", expected="7").status_code == 412
        assert acts.entry(account).version == 1
