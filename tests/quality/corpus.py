"""A labelled set of questions over entries of our own making: paraphrases, identifiers, stale rules, two languages.

Made by a seeded generator from templates written by hand, so that it is the same every time. Every question names the
entries that answer it; other services have entries in nearly the same words.
"""

import random
from dataclasses import dataclass, field

from tests.quality import natural

SERVICES = (
    "checkout", "billing", "search", "shipping", "accounts", "inventory", "loyalty", "notifications", "reporting",
    "gateway", "catalogue", "returns", "pricing", "fraud", "media", "identity", "ledger", "scheduler", "support",
    "mailer",
)  # fmt: skip
# What is known of each service: a key, what is said (English), how people ask, what is said and asked in German.
FACTS = (
    ("retry-limit", "Calls to {other} are retried {n} times with exponential backoff",
     ("how often do we retry calls to {other} from {service}", "{service}: number of attempts towards {other}"),
     "Aufrufe an {other} werden {n} Mal wiederholt", "wie oft wiederholt {service} Aufrufe an {other}"),
    ("timeout", "Requests time out after {n} seconds because {other} is slow under load",
     ("{service} requests to {other} time out", "why do {service} calls run into a timeout"),
     "Anfragen brechen nach {n} Sekunden ab, weil {other} unter Last langsam ist", "{service} Anfragen brechen ab"),
    ("pool-size", "The connection pool holds {n} connections; more starve {other}",
     ("how large is the connection pool of {service}", "{service} pool exhausted"),
     "Der Verbindungspool hat {n} Verbindungen", "wie gross ist der Verbindungspool von {service}"),
    ("cache-ttl", "Cached answers of {other} live {n} minutes, then they are fetched anew",
     ("how long does {service} keep cached answers of {other}", "{service} cache expiry"),
     "Zwischengespeicherte Antworten von {other} leben {n} Minuten", "wie lange haelt {service} Antworten im Speicher"),
    ("deploy-window", "Deploys go out on weekdays before {n} o'clock, never on a Friday",
     ("when may {service} be deployed", "{service} release on friday"),
     "Ausgeliefert wird werktags vor {n} Uhr, nie freitags", "wann darf {service} ausgeliefert werden"),
    ("owner", "Owned by the team {team}; page them before touching the schema",
     ("who owns {service}", "which team looks after {service}"),
     "Gehoert dem Team {team}; vor Aenderungen am Schema fragen", "wem gehoert {service}"),
    ("queue-lag", "When the queue lags by {n} thousand messages, scale the consumers of {other}",
     ("{service} queue is lagging", "consumers of {service} fall behind"),
     "Haengt die Schlange um {n} Tausend Nachrichten, mehr Verbraucher fuer {other}", "{service} Schlange haengt"),
    ("index", "The table {table} needs the index {table}_created_at, without it the nightly job takes hours",
     ("{service} nightly job takes hours", "which index does {table} need"),
     "Die Tabelle {table} braucht den Index {table}_created_at", "welchen Index braucht die Tabelle {table}"),
    ("secret-rotation", "The signing key is rotated every {n} days; old tokens stay valid for an hour",
     ("how often is the signing key of {service} rotated", "{service} tokens invalid after rotation"),
     "Der Signaturschluessel wird alle {n} Tage getauscht", "wie oft wird der Schluessel von {service} getauscht"),
    ("feature-flag", "The flag {flag} turns on the new {other} flow for {n} percent of users",
     ("what does {flag} do", "new {other} flow in {service}"),
     "Der Schalter {flag} schaltet den neuen Ablauf fuer {n} Prozent ein", "was tut der Schalter {flag}"),
)  # fmt: skip
# Rules that failed, beside what replaced them.
RULES = (
    ("slow", "When {service} is slow after a deploy, {way}", "{service} slow after deploy"),
    ("stuck", "When the {service} worker is stuck, {way}", "{service} worker hangs"),
    ("errors", "When {service} answers 502, {way}", "{service} returns 502 errors"),
)
STALE, FRESH = "restart it on all hosts", "roll back the last migration"
TEAMS = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Harbor")
ERRORS = 6


@dataclass(frozen=True)
class Note:
    """An entry to be written; `failed` with its replacement's key is one that tasks went wrong with."""

    path: str
    key: str
    value: str
    replaced_by: str = ""

    @property
    def name(self) -> str:
        return f"{self.path}/{self.key}"


@dataclass(frozen=True)
class Question:
    """What is asked and the entries that answer it; `kind` says what makes it hard."""

    kind: str
    query: str
    answers: tuple[str, ...]


@dataclass
class Corpus:
    """Notes and questions over them."""

    notes: list[Note] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def corpus(seed: int = 7) -> Corpus:
    """Return 2,000 notes and more, and more than 300 questions."""
    made, rng = Corpus(), random.Random(seed)
    for at, service in enumerate(SERVICES):
        other = SERVICES[(at + 3) % len(SERVICES)]
        words = {
            "service": service, "other": other, "team": TEAMS[at % len(TEAMS)], "table": f"{service}_events",
            "flag": f"enable_{service}_v2",
        }  # fmt: skip
        _facts(made, service, words, rng)
        _rules(made, service, words)
        _errors(made, service, rng)
        _chatter(made, service, other, rng)
        _natural(made, service, words["team"], random.Random(f"{seed} {service}"))
    return made


def _facts(made: Corpus, service: str, words: dict[str, str], rng: random.Random) -> None:
    for key, english, asked, german, frage in FACTS:
        known = words | {"n": str(rng.randint(3, 90))}
        path = f"shop/{service}"
        made.notes.append(Note(path, key, english.format(**known)))
        made.notes.append(Note(f"laden/{service}", f"{key}-de", german.format(**known)))
        paraphrase = rng.choice(asked)
        made.questions.append(Question("paraphrase", paraphrase.format(**known), (f"{path}/{key}",)))
        if rng.random() < 0.4:
            made.questions.append(Question("german", frage.format(**known), (f"laden/{service}/{key}-de",)))


def _rules(made: Corpus, service: str, words: dict[str, str]) -> None:
    path = f"shop/{service}"
    for key, text, asked in RULES:
        stale, fresh = f"{key}-old", f"{key}-new"
        made.notes.append(Note(path, stale, text.format(**words, way=STALE), replaced_by=f"{path}/{fresh}"))
        made.notes.append(Note(path, fresh, text.format(**words, way=FRESH)))
        made.questions.append(Question("stale beside fresh", asked.format(**words), (f"{path}/{fresh}",)))


def _errors(made: Corpus, service: str, rng: random.Random) -> None:
    for number in rng.sample(range(1000, 9999), ERRORS):
        code = f"ERR_{service[:4].upper()}_{number}"
        made.notes.append(Note(f"shop/{service}", f"error-{number}", f"{code} means a request was refused upstream"))
        if rng.random() < 0.5:
            made.questions.append(Question("identifier", code, (f"shop/{service}/error-{number}",)))


def _natural(made: Corpus, service: str, team: str, rng: random.Random) -> None:
    for key, value, query in natural.asked(service, team, rng):
        made.notes.append(Note(f"shop/{service}", key, value))
        made.questions.append(Question("natural", query, (f"shop/{service}/{key}",)))
    made.notes += [Note(f"handbook/{service}", key, value) for key, value in natural.pages(service, rng)]


def _chatter(made: Corpus, service: str, other: str, rng: random.Random) -> None:
    """Add what nobody asks for, in the words of what is asked for."""
    subjects = ("retry", "timeout", "pool", "cache", "deploy", "queue", "index", "token", "flag", "worker")
    for number in range(72):
        words = rng.sample(subjects, 3)
        about = f"{words[0]} and {words[1]} of {service} beside {other}"
        text = f"Notes of meeting {number}: {about}, nothing decided on {words[2]}"
        made.notes.append(Note(f"notes/{service}", f"meeting-{number}", text))
