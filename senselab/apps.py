from django.apps import AppConfig
from django.conf import settings


class SenseLabConfig(AppConfig):
    name = "senselab"

    def ready(self) -> None:
        from senselab import telemetry

        telemetry.begin_sentry(settings.SENTRY_DSN)
