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
