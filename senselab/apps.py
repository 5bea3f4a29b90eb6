from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created


class SenseLabConfig(AppConfig):
    name = "senselab"

    def ready(self) -> None:
        from senselab import moments, telemetry

        connection_created.connect(moments.read_fast, dispatch_uid="moments")
        telemetry.begin_sentry(settings.SENTRY_DSN)
