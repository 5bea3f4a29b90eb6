"""Pages of lists: entries and change sets."""

from django.urls import path

from memories.ui import change_sets, entries

urlpatterns = [
    path("entries/", entries.entries, name="entries"),
    path("changes/", change_sets.change_sets, name="change_sets"),
    path("changes/<int:change_set_id>/", change_sets.change_set, name="change_set"),
    path("changes/<int:change_set_id>/undo/", change_sets.undo_change_set, name="undo_change_set"),
]
