"""Lets a test wait for what is asynchronous."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns; in a thread of its own, as browser tests before it leave this one a loop."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(asyncio.run, work).result()
