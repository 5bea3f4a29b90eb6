"""Searching: one description of a search for pages and API, and the statements it becomes."""

from memories.search.described import AFTER, LISTED, ORDERS, Conditions, Search
from memories.search.elsewhere import Elsewhere, Found, look
from memories.search.finding import COUNTED, Page, count, counts, find, find_or_widen, page
from memories.search.ranking import Candidate, candidates, statement, words_of
from memories.search.rarity import remember, unstemmed

__all__ = [
    "AFTER",
    "COUNTED",
    "LISTED",
    "ORDERS",
    "Candidate",
    "Conditions",
    "Elsewhere",
    "Found",
    "Page",
    "Search",
    "candidates",
    "count",
    "counts",
    "find",
    "find_or_widen",
    "look",
    "page",
    "remember",
    "statement",
    "unstemmed",
    "words_of",
]
