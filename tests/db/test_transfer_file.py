"""What the file of an account holds, and what not: natural names in order, people by name, no key, no sign-in."""

import json

from memories.transfer import leaving
from senselab.accounts import audit
from senselab.accounts import services as accounts
from senselab.accounts.models import Role
from tests.db import acts
from tests.db.acts import NOON
from tests.db.test_transfer import story as story  # noqa: PLC0414


def lines_of(account):
    return [json.loads(line) for line in b"".join(leaving.export(account)).splitlines()]


def name_of(line):
    """Return the name of an entry or of what is an entry's, with its number, as bytes in the order of the file."""
    names = line["entry"] if "entry" in line else [line[name] for name in ("branch", "entity_path", "key", "owner")]
    return [name.encode() for name in names], line.get("number", 0)


def test_entries_claims_and_versions_are_sorted_by_branch_path_key_and_number(story):
    # Written last, and first in the file; what the database would sort otherwise by its own language.
    for branch, path, key in (("main", "a/z", "b"), ("main", "Z", "a"), ("main", "a", "é"), ("draft", "zoo", "z")):
        acts.put(story, 1, branch=branch, path=path, key=key)
    acts.put(story, 2, path="a/z", key="b")
    lines = lines_of(story)
    for kind in ("entry", "claim", "version", "effect", "recall"):
        names = [name_of(line) for line in lines if line["line"] == kind]
        assert names, kind
        assert names == sorted(names), kind
    entries = [name_of(line)[0][:3] for line in lines if line["line"] == "entry"]
    assert entries[0] == [b"draft", b"zoo", b"z"]
    assert entries[1:4] == [[b"main", b"Z", b"a"], [b"main", b"a", "é".encode()], [b"main", b"a/z", b"b"]]


def test_people_are_named_and_the_first_line_names_the_schema(story):
    header, *lines = lines_of(story)
    assert (header["line"], header["format"], header["schema"]) == ("header", "senselab account", 1)
    assert {line["actor"] for line in lines if line["line"] == "change set" and line["actor_kind"] == "person"} == {
        "rex"
    }
    assert {line["actor"] for line in lines if line["line"] == "comment"} == {"rex"}


def test_no_key_no_sign_in_and_no_audit_leaves(account, client_of):
    acts.put(account, "kanari", key="sings")
    person = accounts.create_person("kanari-person", password="kanari correct horse")
    accounts.give_role(person, account, Role.ADMIN)
    key = accounts.create_key(account, name="kanari-key")
    session = client_of(person).cookies["sessionid"].value
    audit.record(account.pk, "exported", by=audit.SYSTEM, at=NOON, target="kanari-audit")
    text = b"".join(leaving.export(account)).decode()
    assert text.count("kanari") == 1
    assert not [secret for secret in (session, *key.split("_", 2)[1:], person.password) if secret in text]
