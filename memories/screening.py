"""Keys and tokens in what agents write, found by their patterns: the plugins of bc-detect-secrets, and a few of ours.

Only plugins that know what a key looks like are used: those that measure entropy, or go by words like "password", flag
plain sentences. They are made once, when this module is loaded, and their offers to ask the issuer whether a key works
are never taken up. What was found is told by its kind alone; the text itself goes nowhere.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from detect_secrets.core.potential_secret import PotentialSecret
from detect_secrets.plugins import (
    artifactory,
    aws,
    azure_storage_key,
    basic_auth,
    cloudant,
    discord,
    github_token,
    ibm_cloud_iam,
    ibm_cos_hmac,
    jwt,
    mailchimp,
    npm,
    private_key,
    sendgrid,
    slack,
    softlayer,
    square_oauth,
    stripe,
    twilio,
)

from memories.rules.pointers import STRING

# Looking longer than this ends in `TooSlow`; it is asked after each pattern over each window of the text.
SECONDS = 2.0
# A window bounds what one pattern can cost; what lies across its end is found in the next one.
WINDOW, OVERLAP = 16_384, 4_096
# What an Azure key is known by stands at most so far from it.
NEAR = 1_500
# Between two strings: no pattern reads on across it.
BETWEEN = "\t\n"
_SPOKEN = re.compile(rf"({STRING})(\s*+:\s*+)?", re.DOTALL)
# Most keys are a long run of such letters; without one in a window only those are looked for that need none.
_RUN = re.compile(r"[\w/+.-]{20}")
SHORT = frozenset({"Artifactory Credentials", "Basic Auth Credentials", "Private Key", "Slack Token"})
# What must stand somewhere in a window (lower case) for a key of the kind to be there: a pattern costs far more.
_ASSIGNED = ("key", "pwd", "pw", "pass", "token")
NEEDLES = {
    "AWS Access Key": ("a3t", "abia", "acca", "akia", "asia", "aws"),
    "Anthropic Token": ("sk-ant-",),
    "Artifactory Credentials": ("akc", "ap"),
    "Azure Storage Account access key": ("==",),
    "Cloudant Credentials": (*_ASSIGNED, "cloudant.com"),
    "GitHub Token": ("github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "GitLab Token": ("glpat-", "gldt-", "glrt-", "glcbt-"),
    "Google API Key": ("aiza",),
    "IBM COS HMAC Credentials": ("secret",),
    "IBM Cloud IAM Key": _ASSIGNED,
    "Mailchimp Access Key": ("-us",),
    "OpenAI Token": ("sk-",),
    "SenseLab key": ("sl_",),
    "SoftLayer Credentials": (*_ASSIGNED, "softlayer.com"),
}
OURS = (
    ("SenseLab key", r"\bsl_[0-9a-f]{16}_[A-Za-z0-9_-]{43}"),
    ("GitHub Token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    ("GitLab Token", r"\bgl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{20,64}"),
    ("OpenAI Token", r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,255}|\bsk-[A-Za-z0-9]{48}\b"),
    ("Anthropic Token", r"\bsk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,255}"),
    ("Google API Key", r"\bAIza[0-9A-Za-z_-]{35}"),
)


class TooSlow(Exception):
    """A text could not be looked through in time."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one kind of key looks like; `agrees` looks once more at what was found, with what stands around it."""

    kind: str
    regex: re.Pattern[str]
    agrees: Callable[[str, str], bool]

    def may_be_in(self, lowered: str, *, has_run: bool) -> bool:
        """Tell whether a window, in lower case, can hold such a key at all."""
        if not has_run and self.kind not in SHORT:
            return False
        needles = NEEDLES.get(self.kind)
        return needles is None or any(needle in lowered for needle in needles)


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a key stands in the strings of a value, laid out one after the other."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A string of a JSON text: from where to where it stands there, and where its content begins when laid out."""

    start: int
    end: int
    text: str
    at: int
    is_name: bool


def patterns() -> Iterator[Pattern]:
    for kind, regex in OURS:
        yield Pattern(kind, re.compile(regex), lambda found, around: True)
    for plugin in (
        artifactory.ArtifactoryDetector(),
        aws.AWSKeyDetector(),
        basic_auth.BasicAuthDetector(),
        cloudant.CloudantDetector(),
        discord.DiscordBotTokenDetector(),
        github_token.GitHubTokenDetector(),
        ibm_cloud_iam.IbmCloudIamDetector(),
        ibm_cos_hmac.IbmCosHmacDetector(),
        jwt.JwtTokenDetector(),
        mailchimp.MailchimpDetector(),
        npm.NpmDetector(),
        private_key.PrivateKeyDetector(),
        sendgrid.SendGridDetector(),
        slack.SlackDetector(),
        softlayer.SoftlayerDetector(),
        square_oauth.SquareOAuthDetector(),
        stripe.StripeDetector(),
        twilio.TwilioKeyDetector(),
    ):
        yield from (Pattern(plugin.secret_type, regex, _still_finds(plugin)) for regex in plugin.denylist)
    azure = azure_storage_key.AzureStorageKeyDetector()
    yield from (Pattern(azure.secret_type, regex, _is_of_azure(azure)) for regex in azure.denylist)


def _still_finds(plugin: Any) -> Callable[[str, str], bool]:
    """Return what asks a plugin that checks what its pattern matches, as that of tokens that are JSON does."""
    return lambda found, around: any(True for _ in plugin.analyze_string(found))


def _is_of_azure(plugin: Any) -> Callable[[str, str], bool]:
    """Return what asks for Azure's name nearby: by its looks alone its key could be any checksum."""
    return lambda found, around: plugin.context_keys_exists(PotentialSecret(plugin.secret_type, "", found), around)


PATTERNS = tuple(patterns())


def pieces(json_text: str) -> list[Piece]:
    """Return the strings of a JSON text, names of members included."""
    found, at = [], 0
    for match in _SPOKEN.finditer(json_text):
        literal = match.group(1)
        text = json.loads(literal) if "\\" in literal else literal[1:-1]
        found.append(Piece(match.start(1), match.end(1), text, at, match.group(2) is not None))
        at += len(text) + 2
    return found


def hits(json_text: str, *, seconds: float = SECONDS) -> list[Hit]:
    """Return where keys and tokens stand in a JSON text, in order.

    :raises TooSlow: it takes longer than `seconds`, by at most what one pattern takes over one window.
    """
    return list(_hits(pieces(json_text), time.monotonic() + seconds))


def kinds(found: Sequence[Hit]) -> list[str]:
    """Return what was found, each kind once."""
    return list(dict.fromkeys(hit.kind for hit in found))


def _hits(spoken: Sequence[Piece], ends: float) -> Iterator[Hit]:
    # A member's name stands before its string, as in a file of settings: some keys are known by it.
    text = "".join(piece.text + (": " if piece.is_name else BETWEEN) for piece in spoken)
    seen: set[tuple[str, int]] = set()
    for begin in range(0, max(len(text) - OVERLAP, 1), WINDOW - OVERLAP):
        window = text[begin : begin + WINDOW]
        lowered, has_run = window.lower(), _RUN.search(window) is not None
        for pattern in PATTERNS:
            if time.monotonic() > ends:
                raise TooSlow
            if not pattern.may_be_in(lowered, has_run=has_run):
                continue
            for match in pattern.regex.finditer(window):
                # Some patterns take the space around a key along.
                lead = len(match.group()) - len(match.group().lstrip())
                start = begin + match.start() + lead
                hit = Hit(pattern.kind, start, start + len(match.group().strip()))
                around = text[max(0, hit.start - NEAR) : hit.end + NEAR]
                if (hit.kind, hit.start) not in seen and pattern.agrees(match.group(), around):
                    seen.add((hit.kind, hit.start))
                    yield hit


def redacted(json_text: str, found: Sequence[Hit]) -> str:
    """Return a JSON text in which each key that was found is replaced by its kind; the rest stays letter by letter."""
    parts, last = [], 0
    for piece in pieces(json_text):
        text = _struck(piece, found)
        if text != piece.text:
            parts += [json_text[last : piece.start], json.dumps(text, ensure_ascii=False)]
            last = piece.end
    return "".join([*parts, json_text[last:]])


def _struck(piece: Piece, found: Sequence[Hit]) -> str:
    """Return a string without what was found in it; a name is struck only where it is the key itself."""
    begin, end = piece.at, piece.at + len(piece.text)
    spans = [
        (max(hit.start, begin) - begin, min(hit.end, end) - begin, hit.kind)
        for hit in found
        if hit.start < end and hit.end > begin and not (piece.is_name and hit.end > end)
    ]
    text, parts, last = piece.text, [], 0
    for start, stop, kind in sorted(spans):
        if start >= last:
            parts += [text[last:start], f"[redacted: {kind}]"]
        last = max(last, stop)
    return "".join([*parts, text[last:]])
