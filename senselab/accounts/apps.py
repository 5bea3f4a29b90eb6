from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "senselab.accounts"
    label = "accounts"

    def ready(self) -> None:
        from django_q.signals import post_spawn

        from senselab.accounts import sealing, sign_ins

        sign_ins.listen()
        post_spawn.connect(sealing.start_in_worker, dispatch_uid="sealing")
