from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "senselab.accounts"
    label = "accounts"
