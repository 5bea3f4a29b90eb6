"""Learning, measured: `make bench-learning` lets scripted agents work from a partly wrong playbook in a changing world.

The same agents, the same tasks and the same public client with our server, with the published peer's, and without
memory. Reported are first-try success in each phase, how often a rule was followed again for a kind of task after it
had failed there and something else had since worked, and what an episode costs. Means over several seeds.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "var" / "bench"
os.environ |= {"SENSELAB_DATA": str(HOME / "server"), "DJANGO_SETTINGS_MODULE": "senselab.settings"}

from tests.load import learning_agents, peer, product  # noqa: E402  the settings above come first
from tests.load.learning_agents import Course  # noqa: E402
from tests.load.learning_world import World  # noqa: E402
from tests.load.processes import free_port, running, wait_for  # noqa: E402

SEEDS = (11, 12, 13, 14, 15)
# Where a phase begins and ends, and what must be reached there.
PHASES = {"first 50": (0, 50, 0.90), "50 to 100": (50, 100, None), "100 to 150": (100, 150, 1.0),
          "50 after the change": (150, 200, 0.85), "last 100": (200, 300, None)}  # fmt: skip
REPEATS, TIME_SHARE = 1.0, 0.2


@contextmanager
def ours(server: str) -> Iterator[tuple[str, str]]:
    """Run the product as `make run` does, in a new database of its own."""
    drop(server, "learning_ours")
    with peer.database(server, "learning_ours") as database:
        port, log = free_port(), HOME / "product.log"
        env = {**product.environment(HOME, database), "PORT": str(port)}
        url = f"http://127.0.0.1:{port}"
        with running([sys.executable, "manage.py", "up"], env, log) as process:
            wait_for(f"{url}/health", process, log)
            yield url, product.manage(env, "createkey", f"learning-{os.getpid()}", "--rate", product.RATE)


@contextmanager
def theirs(server: str) -> Iterator[tuple[str, str]]:
    """Run the published peer, in a new database of its own, with the vectors it looks for at a start."""
    drop(server, "learning_peer")
    home = HOME / "peer"
    home.mkdir(parents=True, exist_ok=True)
    python = peer.install(home)
    with peer.database(server, "learning_peer") as dsn:
        # It makes its tables with the first call; its vectors and full text are found at the next start.
        peer.seed(python, dsn, 0, home / "server.log")
        with peer.serving(python, dsn, home / "server.log") as url:
            yield url, peer.KEY


def drop(server: str, name: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def measured(name: str, worlds: list[World], run: Callable[[World], Course]) -> dict[str, float]:
    """Return the means of one contestant over the worlds."""
    courses = []
    for world in worlds:
        courses.append(run(world))
        told = ", ".join(f"{phase} {courses[-1].share(*span[:2]):.2f}" for phase, span in PHASES.items())
        print(f"{name} seed {world.seed}: {told}, repeats {courses[-1].repeats}", file=sys.stderr, flush=True)
    figures = {
        phase: statistics.mean(course.share(start, end) for course in courses)
        for phase, (start, end, _) in PHASES.items()
    }
    episodes = sum(len(course.first) for course in courses)
    return figures | {
        "repeats": statistics.mean(course.repeats for course in courses),
        "calls": sum(course.calls for course in courses) / episodes,
        "ms": 1_000 * sum(course.seconds for course in courses) / episodes,
    }


def table(found: dict[str, dict[str, float]]) -> str:
    rows = [*PHASES, "repeats", "calls", "ms"]
    names = {"repeats": "failed rule followed again", "calls": "calls an episode", "ms": "ms an episode"}
    lines = [f"| | {' | '.join(found)} |", "|---|" + "---:|" * len(found)]
    for row in rows:
        places = 2 if row in PHASES else 1
        cells = " | ".join(f"{figures[row]:.{places}f}" for figures in found.values())
        lines.append(f"| {names.get(row, f'first try right, {row}')} | {cells} |")
    return "\n".join(lines)


def missed(found: dict[str, dict[str, float]]) -> list[str]:
    """Return which goals were not reached."""
    figures = found["ours"]
    told = [
        f"{phase}: {figures[phase]:.3f}, not {goal}"
        for phase, (_, _, goal) in PHASES.items()
        if goal is not None and figures[phase] < goal - 1e-9
    ]
    if figures["repeats"] > REPEATS:
        told.append(f"a failed rule was followed again {figures['repeats']:.1f} times a run, not {REPEATS:.0f}")
    if "peer" in found and figures["ms"] > TIME_SHARE * found["peer"]["ms"]:
        told.append(f"an episode takes {figures['ms'] / found['peer']['ms']:.2f} of the peer's time, not {TIME_SHARE}")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--alone", action="store_true", help="without the peer")
    told = parser.parse_args()
    from senselab import postgres

    worlds = [World(seed) for seed in told.seeds]
    found = {"no memory": measured("no memory", worlds, learning_agents.without_memory)}
    HOME.mkdir(parents=True, exist_ok=True)
    held = postgres.use(HOME / "server")
    try:
        server = postgres.url(HOME / "server")
        for name, serving in ({"ours": ours} | ({} if told.alone else {"peer": theirs})).items():
            with ExitStack() as stack:
                url, key = stack.enter_context(serving(server))
                found[name] = measured(name, worlds, lambda world: learning_agents.with_memory(world, url, key))  # noqa: B023
    finally:
        held.close()
    print(table(found))
    print("\n" + ("\n".join(missed(found)) or "Every goal that was measured was reached."))


if __name__ == "__main__":
    main()
