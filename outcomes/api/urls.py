"""/api/v1/ of this room."""

from django.urls import path

from outcomes.api.learning import Explain, Learning, TrainingData
from outcomes.api.views import Outcomes

urlpatterns = [
    path("outcomes", Outcomes.as_view()),
    path("learning", Learning.as_view()),
    path("explain", Explain.as_view()),
    path("pro/export", TrainingData.as_view()),
]
