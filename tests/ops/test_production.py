"""Settings as they are in production: nothing Django would warn of, secrets from files, and a log that keeps them."""

import json
import logging
import os
import secrets
import subprocess
import sys

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from senselab import logs
from senselab.accounts import services
from tests.api.conftest import Caller
from tests.ops.conftest import ROOT

PRODUCTION = {"BEHIND_TLS": "true", "ALLOWED_HOSTS": "senselab.example.com", "LOG_FORMAT": "json"}
# What this process was given that production is not; the last by the browser tests.
OF_TESTS = {"SECRET_KEY", "DATABASE_URL", "DJANGO_ALLOW_ASYNC_UNSAFE"}


def manage(*words, tmp_path, **said):
    kept = {name: value for name, value in os.environ.items() if name not in OF_TESTS}
    environment = {**kept, "SENSELAB_DATA": str(tmp_path), **PRODUCTION, **said}
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def secret_files(tmp_path):
    key, url = tmp_path / "key", tmp_path / "url"
    key.write_text(secrets.token_urlsafe(50) + "\n")
    url.write_text("postgresql://app:s3cret@db.example.com:5432/senselab\n")
    return {"SECRET_KEY_FILE": str(key), "DATABASE_URL_FILE": str(url)}


def test_django_warns_of_nothing(tmp_path, secret_files):
    done = manage("check", "--deploy", "--fail-level", "WARNING", tmp_path=tmp_path, **secret_files)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout + done.stderr


def test_secrets_come_from_files(tmp_path, secret_files):
    ask = "from django.conf import settings as s; print(len(s.SECRET_KEY), s.DATABASES['default']['HOST'])"
    done = manage("shell", "-v0", "-c", ask, tmp_path=tmp_path, **secret_files)
    assert done.stdout.split()[-2:] == ["67", "db.example.com"]


def test_a_secret_file_that_cannot_be_read_ends_the_start_with_a_sentence(tmp_path):
    done = manage("check", tmp_path=tmp_path, SECRET_KEY_FILE=str(tmp_path / "nowhere"))
    assert done.returncode != 0
    assert "which should hold a secret, cannot be read" in done.stderr


def test_behind_tls_cookies_are_secure_and_hsts_is_told(settings, db):
    settings.SECURE_HSTS_SECONDS, settings.SECURE_PROXY_SSL_HEADER = 31_536_000, ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    answer = Client().get("/login/", headers={"X-Forwarded-Proto": "https"})
    assert answer["Strict-Transport-Security"].startswith("max-age=31536000")
    cookie = answer.cookies["csrftoken"]
    assert (cookie["secure"], cookie["samesite"]) == (True, "Lax")


def test_pages_stay_in_no_frame_run_no_inline_script_and_name_no_other_origin(db):
    answer = Client().get("/login/", headers={"Origin": "https://evil.example.com"})
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


def test_the_api_lets_no_other_origin_read_it(account, api_key):
    told = {"Origin": "https://evil.example.com", "Access-Control-Request-Method": "GET", "X-AMFS-API-Key": api_key}
    for call in (Client().get, Client().options):
        assert not [name for name in call("/api/v1/entries", headers=told).headers if name.startswith("Access-Control")]


def test_a_host_nobody_named_is_refused(settings, db):
    settings.ALLOWED_HOSTS = ["senselab.example.com"]
    assert Client().get("/login/", headers={"Host": "evil.example.com"}).status_code == 400


@pytest.fixture
def log():
    """Everything that is logged meanwhile, both as lines and as JSON."""
    said: list[str] = []

    class Both(logging.Handler):
        def emit(self, record):
            said.extend((logs.Line().format(record), logs.Json().format(record)))

    handler = Both(level=logging.DEBUG)
    root = logging.getLogger()
    root.addHandler(handler)
    before, _ = root.level, root.setLevel(logging.DEBUG)
    yield said
    root.setLevel(before)
    root.removeHandler(handler)


def test_the_log_holds_no_value_and_no_key(account, other_account, log):
    text = services.create_key(account, name="a key", rate_per_minute=2)
    bot, value = Caller(text, "agent/ada"), "the launch code is 0000-swordfish"
    bot.write("shop/checkout", "rule", value)
    bot.post("search", {"query": value})
    bot.get("entries/shop/checkout/rule")
    Caller(text + "x").get("entries", token="swordfish")
    Client().get(f"/invitation/{text}-swordfish/")
    Client().get(f"/password/swordfish/{text}/")
    Client().post("/login/", {"username": "ada", "password": "swordfish"})
    logging.getLogger("somewhere").warning("a key came along: %s", text)
    logging.getLogger("somewhere").warning("postgresql://app:swordfish@db/senselab does not answer")
    whole = "\n".join(log)
    assert "somewhere" in whole
    assert "swordfish" not in whole
    assert text.split("_", 2)[2] not in whole


def test_a_fault_of_the_database_quotes_no_row(db, log):
    with connection.cursor() as cursor:
        try:
            cursor.execute('SELECT jsonb(\'{"password": "swordfish"\')')
        except DatabaseError:
            logging.getLogger("somewhere").exception("the database refused")
    assert "the database refused" in "\n".join(log)
    assert not [line for line in log if "DETAIL" in line or "CONTEXT" in line]


def test_no_word_of_a_caller_begins_a_line_of_the_log_or_turns_one_round(log):
    forged = "x\nINFO root all is well\u2028\u202egnp\x1b[2J"
    logging.getLogger("somewhere").warning("a name came along: %s", forged)
    try:
        raise ValueError(forged)
    except ValueError:
        logging.getLogger("somewhere").exception("it failed")
    for text in log:
        assert not set(text) & set("\u2028\u202e\x1b")
        assert [line for line in text.splitlines() if line.startswith("INFO root")] == []
    assert "x\\u000aINFO root all is well" in "\n".join(log)


def test_a_line_of_json_names_the_request(log, account):
    Client().get("/no/such/page/", headers={"X-Request-Id": "asked-1"})
    told = [json.loads(line) for line in log if line.startswith("{")]
    assert [one["request_id"] for one in told if one["logger"] == "django.request"] == ["asked-1"]
