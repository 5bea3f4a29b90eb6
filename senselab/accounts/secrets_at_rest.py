"""What allauth asks of us for second factors: secrets encrypted in the database, and whom a passkey belongs to."""

import base64
import secrets

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser


def cipher() -> Fernet:
    """Return what encrypts with a key made of SECRET_KEY: a copy of the database alone yields no factor."""
    derived = HKDF(SHA256(), length=32, salt=None, info=b"senselab.accounts.factors")
    return Fernet(base64.urlsafe_b64encode(derived.derive(settings.SECRET_KEY.encode())))


class Adapter(DefaultMFAAdapter):
    """Ours where allauth lets one choose."""

    def encrypt(self, text: str) -> str:
        return cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return the secret; under another SECRET_KEY one that nobody knows, so that no code fits it."""
        try:
            return cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        return user.get_username()

    def _get_user_identifier(self, user: AbstractBaseUser) -> str:
        return user.get_username()

    def _get_site_name(self) -> str:
        return "SenseLab"
