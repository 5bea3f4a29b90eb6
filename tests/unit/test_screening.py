"""Keys and tokens in values: found by what they look like, told by their kind, struck out without touching the rest."""

import base64
import json
import socket

import pytest

from memories import screening


def token_of(claims):
    """Return a JSON Web Token that says this."""
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256"}, claims)]
    return ".".join([*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), "c2lnbmF0dXJl"])


KEYS = {
    "AWS Access Key": "AKIA" + "QWERTYUIOPASDFGH",
    "Anthropic Token": "sk-ant-" + "api03-" + "a1B2c3D4" * 4,
    "Artifactory Credentials": "AKC" + "p8" * 20,
    "Azure Storage Account access key": "AccountKey=" + "Ab1/" * 21 + "Ab==",
    "Basic Auth Credentials": "postgres://shop:hunter2@db.internal/shop",
    "Cloudant Credentials": "cloudant_password = " + "a1" * 32,
    "Discord Bot Token": "M" + "a1" * 12 + "." + "Xy12z3" + "." + "b" * 27,
    "GitHub Token": "ghp_" + "a1" * 18,
    "GitLab Token": "glpat-" + "a1" * 10,
    "Google API Key": "AIza" + "a1_b-" * 7,
    "IBM Cloud IAM Key": "ibm_cloud_api_key: " + "a1b2" * 11,
    "IBM COS HMAC Credentials": "cos_hmac_secret_access_key = " + "a1" * 24,
    "JSON Web Token": token_of({"sub": "ada"}),
    "Mailchimp Access Key": "a1" * 16 + "-us12",
    "NPM tokens": "npm_" + "a1" * 18,
    "OpenAI Token": "sk-" + "proj-" + "a1B2c3D4" * 4,
    "Private Key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n7bq9Zk1x\n-----END RSA PRIVATE KEY-----",
    "SenseLab key": "sl_" + "0123456789abcdef" + "_" + "Ab1-_" * 8 + "xyz",
    "SendGrid API Key": "SG." + "a1" * 11 + "." + "b2" * 21 + "c",
    "Slack Token": "xoxb-" + "123456-654321-" + "abcdef",
    "SoftLayer Credentials": "softlayer_api_key = " + "a1" * 32,
    "Square OAuth Secret": "sq0csp-" + "a1" * 21 + "b",
    "Stripe Access Key": "sk_live_" + "a1" * 12,
    "Twilio API Key": "SK" + "a1" * 16,
}
PLAIN = (
    "Retry three times; the token is in the vault, the password: ask ada. Secret keys rotate weekly.",
    "sha512-" + "Ab1/" * 21 + "Ab==",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "018f3c1e-7b1a-7c3e-9d2f-0a1b2c3d4e5f",
    "https://docs.internal/pay/retries#the-third-one",
    "sk-this-is-only-a-long-name-of-a-service-in-kebab-case",
    {"aws_region": "eu-central-1", "api_key": "see the vault", "retries": 3},
)


def kinds(value):
    return screening.kinds(screening.hits(json.dumps(value)))


@pytest.mark.parametrize(("kind", "key"), KEYS.items(), ids=KEYS)
def test_a_key_of_each_kind_is_found_wherever_it_stands(kind, key):
    for value in (key, f"use {key} for it", ["x", {"deep": [key]}], {"note": "a" * 40_000, "key": f" {key}"}):
        assert kind in kinds(value)


@pytest.mark.parametrize(("kind", "key"), KEYS.items(), ids=KEYS)
def test_nothing_of_a_key_is_left_and_nothing_else_is_touched(kind, key):
    text = json.dumps({"before": 1.50, "key": f"first {key} last", "after": 10**30})
    told = screening.redacted(text, screening.hits(text))
    assert f"[redacted: {kind}]" in told
    secret = max(key.replace("\n", " ").split(), key=len).partition("=")[2] or max(key.split(), key=len)
    assert secret not in told
    assert told.startswith('{"before": 1.5, "key": "first ')
    assert told.endswith(' last", "after": 1000000000000000000000000000000}')


def test_every_kind_of_key_has_its_example():
    assert {pattern.kind for pattern in screening.PATTERNS} == set(KEYS)


@pytest.mark.parametrize("value", PLAIN, ids=str)
def test_plain_words_checksums_and_addresses_are_no_keys(value):
    assert kinds(value) == []


def test_a_key_is_known_by_the_name_of_its_member():
    value = {"aws_secret_access_key": "wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzKEY"}
    text = json.dumps(value)
    assert json.loads(screening.redacted(text, screening.hits(text))) == {
        "aws_secret_access_key": "[redacted: AWS Access Key]"
    }
    assert kinds({"checksum": value["aws_secret_access_key"]}) == []


def test_a_name_that_is_a_key_is_struck_as_well_and_escapes_hide_nothing():
    text = '{"\\u0041KIAQWERTYUIOPASDFGH": ["\\u0041KIAQWERTYUIOPASDFGH", "\\n"]}'
    struck = "[redacted: AWS Access Key]"
    assert screening.redacted(text, screening.hits(text)) == f'{{"{struck}": ["{struck}", "\\n"]}}'


def test_looking_ends_when_its_time_is_over():
    with pytest.raises(screening.TooSlow):
        screening.hits(json.dumps("eyJ" * 20_000), seconds=0.0)


def test_nobody_is_asked_whether_a_key_works(monkeypatch):
    def nobody(*_):
        raise AssertionError("somebody was asked")

    monkeypatch.setattr(socket.socket, "connect", nobody)
    assert set(kinds(list(KEYS.values()))) == set(KEYS)
