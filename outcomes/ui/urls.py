"""Pages of outcomes."""

from django.urls import path

from outcomes.ui import pages

urlpatterns = [
    path("outcomes/", pages.outcomes, name="outcomes"),
    path("outcomes/<int:outcome_id>/", pages.outcome, name="outcome"),
]
