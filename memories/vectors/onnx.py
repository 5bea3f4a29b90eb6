"""A sentence model in a file: tokens in, the mean of what it says about them out."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Beyond so many tokens the model was not trained.
TOKENS = 256
# How texts become vectors; whoever changes that counts on, so that entries are embedded anew.
READING = b"2"


class Unusable(Exception):
    """The files are no model that can be used here."""


@dataclass(frozen=True, slots=True)
class Onnx:
    """A model of onnxruntime with its tokenizer."""

    name: str
    dimensions: int
    session: Any
    tokenizer: Any

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text.

        One by one: padded to the longest of 32, texts took 1.7 times as long and a worker grew to 930 MB.
        """
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> list[float]:
        import numpy as np

        read = self.tokenizer.encode(text)
        ids, mask = np.array([read.ids], dtype=np.int64), np.array([read.attention_mask], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {one.name for one in self.session.get_inputs()}
        (said, *_) = self.session.run(None, {name: value for name, value in given.items() if name in wanted})
        # A model that tells a vector for each token is brought to their mean.
        vector = said[0].mean(axis=0) if said.ndim == 3 else said[0]
        told: list[float] = (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(float).tolist()
        return told


def load(weights: Path, tokenizer: Path) -> Onnx:
    """Load a model; its name tells one file of weights from another, and one way to read them.

    :raises Unusable: the files are no model that can be used here.
    """
    import onnxruntime
    from tokenizers import Tokenizer

    try:
        is_reader = "model" in json.loads(tokenizer.read_bytes())
    except ValueError:
        is_reader = False
    if not is_reader:
        raise Unusable(f"{tokenizer} is no tokenizer")
    options = onnxruntime.SessionOptions()
    # A query is short, and a worker leaves the other cores to others.
    options.intra_op_num_threads = 1
    # What is kept for the next batch would never be given back.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    try:
        reader = Tokenizer.from_file(str(tokenizer))
        session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except (RuntimeError, ValueError, OSError) as error:
        raise Unusable(f"{weights.parent} holds no model that can be used: {str(error)[:200]}") from error
    reader.enable_truncation(TOKENS)
    # Some tokenizers pad each text: a short one would mean what the padding says, and take six times as long.
    reader.no_padding()
    sum_of = hashlib.sha256(weights.read_bytes() + READING).hexdigest()
    model = Onnx(f"{weights.parent.name}-{sum_of[:8]}", 0, session, reader)
    (probe,) = model.embed(["probe"])
    return Onnx(model.name, len(probe), session, reader)
