"""Where requests go: agents at /api/v1/, people at /."""

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter
from drf_spectacular.views import SpectacularAPIView
from rest_framework.negotiation import DefaultContentNegotiation

from senselab import docs, door, health, metrics, problems, views


class Anything(StringConverter):
    """What follows, line breaks included, at which `path` ends."""

    regex = "(?s:.+)"


register_converter(Anything, "anything")

urlpatterns = [
    path("api/v1/", include("memories.api.urls")),
    path("api/v1/", include("outcomes.api.urls")),
    path("api/v1/auth/whoami", health.WhoAmI.as_view()),
    path("api/v1/health", health.Health.as_view()),
    path("api/v1/admin/", include("senselab.administration.urls")),
    path("health", health.health),
    path("healthz", health.health),
    path("readyz", health.ready),
    path("metrics", metrics.metrics),
    path("api/schema/", SpectacularAPIView.as_view(content_negotiation_class=DefaultContentNegotiation), name="schema"),
    path("api/docs/", docs.Documentation.as_view(url_name="schema"), name="api_docs"),
    path("api/", problems.no_route),
    path("api/<anything:rest>", problems.no_route),
    path("", views.overview, name="overview"),
    path("course/", views.course, name="course"),
    path("login/", door.LogIn.as_view(), name="login"),
    path("login/second-factor/", door.second_factor, name="second_factor"),
    path("login/passkey/", door.passkey, name="passkey_login"),
    path("login/oidc/", door.oidc, name="oidc_login"),
    path("login/oidc/callback/", door.oidc_callback, name="oidc_callback"),
    path("logout/", door.LogOut.as_view(), name="logout"),
    path("account/", views.switch_account, name="switch_account"),
    path("", include("memories.ui.urls")),
    path("", include("memories.ui.entry_urls")),
    path("", include("memories.ui.time_urls")),
    path("", include("memories.ui.review_urls")),
    path("", include("outcomes.ui.urls")),
    path("", include("senselab.administration.ui.urls")),
]

handler500 = problems.server_error
