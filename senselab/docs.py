"""The API's documentation, drawn in the browser from the schema by vendored files."""

from typing import Any

from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation

# Swagger UI sets style attributes; this one page, which shows nobody's data, lets it.
LENIENT = csp_update({"style-src": ["'self'", "'unsafe-inline'"], "img-src": ["'self'", "data:"]})


@method_decorator(LENIENT, name="dispatch")
class Documentation(SpectacularSwaggerSplitView):
    permission_classes: list[Any] = []
    authentication_classes: list[Any] = []
    content_negotiation_class = DefaultContentNegotiation
    title = "SenseLab"


class KeyScheme(OpenApiAuthenticationExtension):
    """A key travels in a header of its own, or as a bearer token."""

    target_class = "senselab.accounts.keys.KeyAuthentication"
    name = ["key", "bearer"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        del auto_schema
        return [
            {"type": "apiKey", "in": "header", "name": "X-AMFS-API-Key"},
            {"type": "http", "scheme": "bearer"},
        ]
