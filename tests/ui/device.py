"""A phone in a test: an app that shows codes, and a device that keeps passkeys as a browser would hand them over."""

import hashlib
import json
import re
import secrets
import struct
import time

from allauth.mfa.totp.internal import auth as totp
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

ORIGIN = "https://testserver"
PRESENT, VERIFIED, ATTESTED = 1, 4, 64


def code_of(secret, *, later=0):
    """Return what an app shows now, or some intervals later."""
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30 + later))


def secret_in(answer):
    return re.search(r'readonly value="([A-Z2-7 ]+)"', answer.content.decode())[1].replace(" ", "")


def codes_in(answer):
    return re.search(r'id="codes">([^<]*)<', answer.content.decode())[1].split()


def add_app(client, password="correct horse battery"):
    """Add an app to who is logged in; return its secret and the answer. The code of now is spent by it."""
    secret = secret_in(client.get("/settings/you/security/app/"))
    form = {"code": code_of(secret), "password": password}
    return secret, client.post("/settings/you/security/app/", form)


class Device:
    """What keeps one passkey; `verifies` says whether it asks its holder for a fingerprint or the like."""

    def __init__(self, *, verifies=True, origin=ORIGIN, host="testserver"):
        self.key, self.id = ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(16)
        self.flags, self.origin, self.counter = PRESENT | (VERIFIED if verifies else 0), origin, 0
        self.host, self.handle = hashlib.sha256(host.encode()).digest(), ""

    def _said(self, kind, options):
        said = {"type": f"webauthn.{kind}", "challenge": options["publicKey"]["challenge"], "origin": self.origin}
        return json.dumps(said | {"crossOrigin": False}).encode()

    def make(self, options):
        """Return the answer to options for a new passkey."""
        self.handle = options["publicKey"]["user"]["id"]
        public = cbor.encode(dict(ES256.from_cryptography_key(self.key.public_key())))
        about = bytes(16) + struct.pack(">H", len(self.id)) + self.id + public
        data = self.host + bytes([self.flags | ATTESTED]) + bytes(4) + about
        attested = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        response = {
            "clientDataJSON": websafe_encode(self._said("create", options)),
            "attestationObject": websafe_encode(attested),
        }
        return self._answer(response)

    def prove(self, options):
        """Return the answer to options that ask for a proof."""
        self.counter += 1
        data, said = self.host + bytes([self.flags]) + struct.pack(">I", self.counter), self._said("get", options)
        signature = self.key.sign(data + hashlib.sha256(said).digest(), ec.ECDSA(SHA256()))
        response = {"authenticatorData": websafe_encode(data), "clientDataJSON": websafe_encode(said)}
        return self._answer({**response, "signature": websafe_encode(signature), "userHandle": self.handle})

    def _answer(self, response):
        name = websafe_encode(self.id)
        told = {"id": name, "rawId": name, "type": "public-key", "response": response, "clientExtensionResults": {}}
        return json.dumps(told)
