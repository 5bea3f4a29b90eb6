"""Kills parts of SenseLab with -9 at random while agents write and report, then looks whether all is there.

`python -m tests.load.soak [SECONDS]` (600) starts the product in a folder of its own, writes from several processes,
kills a web process, the worker, a database backend, the database or the parent in turn, and starts again what does not
come back by itself. Afterwards: every acknowledged write is there, none twice, versions are contiguous, everything
verifies, and nothing is left running. Exit code 1 when something is not so.
"""

import contextlib
import http.client
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

ROOT = Path(__file__).resolve().parents[2]
WRITERS, PATIENCE, PAUSE = 3, 180, 4.0
SCOPES = ("--scope", "write", "--scope", "read", "--scope", "review")
PARTS = ("web process", "web", "worker", "backend", "database", "parent")


def rest(seconds: float) -> None:
    threading.Event().wait(seconds)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Product:
    """SenseLab in a data folder, started anew when its parent was killed."""

    def __init__(self, data: Path) -> None:
        self.data, self.port = data, free_port()
        self.env = os.environ | {"SENSELAB_DATA": str(data), "PORT": str(self.port), "DATABASE_URL": ""}
        self.env |= {"LOG_LEVEL": "WARNING", "PYTHONUNBUFFERED": "1"}
        self.log = (data.parent / "log").open("ab")
        self.start()

    def start(self) -> None:
        command = [sys.executable, "manage.py", "up"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self.env, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True, check=False)

    def wait(self, patience: float = PATIENCE) -> float:
        """Return after how many seconds pages answer again.

        :raises AssertionError: they do not.
        """
        began = time.monotonic()
        while time.monotonic() - began < patience:
            if self.process.poll() is not None:
                self.start()
            status, _ = call(f"{self.url}/login/", None, "")
            if status == 200:
                return time.monotonic() - began
            rest(0.2)
        raise AssertionError(f"pages did not come back within {patience} s")

    def family(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def kill(self, part: str) -> str:
        """Kill a part with -9 and return what was killed, '' when there is none."""
        if part == "parent":
            family = self.family()
            self.process.kill()
            self.process.wait()
            gone, left = psutil.wait_procs(family, timeout=8)
            assert not [one for one in left if one.status() != psutil.STATUS_ZOMBIE], f"left running: {left}"
            self.start()
            return f"the parent, which took {len(gone)} processes along"
        found = [one for one in self.family() if fits(part, one)]
        if not found:
            return ""
        victim = random.choice(found)
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.kill()
        return f"{part} {victim.pid}"

    def stop(self) -> list[str]:
        """Stop in order and return what is left running."""
        family = self.family()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        left = psutil.wait_procs(family, timeout=5)[1]
        return [str(one) for one in left if one.status() != psutil.STATUS_ZOMBIE]


def fits(part: str, process: psutil.Process) -> bool:
    """Tell whether a process is such a part; keepers are none."""
    try:
        words = " ".join(process.cmdline())
        if "keeper.py" in words:
            return False
        parent = " ".join(process.parent().cmdline()) if process.parent() else ""
    except psutil.NoSuchProcess:
        return False
    first = "keeper.py" in parent
    return {
        "web": "granian" in words and first,
        "web process": "granian" in parent and not first and "keeper.py" not in parent,
        "worker": "qcluster" in words,
        "database": first and "postgres" in words.split(" ")[0] and "-D" in words,
        "backend": words.startswith("postgres: senselab senselab"),
    }[part]


def call(url: str, body: Any, key: str, **headers: str) -> tuple[int, Any]:
    """Return status and answer; status 0 when nobody answered, so that nobody knows what was stored."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **headers} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, data=data, headers=sent)
    try:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if "json" in answer.headers["Content-Type"] else None
        except urllib.error.HTTPError as error:
            error.read()
            return error.code, dict(error.headers)
    except (OSError, ValueError, http.client.HTTPException):
        # Who was killed in the middle of an answer gave none.
        return 0, None


@dataclass(frozen=True)
class Said:
    """What was acknowledged: an entry's key with the version made, or an outcome's ref."""

    key: str
    version: int = 0


def agent(number: int, url: str, key: str, ends: float, out: Any) -> None:
    """Write, report and decide until the end, and send what was acknowledged; every call carries its own key."""
    writes: list[Said] = []
    outcomes: list[Said] = []
    decided: list[int] = []
    statuses: Counter[int] = Counter()
    chance, step = random.Random(number), 0
    while time.time() < ends:
        step += 1
        name = f"k{number}-{chance.randrange(200)}"
        body = {
            "entity_path": "soak",
            "key": name,
            "value": {"by": number, "step": step},
            "agent_id": f"agent/{number}",
        }
        status, told = again(f"{url}/api/v1/entries", body, key, f"{number}-{step}", ends, statuses)
        if status == 200:
            writes.append(Said(name, told["version"]))
        if step % 3 == 0:
            ref = f"task-{number}-{step}"
            kind = "success" if chance.random() < 0.7 else "failure"
            sent = {"outcome_ref": ref, "outcome_type": kind, "agent_id": f"agent/{number}"}
            sent |= {"causal_entry_keys": [f"soak/{name}"]}
            status, _ = again(f"{url}/api/v1/outcomes", sent, key, f"o{number}-{step}", ends, statuses)
            outcomes += [Said(ref)] if status == 200 else []
        if step % 7 == 0:
            review = {"entity_path": "soak", "key": name, "outcome": chance.choice(["accepted", "rejected"])}
            again(f"{url}/api/v1/feedback", review, key, f"f{number}-{step}", ends, statuses)
        if step % 5 == 0:
            decided += decide(url, key, f"d{number}-{step}", ends, statuses)
    out.put((writes, outcomes, decided, statuses))


def decide(url: str, key: str, once: str, ends: float, statuses: Counter[int]) -> list[int]:
    """Decide about what waits for review first, and return the change set that was acknowledged, if any."""
    status, queue = call(f"{url}/api/v1/review?limit=1", None, key)
    if status != 200 or not queue["items"]:
        return []
    first = queue["items"][0]
    items = [{"entity_path": first["entity_path"], "key": first["key"], "version": first["version"]}]
    body = {"items": items, "decision": random.choice(["accept", "archive", "reject"]), "reason": "soak"}
    status, told = again(f"{url}/api/v1/review/decisions", body, key, once, ends, statuses)
    return [told["change_set"]] if status == 200 and told["done"] else []


def again(url: str, body: Any, key: str, once: str, ends: float, statuses: Counter[int]) -> tuple[int, Any]:
    """Send a call until somebody answers it for good, as a careful client does: always under the same key."""
    while True:
        status, told = call(url, body, key, **{"Idempotency-Key": once})
        statuses[status] += 1
        if status not in {0, 409, 429, 502, 503} or time.time() > ends + 20:
            return status, told
        if status in {429, 503}:
            assert told.get("Retry-After", "").isdigit() or told.get("retry-after", "").isdigit(), told
        rest(0.2)


@contextlib.contextmanager
def agents(product: Product, key: str, seconds: float) -> Iterator[Any]:
    context = multiprocessing.get_context("spawn")
    out, ends = context.Queue(), time.time() + seconds
    started = [context.Process(target=agent, args=(n, product.url, key, ends, out)) for n in range(WRITERS)]
    for one in started:
        one.start()
    yield lambda: [out.get(timeout=120) for _ in started]
    for one in started:
        one.join(30)


def torment(product: Product, seconds: float) -> list[float]:
    """Kill one part after the other and return after how many seconds pages answered again each time."""
    back, ends, turn = [], time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        rest(random.uniform(PAUSE / 2, PAUSE))
        part = PARTS[turn] if turn < len(PARTS) else random.choice(PARTS)
        turn += 1
        killed = product.kill(part)
        if killed:
            back.append(product.wait())
            print(f"  killed {killed}; pages answered after {back[-1]:.1f} s", flush=True)
    return back


def until_it_connects(address: str) -> None:
    """Return once the database, which may have been killed last, lets somebody in; some pages open without it."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > ends:
                raise
        rest(0.5)


def faults(address: str, results: list[Any]) -> list[str]:
    """Return what is not as it was acknowledged."""
    found = []
    with psycopg.connect(address) as connection:
        gaps = "SELECT count(*) FROM (SELECT entry_id FROM memories_entryversion GROUP BY entry_id"
        gaps += " HAVING count(*) <> max(number) OR min(number) <> 1) g"
        rows = connection.execute(gaps).fetchone()
        found += [f"{rows[0]} histories with gaps"] if rows and rows[0] else []
        versions = set(
            connection.execute(
                "SELECT e.key, v.number FROM memories_entryversion v JOIN memories_entry e ON e.id = v.entry_id"
                " AND e.account_id = v.account_id WHERE v.change IN ('created', 'written')"
            ).fetchall()
        )
        refs = Counter(ref for (ref,) in connection.execute("SELECT outcome_ref FROM outcomes_outcome"))
        sets = {number for (number,) in connection.execute("SELECT id FROM memories_changeset WHERE kind = 'decision'")}
        steps = Counter(
            connection.execute(
                "SELECT c.value FROM memories_entryversion v JOIN memories_claim c ON c.id = v.claim_id"
                " AND c.account_id = v.account_id WHERE v.change IN ('created', 'written')"
            ).fetchall()
        )
    writes = [said for one, _, _, _ in results for said in one]
    told = [said.key for _, one, _, _ in results for said in one]
    decided = [number for _, _, one, _ in results for number in one]
    gone = set(decided) - sets
    found += [f"{len(gone)} acknowledged decisions are not there"] if gone else []
    found += ["a decision was acknowledged twice"] if len(decided) != len(set(decided)) else []
    lost = [said for said in writes if (said.key, said.version) not in versions]
    found += [f"{len(lost)} acknowledged writes are not there, such as {lost[0]}"] if lost else []
    missing = [ref for ref in told if refs[ref] != 1]
    found += [f"{len(missing)} acknowledged outcomes are not there once, such as {missing[0]}"] if missing else []
    twice = [value for value, times in steps.items() if times > 1]
    found += [f"{len(twice)} writes are there twice, such as {twice[0]}"] if twice else []
    acknowledged = f"{len(writes):,} writes, {len(told):,} outcomes and {len(decided):,} decisions acknowledged"
    print(f"  {acknowledged}, {len(versions):,} written versions there")
    return found


def main(seconds: float) -> int:
    with tempfile.TemporaryDirectory(prefix="senselab-soak-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        product = Product(Path(folder) / "data")
        try:
            found = soaked(product, seconds)
        finally:
            left = product.stop()
        found += [f"left running: {one}" for one in left]
        if found:
            print((Path(folder) / "log").read_text(errors="replace")[-4000:], file=sys.stderr)
    for words in found:
        print(f"NOT SO: {words}")
    print("Nothing was lost." if not found else f"{len(found)} things are not as they should be.")
    return 1 if found else 0


def soaked(product: Product, seconds: float) -> list[str]:
    """Kill and write for so long, and return what is not as it should be then."""
    from senselab import postgres

    print(f"pages answered {product.wait(patience=4 * PATIENCE):.1f} s after the first start", flush=True)
    made = product.manage("createkey", "soak", "--rate", "1000000", *SCOPES)
    with agents(product, made.stdout.strip(), seconds) as told:
        back = torment(product, seconds)
        results = told()
    product.wait()
    until_it_connects(postgres.url(product.data))
    statuses = sum((one for _, _, _, one in results), Counter())
    print(f"  answers: {dict(statuses)}; kills: {len(back)}; longest away {max(back, default=0):.1f} s")
    found = faults(postgres.url(product.data), results)
    verified = product.manage("verify")
    print(f"  {verified.stdout.strip().splitlines()[-1] if verified.stdout else verified.stderr}")
    found += ["verify found what does not fit"] if verified.returncode else []
    found += [] if sum(len(one) for one, _, _, _ in results) else ["nothing was written"]
    return found


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 600.0))
