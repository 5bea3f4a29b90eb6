"""What browsers say of themselves, in words."""

import pytest

from senselab import browsers

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/131.0.0.0 Safari/537.36", "Chrome 131 on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0", "Edge 131 on Windows"),
        ("Mozilla/5.0 (Windows NT 10.0; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox 133 on Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU OS 18_1) Version/18.1 Mobile Safari/604.1",
            "Safari 18 on iPhone",
        ),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/17.6 Safari/605.1", "Safari 17 on macOS"),
        (f"Mozilla/5.0 (Linux; Android 14) {WEBKIT} Chrome/131.0 Mobile Safari/537.36", "Chrome 131 on Android"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", "unknown"),
    ],
)
def test_a_session_is_known_by_browser_and_system(told, words):
    assert browsers.named(told) == words
