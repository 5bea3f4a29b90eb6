"""/api/v1/admin/."""

from django.urls import path

from senselab.administration.trail import Trail
from senselab.administration.views import Config, Key, Keys, Rotate, Usage

urlpatterns = [
    path("api-keys", Keys.as_view()),
    path("api-keys/<int:key_id>", Key.as_view()),
    path("api-keys/<int:key_id>/rotate", Rotate.as_view()),
    path("audit", Trail.as_view()),
    path("usage", Usage.as_view()),
    path("config", Config.as_view()),
]
