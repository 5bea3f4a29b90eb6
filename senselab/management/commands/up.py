"""The one command: checks, database, migrations, web and worker."""

import os
import signal
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from senselab import admission, keeper, launch, supervisor, taking_room
from senselab.accounts.services import FirstRun
from senselab.engine import DatabaseUnavailable


class Command(BaseCommand):
    help = "Run SenseLab: the embedded database, web and worker, until Ctrl-C."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", choices=("web", "worker"), help="this part alone; needs DATABASE_URL")
        parser.add_argument("--stop-with-parent", action="store_true", help="stop when the calling process ends")

    def handle(self, *args: Any, stop_with_parent: bool, only: str | None = None, **options: Any) -> None:
        if only and not os.environ.get("DATABASE_URL"):
            sys.exit("A web or a worker alone needs DATABASE_URL: the embedded database belongs to one machine.")
        self.only = only
        parent = os.getppid() if stop_with_parent else None
        if parent and (arrange := keeper.dying_with(parent, signal.SIGKILL)):
            arrange()
        house = supervisor.Supervisor()
        # Explicitly: a shell that starts something in the background has it ignore SIGINT.
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, signal.default_int_handler)
        try:
            self.start(house)
            house.run(parent)
            # Nobody is left who would wait: the keepers end everything within five seconds, an orderly stop may not.
            os._exit(1)
        except KeyboardInterrupt:
            house.say("up", "Stopping.")
        finally:
            for signum in (signal.SIGINT, signal.SIGTERM):
                signal.signal(signum, signal.SIG_IGN)
            house.stop()

    def start(self, house: supervisor.Supervisor) -> None:
        launch.check_data_folder()
        if self.only != "worker":
            launch.check_port()
        launch.keep_secret_key()
        launch.clear_metrics()
        if not os.environ.get("DATABASE_URL"):
            try:
                house.start(supervisor.Database(settings.DATA_DIR))
            except DatabaseUnavailable as error:
                sys.exit(str(error))
        launch.check_database()
        house.say("up", "Preparing the database and the pages; the first time that takes a little.")
        self.welcome(launch.prepare())
        for name, command in parts(self.only).items():
            house.start(supervisor.Program(name, command, env=environment(name), cwd=settings.BASE_DIR))

    def welcome(self, made: FirstRun | None) -> None:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.HOST, settings.HOST)
        lines = [f"SenseLab   http://{f'[{host}]' if ':' in host else host}:{settings.PORT}"]
        if made:
            lines += [f"person     {made.person}", f"password   {made.password}", f"API key    {made.key}"]
            lines += ["Keep the password and the key: they are shown this once."]
        self.stdout.write("\n" + "\n".join(f"  {line}" for line in lines) + "\n\n")
        self.stdout.flush()


def parts(only: str | None) -> dict[str, list[str]]:
    """Return the programs to run by name: both, or one alone on a machine of its own."""
    both = {"web": web(), "worker": worker()}
    return {only: both[only]} if only else both


def environment(name: str) -> dict[str, str]:
    """Return the environment of web or worker: they use the database as it is and never start one; only web counts."""
    ours = {"DATABASE_URL": settings.DATABASE_URL, "SENSELAB_DATA": str(settings.DATA_DIR), "PYTHONUNBUFFERED": "1"}
    counting = {taking_room.FOLDER: str(settings.DATA_DIR / "metrics")} if name == "web" else {}
    return os.environ | ours | counting


def web() -> list[str]:
    options = {
        "interface": "wsgi",
        "host": settings.HOST,
        "port": settings.PORT,
        "workers": settings.WEB_WORKERS,
        # Those at work, those at the door, those that stream, and one that is always there for a page.
        "blocking-threads": settings.WEB_THREADS + admission.WAITING + settings.STREAMS + 1,
        # A thread keeps its database connection: let both live as long as granian allows.
        "blocking-threads-idle-timeout": 600,
        "workers-kill-timeout": 5,
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "granian", "--respawn-failed-workers", "--no-ws", *flags]
    return [*command, "senselab.wsgi:application"]


def worker() -> list[str]:
    return [sys.executable, str(settings.BASE_DIR / "manage.py"), "qcluster"]
