"""Vectors: what entries and queries mean to a model, an extra that finds what words do not."""

from memories.vectors.model import Model, current, use
from memories.vectors.reading import counting, nearest, query_vector
from memories.vectors.table import exists, prepare

__all__ = ["Model", "counting", "current", "exists", "nearest", "prepare", "query_vector", "use"]
