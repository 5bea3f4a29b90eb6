"""At the door: so many calls at work, so many waiting for a moment, the rest told so; pages pass."""

import threading

from senselab.admission import BUSY, Gate, admitting

API, PAGE = {"PATH_INFO": "/api/v1/entries"}, {"PATH_INFO": "/entries/"}


class Told:
    def __init__(self):
        self.status, self.headers = "", {}

    def __call__(self, status, headers):
        self.status, self.headers = status, dict(headers)


def held(gate, *, app_waits):
    """Return an application behind the gate, and whether its calls are in."""
    inside = threading.Semaphore(0)

    def app(environ, start_response):
        inside.release()
        app_waits.wait(20)
        start_response("200 OK", [])
        return [b"ok"]

    return admitting(app, gate), inside


def test_a_call_too_many_hears_within_a_moment_when_to_come_back():
    refused, go = [], threading.Event()
    app, inside = held(Gate(1, seconds=0.01, refused=lambda: refused.append(1)), app_waits=go)
    first = threading.Thread(target=app, args=(API, Told()))
    first.start()
    inside.acquire()
    told = Told()
    assert app(API, told) == [BUSY]
    assert (told.status, told.headers["Retry-After"]) == ("503 Service Unavailable", "1")
    assert refused == [1]
    go.set()
    first.join(20)
    assert app(API, Told()) == [b"ok"]


def test_pages_and_health_pass_whatever_the_api_does():
    go = threading.Event()
    app, inside = held(Gate(1, seconds=0.01), app_waits=go)
    first = threading.Thread(target=app, args=(API, Told()))
    first.start()
    inside.acquire()
    passing = [threading.Thread(target=app, args=({"PATH_INFO": p}, Told())) for p in ("/entries/", "/api/v1/health")]
    for thread in passing:
        thread.start()
        assert inside.acquire(timeout=20)
    go.set()
    for thread in [first, *passing]:
        thread.join(20)


def test_who_waits_gets_the_place_that_becomes_free():
    gate = Gate(1, seconds=20)
    assert gate.enter()
    got = []
    waiting = threading.Thread(target=lambda: got.append(gate.enter()))
    waiting.start()
    gate.leave()
    waiting.join(20)
    assert got == [True]
    gate.leave()


def test_beyond_those_who_may_wait_nobody_waits():
    gate = Gate(1, waiting=0, seconds=20)
    assert gate.enter()
    assert not gate.enter()


def test_while_calls_are_sent_away_others_wait_for_less():
    now = [100.0]
    gate = Gate(1, waiting=0, seconds=10, clock=lambda: now[0])
    assert gate.patience == 10
    assert gate.enter()
    assert not gate.enter()
    assert gate.patience == 1
    now[0] += 1
    assert gate.patience == 10


def test_three_times_as_many_as_there_are_places_are_shed_by_two_thirds_and_then_let_in_again():
    go, pause, told = threading.Event(), threading.Event(), [Told() for _ in range(12)]
    app, inside = held(Gate(4, waiting=0), app_waits=go)
    calls = [threading.Thread(target=app, args=(API, one)) for one in told]
    for call in calls:
        call.start()
    for _ in range(4):
        inside.acquire()
    while len(shed := [one for one in told if one.headers]) < 8:
        pause.wait(0.01)
    assert {(one.status[:3], one.headers["Retry-After"].isdigit()) for one in shed} == {("503", True)}
    go.set()
    for call in calls:
        call.join(20)
    assert app(API, Told()) == [b"ok"]


def test_a_call_without_a_body_keeps_its_connection_when_it_is_sent_away():
    gate = Gate(0, waiting=0)
    for method, header in (("GET", None), ("POST", "close")):
        told = Told()
        admitting(lambda environ, start_response: [], gate)({**API, "REQUEST_METHOD": method}, told)
        assert told.headers.get("Connection") == header


def test_a_call_that_fails_gives_its_place_back():
    gate = Gate(1, waiting=0)

    def app(environ, start_response):
        raise ValueError

    for _ in range(3):
        try:
            admitting(app, gate)(API, Told())
        except ValueError:
            continue
    assert gate.enter()
