"""The files people deploy with: read by their own checkers where these are installed, and by eye for what matters."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.ops.conftest import ROOT
from tests.ops.programs import program

DEPLOY = ROOT / "docs" / "deploy"


def checked(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_nginx_takes_its_site(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=x"]
    checked(program("openssl"), *made, "-keyout", key, "-out", certificate)
    site = (DEPLOY / "nginx.conf").read_text()
    for name, here in (
        ("/etc/ssl/certs/senselab.pem", certificate),
        ("/etc/ssl/private/senselab.key", key),
        ("/etc/nginx/senselab_proxy.conf", DEPLOY / "nginx_proxy.conf"),
    ):
        assert name in site
        site = site.replace(name, str(here))
    (tmp_path / "site.conf").write_text(site)
    whole = tmp_path / "nginx.conf"
    # Where a server that is not installed may write.
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {tmp_path}/{kind}; " for kind in kinds)
    http = f"http {{ access_log off; {places}include {tmp_path}/site.conf; }}"
    whole.write_text(f"pid {tmp_path}/pid;\nevents {{}}\n{http}\n")
    assert "test is successful" in checked(program("nginx"), "-t", "-e", tmp_path / "error.log", "-c", whole)


def test_caddy_takes_its_file() -> None:
    said = checked(program("caddy"), "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile")
    assert "Valid configuration" in said


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is of Linux alone")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "senselab.service").read_text()
    unit = unit.replace("/opt/senselab/.venv/bin/python", "/usr/bin/env")
    unit = re.sub(r"^(User|Group)=.*$", r"\1=root", unit, flags=re.M)
    path = tmp_path / "senselab.service"
    path.write_text(unit)
    checked(program("systemd-analyze", of="systemd"), "verify", path)


def test_compose_starts_web_worker_and_database_without_root_and_with_health() -> None:
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = told["services"]
    assert set(services) == {"db", "web", "worker"}
    assert {name: service["command"][-1] for name, service in services.items() if name != "db"} == {
        "web": "web",
        "worker": "worker",
    }
    for name in ("web", "worker"):
        assert services[name]["depends_on"]["db"]["condition"] == "service_healthy"
        assert services[name]["cap_drop"] == ["ALL"]
    assert "healthcheck" in services["db"]
    assert "healthcheck" in services["worker"]
    settings = set(services["web"]["environment"]) - {"DATABASE_URL"}
    example = (ROOT / ".env.example").read_text()
    assert {name for name in settings if f"#{name}=" not in example} == set()
    image = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"^USER senselab$", image, re.M)
    assert "HEALTHCHECK" in image
    assert image.index("USER senselab") < image.index("CMD [")
