"""The model of requirements-semantic.txt: `make test-semantic`. Left out of `make test`, which installs no model."""

import pytest

from memories.rules import embedding
from memories.vectors import model as models

ABOUT = {
    "retries": "Retry failed payment calls with exponential backoff and jitter, three times at most.",
    "migration": "Database migrations run before the deploy, inside one transaction.",
    "cache": "The product page is cached for five minutes; purge it after a price change.",
    "login": "Users are locked out after ten wrong passwords.",
}


@pytest.fixture(scope="module")
def model():
    found = models._load("")
    assert found is not None, "run `make test-semantic`, which installs what this needs"
    return found


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("how often should I try again when billing times out", "retries"),
        ("schema changes at release time", "migration"),
        ("stale prices shown in the shop", "cache"),
        ("account blocked because of bad credentials", "login"),
    ],
)
def test_a_paraphrase_is_nearest_to_what_it_means(model, asked, wanted):
    (query,) = model.embed([asked])
    texts = [embedding.text_of("shop", key, f'"{text}"', is_artifact=False) for key, text in ABOUT.items()]
    near = dict(zip(ABOUT, (cosine(query, vector) for vector in model.embed(texts)), strict=True))
    assert max(near, key=near.__getitem__) == wanted


def test_vectors_have_length_one_and_do_not_depend_on_company(model):
    alone, together = model.embed(["one short text"])[0], model.embed(["one short text", "another " * 300])[0]
    assert model.dimensions == len(alone) == 384
    assert abs(cosine(alone, alone) - 1) < 1e-6
    assert cosine(alone, together) > 0.99


def test_a_short_text_is_read_alone_without_padding(model):
    assert len(model.tokenizer.encode("one short text").ids) == 5
    one, other = model.embed(["an unpaid invoice", "the colour of a button"])
    assert cosine(one, other) < 0.3


def test_a_folder_with_the_two_files_is_a_model(model, tmp_path):
    weights, tokenizer = models.files("")
    (tmp_path / "model.onnx").symlink_to(weights)
    (tmp_path / "tokenizer.json").symlink_to(tokenizer)
    from_folder = models._load(str(tmp_path))
    assert from_folder is not None
    assert from_folder.embed(["a text"]) == model.embed(["a text"])


def test_a_folder_without_a_model_leaves_words_alone(tmp_path, caplog):
    assert models._load(str(tmp_path)) is None
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")
    assert models._load(str(tmp_path)) is None
    assert "words alone find entries" in caplog.text
