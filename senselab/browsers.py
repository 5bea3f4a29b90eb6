"""What a browser says of itself, as people know it: "Firefox 133 on Windows". Pure."""

import re

# The first that is there; most call themselves by the names of others as well.
BROWSERS = (
    ("Edge", r"Edg(?:e|A|iOS)?/(\d+)"),
    ("Opera", r"OPR/(\d+)"),
    ("Samsung Internet", r"SamsungBrowser/(\d+)"),
    ("Firefox", r"(?:Firefox|FxiOS)/(\d+)"),
    ("Chrome", r"(?:Chrome|HeadlessChrome|CriOS)/(\d+)"),
    ("Safari", r"Version/(\d+)[^ ]* .*Safari/"),
)
SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("ChromeOS", "CrOS"),
    ("macOS", "Macintosh"), ("Linux", "Linux"),
)  # fmt: skip
LONGEST = 60


def named(told: str) -> str:
    """Return browser and system in words; what nobody knows by name as it calls itself."""
    found = ((name, match) for name, pattern in BROWSERS if (match := re.search(pattern, told)))
    name, match = next(found, ("", None))
    if match is None:
        return told[:LONGEST] or "unknown"
    system = next((word for word, mark in SYSTEMS if mark in told), "")
    return f"{name} {match[1]}" + (f" on {system}" if system else "")
