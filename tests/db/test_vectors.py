"""Vectors of entries: made by a job, of what is said now, and seen by those who may."""

from datetime import timedelta

import pytest
from django.db import connection

from memories import vectors
from memories.jobs import dry, embedding
from memories.jobs.runs import Run
from memories.search import Search
from memories.services import writing
from memories.vectors import table
from tests.db import acts
from tests.db.meaning import Meaning, chosen

LATER = acts.NOON + timedelta(minutes=1)


@pytest.fixture
def model():
    with chosen(Meaning()):
        yield Meaning()


def write(account, value, **more):
    return writing.write(account.pk, acts.draft(value, **more), actor=acts.agent(), policy=acts.DEFAULT, now=acts.NOON)


def near(account, asked, name=acts.ADA, **more):
    found = vectors.nearest(acts.viewer(account, name), asked, Search(**more), LATER, 10)
    ids = [entry_id for entry_id, _ in found]
    keys = dict(
        acts.rows_of("SELECT id, key FROM memories_entry WHERE account_id = %s AND id = ANY(%s)", account.pk, ids)
    )
    return [(keys[entry_id], round(cosine, 2)) for entry_id, cosine in found]


def models_of(account):
    sql = "SELECT DISTINCT model FROM memories_entryvector WHERE account_id = %s ORDER BY model"
    return [name for (name,) in acts.rows_of(sql, account.pk)]


def test_an_entry_is_near_what_means_the_same_in_other_words(account, model):
    write(account, "der laden ist geschlossen", path="ops", key="one")
    write(account, "an invoice", path="ops", key="two")
    assert near(account, "the store is shut") == []
    assert embedding.embed(account, LATER) == 2
    assert near(account, "the store is shut") == [("one", 1.0), ("two", 0.0)]
    assert embedding.embed(account, LATER) == 0


def test_without_a_model_nothing_is_near_and_nothing_is_embedded(account):
    write(account, "der laden")
    assert embedding.embed(account, LATER) == 0
    assert near(account, "store") == []
    assert vectors.query_vector("store") is None


def test_what_an_entry_said_before_is_near_nothing(account, model):
    write(account, "an invoice", path="ops", key="one")
    embedding.embed(account, LATER)
    write(account, "again and again", path="ops", key="one")
    assert near(account, "payment") == []
    assert embedding.embed(account, LATER) == 1
    assert near(account, "repeat") == [("one", 1.0)]


def test_near_means_what_the_viewer_may_see_and_the_filters_leave(account, other_account, model):
    write(account, "money", path="ops", key="shared")
    write(account, "money", path="ops", key="private", shared=False)
    write(account, "money", path="elsewhere", key="far")
    write(other_account, "money", path="ops", key="theirs")
    embedding.embed(account, LATER)
    embedding.embed(other_account, LATER)
    assert {key for key, _ in near(account, "money", entity_path="ops")} == {"shared", "private"}
    assert {key for key, _ in near(account, "money", acts.BOB)} == {"shared", "far"}
    assert {key for key, _ in near(account, "money", acts.BOB, entity_path="ops")} == {"shared"}


def test_the_file_an_artifact_is_counts_and_not_its_code(account, model):
    write(account, "def pay():\n    # money money money\n    return 1", path="ops", key="again.py")
    embedding.embed(account, LATER)
    assert near(account, "again") == [("again.py", 1.0)]


def test_vectors_of_clients_are_kept_as_they_came(account):
    write(account, "one", key="one", embedding=[3.0, 4.0])
    write(account, "two", key="two", embedding=[4.0, -3.0])
    write(account, "none", key="none", embedding=[0.0, 0.0])
    assert embedding.embed(account, LATER) == 2
    assert near(account, [6.0, 8.0]) == [("one", 1.0), ("two", 0.0)]
    assert models_of(account) == ["client-2"]


def test_another_model_says_so_and_takes_the_place_of_the_old_one_at_its_end(account, model, caplog):
    for number in range(3):
        write(account, "money", key=f"k{number}")
    embedding.embed(account, LATER)
    with chosen(Meaning("other")):
        assert dry.embed(account, LATER) == (3, 3)
        run = Run()
        embedding.embed(account, LATER, run)
        assert (run.total, run.looked, run.changed, run.terms) == (3, 3, 3, {"model": "other"})
    assert "other" in caplog.text
    assert "vectors of meaning stay until that is done" in caplog.text
    assert models_of(account) == ["other"]


def test_the_old_vectors_stay_while_the_new_are_made(account, model, monkeypatch):
    for number in range(3):
        write(account, "money", key=f"k{number}")
    embedding.embed(account, LATER)
    monkeypatch.setattr(embedding, "BATCH", 1)
    asked = Run(asked_by="ada")
    asked.began -= 60
    with chosen(Meaning("other")):
        embedding.embed(account, LATER, asked)
    assert not asked.ended
    assert models_of(account) == ["meaning", "other"]


def test_many_vectors_are_found_down_an_index_through_any_filter(account, model, monkeypatch):
    acts.fill(account, 300)
    write(account, "money money", path="ops", key="rare")
    embedding.embed(account, LATER)
    name, size = "meaning", Meaning().dimensions
    monkeypatch.setattr(table, "EXACT", 100)
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX {table.index_of(name)} ON memories_entryvector"
            f" USING hnsw ((vector::halfvec({size})) halfvec_cosine_ops) WHERE model = '{name}'"
        )
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert table.has_index(name)
    assert near(account, "money", entity_path="ops") == [("rare", 1.0)]


def test_dropping_an_account_takes_its_vectors_along(account, model):
    from memories.services import dropping

    write(account, "money")
    embedding.embed(account, LATER)
    dropping.drop_entries(account.pk)
    assert models_of(account) == []
