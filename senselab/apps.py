from django.apps import AppConfig


class SenseLabConfig(AppConfig):
    name = "senselab"
