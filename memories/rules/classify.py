"""Whether an entry is an artifact (a working file) rather than a finding (contract.md 3.10)."""

import re

import msgspec

_FILE_NAME = re.compile(
    r"\.(?:tsx?|jsx?|mjs|cjs|py|go|rs|java|rb|php|cc?|cpp|h|hpp|cs|s?css|less|html?|vue|svelte|json|ya?ml|toml|ini"
    r"|xml|mdx?|rst|sql|sh|bash|zsh|swift|kts?|scala|dart|lua|r|pl|proto|gradle)\s*\Z",
    re.IGNORECASE,
)
_SHORTEST = 24
_HEAD = 4096
_WEAK_NEEDED = 2

# One of these is enough: prose does not begin a line so. Prose about code is common, so a marker counts only at the
# start of a line, and a keyword only with what follows it in a program ("import pandas" and nothing more).
_STRONG = re.compile(
    r"""\A\#!\S
    | ^[ \t]*(?:
        (?:async[ ]+)?def[ ]+\w+[ ]*\(
      | class[ ]+\w+(?:[ ]*\([^)\n]*\))?[ ]*:[ \t]*$
      | (?:export[ ]+)?(?:default[ ]+)?(?:abstract[ ]+|final[ ]+|public[ ]+)?class[ ]+\w+[^\n.]*\{[ \t]*$
      | (?:export[ ]+)?(?:default[ ]+)?(?:async[ ]+)?function[ ]*\*?[ ]*\w*[ ]*\(
      | export[ ]+(?:const|let|var|type|interface|enum)[ ]+\w+
      | export[ ]+default[ ]+[\w{(\[]+;?[ \t]*$
      | from[ ]+[\w.]+[ ]+import[ ]+[\w(*]
      | import[ ]+[\w.*]+(?:[ ]+as[ ]+\w+)?(?:,[ ]*[\w.]+)*[ ]*;?[ \t]*$
      | import[ ]+[^\n]+[ ]from[ ]+['"]
      | import[ ]+['"]
      | \#include[ ]*[<"]
      | package[ ]+[\w.]+;?[ \t]*$
      | (?:public|private|protected)[ ]+(?:static[ ]+)?[\w<>\[\]]+[ ]+\w+[ ]*\(
      | func[ ]+(?:\([^)\n]*\)[ ]*)?\w+[ ]*\(
      | (?:pub[ ]+)?fn[ ]+\w+[ ]*[(<]
      | (?i:create[ ]+(?:or[ ]+replace[ ]+)?(?:table|view|function)[ ]+(?:if[ ]+not[ ]+exists[ ]+)?[\w."]+[ ]*\()
      | <!(?i:doctype)[ ]
      | <\?(?:xml|php)\b
    )""",
    re.MULTILINE | re.VERBOSE,
)
# These turn up in prose as well, so two lines must carry one.
_WEAK = re.compile(
    r"""^[ \t]*(?:
        /\* | \*/
      | </?[A-Za-z][\w.-]*(?:\s|/?>)
      | (?:const|let|var)[ ]+\w+[ ]*=
      | console\.\w+[ ]*\(
      | (?:\w+[ ]*=[ ]*)?require[ ]*\(
      | \)[ ]*=>
      | [})\]];?[ \t]*$
      | @\w+(?:\([^\n]*\))?[ \t]*$
      | (?:if|for|while|switch)[ ]*\([^\n]*\)[ ]*\{[ \t]*$
      | return\b[^\n]*;[ \t]*$
      | [\w.]+[ ]*=[ ]*[^\n=]+;[ \t]*$
    )""",
    re.MULTILINE | re.VERBOSE,
)


def is_artifact(key: str, json_text: str) -> bool:
    """Tell whether a key names a source or configuration file, or a string value (JSON text) reads like code."""
    return _FILE_NAME.search(key) is not None or _reads_like_code(json_text)


def _reads_like_code(json_text: str) -> bool:
    if not json_text.startswith('"') or len(json_text) < _SHORTEST:
        return False
    text = msgspec.json.decode(json_text, type=str).strip()
    if len(text) < _SHORTEST:
        return False
    head = text[:_HEAD]
    return bool(_STRONG.search(head)) or len(_WEAK.findall(head)) >= _WEAK_NEEDED
