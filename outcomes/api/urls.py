"""/api/v1/ of this room."""

from django.urls import path

from outcomes.api.views import Outcomes

urlpatterns = [path("outcomes", Outcomes.as_view())]
