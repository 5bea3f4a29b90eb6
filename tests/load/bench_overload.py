"""Three times what it can carry, for a minute: `make bench-overload` starts the product and looks how it bears that.

First a closed loop finds what the product carries; then an open loop offers three times as much, whatever becomes of
it, while a person opens pages and the memory of all processes is read. Exit code 1 unless it sheds with 429 or 503 and
a numeric Retry-After and leaves nobody without an answer, p95 of what it accepts stays under a second, pages open,
memory stays flat, and it is itself again within five seconds.
"""

import argparse
import http.cookiejar
import os
import re
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from senselab import postgres
from tests.load import measure, product
from tests.load.connection import Connection
from tests.load.measure import Target, percentile
from tests.load.open_loop import Answer, offered
from tests.load.processes import free_port, running, wait_for

DO, CLIENTS, TIMES = "mixed", 8, 3
PAGES = ("/", "/entries/", "/review/", "/jobs/")
WITHIN, QUICK, RECOVERY, GROWTH = 1.0, 0.25, 5.0, 0.10


@dataclass
class Watch:
    """What a person and the machine saw meanwhile: pages (status, seconds) and megabytes, second by second."""

    pages: list[tuple[int, float]] = field(default_factory=list)
    megabytes: list[Counter[str]] = field(default_factory=list)


def signed_in(url: str, password: str) -> urllib.request.OpenerDirector:
    """Return a browser in which the first person has signed in."""
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    browser.open(f"{url}/login/").read()
    token = next(cookie.value or "" for cookie in jar if "csrf" in cookie.name)
    form = {"username": "admin", "password": password, "csrfmiddlewaretoken": token}
    sent = urllib.parse.urlencode(form).encode()
    browser.open(urllib.request.Request(f"{url}/login/", sent, {"Referer": f"{url}/login/"})).read()
    return browser


def opened(browser: urllib.request.OpenerDirector, url: str) -> tuple[int, float]:
    began = time.perf_counter()
    try:
        with browser.open(url, timeout=20) as answer:
            answer.read()
            status = 0 if "/login/" in answer.url else answer.status
    except urllib.error.HTTPError as error:
        status = error.code
    except OSError:
        status = 0
    return status, time.perf_counter() - began


def megabytes(process: psutil.Process) -> Counter[str]:
    """Return what the processes of each part hold for themselves (shared pages of the database left out)."""
    held: Counter[str] = Counter()
    for one in [process, *process.children(recursive=True)]:
        try:
            info, words = one.memory_info(), " ".join(one.cmdline())
        except psutil.NoSuchProcess:
            continue
        held["web" if "granian" in words else "database" if "postgres" in words else "rest"] += round(
            (info.rss - info.shared) / 1e6
        )
    return held


@contextmanager
def watched(pid: int, browser: urllib.request.OpenerDirector, url: str) -> Iterator[Watch]:
    watch, done, parent = Watch(), threading.Event(), psutil.Process(pid)

    def look() -> None:
        turn = 0
        while not done.wait(0.5):
            watch.pages.append(opened(browser, url + PAGES[turn % len(PAGES)]))
            turn += 1

    def weigh() -> None:
        while not done.wait(1.0):
            watch.megabytes.append(megabytes(parent))

    threads = [threading.Thread(target=look), threading.Thread(target=weigh)]
    for thread in threads:
        thread.start()
    yield watch
    done.set()
    for thread in threads:
        thread.join()


def recovered(target: Target, quick: float) -> float:
    """Return after how many seconds every call is answered quickly again, looking for eight."""
    connection, began, last = Connection(target.url, target.key), time.perf_counter(), 0.0
    while (now := time.perf_counter() - began) < RECOVERY + 3:
        try:
            status, _ = connection.get("/api/v1/stats?breakdown=false")
        except OSError:
            status = 0
            connection.close()
        if status != 200 or time.perf_counter() - began - now > quick:
            last = time.perf_counter() - began
        threading.Event().wait(0.05)
    return last


def analyse(data: Path) -> None:
    """Know the store as the database does a minute later by itself."""
    with psycopg.connect(postgres.url(data), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def carried(target: Target, seconds: float) -> tuple[float, float]:
    """Return how many calls a second are answered, by the best number of clients, and p95 in seconds meanwhile."""
    measure.rate(target, DO, 4 * CLIENTS, seconds, seed=1)  # as warm as a server that has been at work
    rates = [measure.rate(target, DO, clients, seconds, seed=clients) for clients in (CLIENTS // 2, CLIENTS)]
    for rate in rates:
        print(f"  {rate.clients} clients: {rate.per_second:,.0f} a second, p95 {rate.p95:.0f} ms, {rate.errors} errors")
    return max(rate.per_second for rate in rates), rates[-1].p95 / 1000


def told(answers: list[Answer], seconds: float) -> list[str]:
    """Say how the answers were and return what is not as it should be."""
    statuses = Counter(answer.status for answer in answers)
    taken = sorted(answer.seconds for answer in answers if 200 <= answer.status < 300)
    shed = [answer for answer in answers if answer.status in {429, 503}]
    refused = sorted(answer.seconds for answer in shed)
    print(f"  {len(answers) / seconds:,.0f} a second offered; answers: {dict(sorted(statuses.items()))}")
    print(f"  accepted {len(taken) / seconds:,.0f} a second, p50 {percentile(taken, 0.5):.3f} s,"
          f" p95 {percentile(taken, 0.95):.3f} s, longest {taken[-1]:.3f} s")  # fmt: skip
    if refused:
        print(f"  shed {len(shed) / len(answers):.0%}, p95 {percentile(refused, 0.95):.3f} s")
    found = [f"{statuses[0]} calls had no answer"] if statuses[0] else []
    strange = {status for status in statuses if not (200 <= status < 300 or status in {0, 404, 429, 503})}
    found += [f"calls were answered {sorted(strange)}"] if strange else []
    found += [] if shed else ["nothing was shed"]
    found += ["a refusal came without a numeric Retry-After"] if not all(one.again.isdigit() for one in shed) else []
    return found + (["p95 of what was accepted is over a second"] if percentile(taken, 0.95) >= WITHIN else [])


def seen(watch: Watch) -> list[str]:
    """Say what a person and the machine saw and return what is not as it should be."""
    taken = sorted(seconds for _, seconds in watch.pages)
    broken = [status for status, _ in watch.pages if status != 200]
    middle, end = watch.megabytes[len(watch.megabytes) // 4], watch.megabytes[-1]
    print(f"  {len(watch.pages)} pages, p50 {percentile(taken, 0.5):.2f} s, p95 {percentile(taken, 0.95):.2f} s,"
          f" longest {taken[-1]:.2f} s, {len(broken)} not opened")  # fmt: skip
    print(f"  MB after a quarter: {dict(middle)}, in the end: {dict(end)}")
    found = [f"{len(broken)} pages did not open: {Counter(broken)}"] if broken else []
    return found + (["memory grew"] if end.total() > middle.total() * (1 + GROWTH) else [])


def measured(target: Target, pid: int, browser: urllib.request.OpenerDirector, seconds: float) -> list[str]:
    print(f"What it carries (load of the machine {os.getloadavg()[0]:.1f}):", flush=True)
    before, usual = carried(target, max(4.0, seconds / 10))
    print(f"{TIMES} times that for {seconds:.0f} s:", flush=True)
    with watched(pid, browser, target.url) as watch:
        answers = offered(target, DO, TIMES * before, seconds)
    again = recovered(target, max(QUICK, 2 * usual))
    found = told(answers, seconds) + seen(watch)
    after = measure.rate(target, DO, CLIENTS, 4.0, seed=77).per_second
    print(f"  itself again after {again:.1f} s; {after:,.0f} a second then")
    found += [f"it was not itself after {again:.1f} s"] if again > RECOVERY else []
    return found + (["it carries less than before"] if after < 0.8 * before else [])


def main(size: int, seconds: float, say: Callable[[str], None] = print) -> int:
    with tempfile.TemporaryDirectory(prefix="senselab-overload-") as folder:
        Path(folder).chmod(0o755)
        data, port = Path(folder) / "data", free_port()
        env = {**product.environment(data, ""), "PORT": str(port), "EMBEDDING_MODEL": "off"}
        log, url = Path(folder) / "log", f"http://127.0.0.1:{port}"
        with running([sys.executable, "manage.py", "up"], env, log) as process:
            try:
                wait_for(f"{url}/health", process, log)
            except RuntimeError:
                say(log.read_text(errors="replace"))
                raise
            password = re.search(r"password +(\S+)", log.read_text(errors="replace"))
            key = product.manage(env, "createkey", "overload", "--rate", product.RATE)
            target = Target("ours", url, key, size)
            product.seed(target)
            analyse(data)
            browser = signed_in(url, password[1] if password else "")
            found = measured(target, process.pid, browser, seconds)
            if found:
                say(log.read_text(errors="replace")[-3000:])
    for words in found:
        say(f"NOT SO: {words}.")
    say("It bore that." if not found else f"{len(found)} things are not as they should be.")
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    sys.exit(main(given.size, given.seconds))
