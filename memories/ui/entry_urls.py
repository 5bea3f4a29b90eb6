"""Pages about one entry."""

from django.urls import URLPattern, path

from memories.ui import compare, entry, rollback

urlpatterns: list[URLPattern] = [
    path("entry/", entry.entry, name="entry"),
    path("entry/value/", entry.entry_value, name="entry_value"),
    path("entry/compare/", compare.compare, name="compare"),
    path("entry/rollback/", rollback.rollback, name="rollback"),
]
