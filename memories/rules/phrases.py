"""The patterns by which feedback is read from words; detection.py says how they are used.

CORRECTIONS and APPROVALS are what counts, the others what makes it count for nothing. X marks where a suggestion
begins.
"""

import re
from typing import Final

_NO: Final = r"\b(?:no|nope|nah)(?:,?\s+(?:no|nope|please|sorry|actually|just))*\s*[,.;:!\u2013\u2014-]+\s*"
_SOFT: Final = r"(?:(?:please|just|always|rather|instead|actually|but|let's|lets|you should|we should),?\s+)*"
_SOMEBODY: Final = r"(?:I|we)(?:'m|'re|\s+am|\s+are)?\s+(?:(?:now|always|only|actually|usually)\s+)*"
_USE: Final = r"(?:use|using|switch\s+to|go\s+with)"

CORRECTIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_NO}{_SOFT}{_USE}\s+(?P<X>)",
        rf"{_NO}{_SOMEBODY}(?:use|using)\s+(?P<X>)",
        rf"\b{_USE}\s+(?P<X>)(?:[^\s,;!?]+\s+){{1,8}}(?:instead|rather\s+than)\b",
        rf"\binstead(?:\s+of\s+[^,;!?]+)?,\s*{_SOFT}{_USE}\s+(?P<X>)",
        r"\bprefer\s+(?:to\s+use\s+|using\s+|to\s+see\s+)?(?P<X>)",
    )
)
APPROVALS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!-)\bperfect\b(?!\s+(?:storm|square|number|hash|hashing|forward|match|tense|game|score)s?\b)(?!-)",
        r"(?<!-)\bexactly(?=\s*(?:$|[,.;!\u2013\u2014-](?!\w)|(?:right|it|that|this|so)\b|as\s+(?:I|we)\b"
        r"|(?:what|how|the\s+\w+|as)\s+(?:(?:that|which)\s+)?(?:I|we)\b))",
        r"(?:^\W*|[,.;:!\u2013\u2014-]\s*"
        r"|\b(?:yes|yeah|yep|ok|okay|thanks|thank you|and|so|cool|wow|hey|nice|indeed|great|perfect|like)\s+)"
        r"(?:that|this|it)\s+(?:really\s+|totally\s+|just\s+|actually\s+|all\s+)?"
        r"(?:worked|works|did\s+it|did\s+the\s+trick)\b",
        r"(?<!-)\bgreat\b(?!-)(?!\s+(?:deal|many|number|big|britain|wall|lakes|circle|barrier|grand\w*|depression|war)\b)",
    )
)

# Where a suggestion ends, and what cannot end or begin one.
ENDS_X: Final = frozenset({"instead", "of", "now", "over", "rather", "-", "--", "\u2013", "\u2014", "/s"})
TRAILING: Final = frozenset(
    {
        "and",
        "as",
        "at",
        "but",
        "by",
        "for",
        "from",
        "here",
        "in",
        "on",
        "please",
        "rather",
        "so",
        "than",
        "thanks",
        "to",
    }
)
NO_SUGGESTION: Final = re.compile(
    r"(?:not|it|that|this|them|those|these|him|her|whatever|whichever|whoever|anything|something|nothing|everything"
    r"|either|both|any|what|which|cases?|mine|yours|your)\b",
    re.IGNORECASE,
)

_NEGATION: Final = (
    r"(?:not|never|none|nothing|neither|nor|hardly|barely|scarcely|cannot|without|avoid|stop|stopped|\w+n't"
    r"|(?:do|ca|is|was|did|does|wo|should|are|were)nt)"
)
# What, standing before a correction in its clause, makes it none: a negation, a question put to the agent, a habit of
# somebody else; and a condition anywhere before it.
NO_CORRECTION: Final = re.compile(
    rf"\b{_NEGATION}\b|\bno\s+(?:longer|need|way|reason|point)\b|\b(?:when|whenever|why|how|which|who|what)\b"
    r"|\b(?:should|shall|can|could|do|did|may|must|would)\s+(?:I|we|they|he|she|people|users)\b"
    r"|\b(?:they|he|she|people|others?|some|many|most|users?|customers?|clients?|competitors?|everybody|everyone|nobody)\b"
    r"|\b(?:refuse[sd]?|forbid(?:s|den)?)\b",
    re.IGNORECASE,
)
CONDITION: Final = re.compile(r"\b(?:if|whether|unless|in\s+case)\b", re.IGNORECASE)
ASKS_FOR_PREFERENCE: Final = re.compile(r"\byou(?:'d|\s+would|\s+might|\s+may|\s+also|\s+really)?\s*$", re.IGNORECASE)
CLAUSE: Final = re.compile(r"[,;:]\s|\s[\u2013\u2014-]+\s|\b(?:but|so|then)\b", re.IGNORECASE)

# What, standing before or after an approval in its sentence, makes it none.
NO_APPROVAL_BEFORE: Final = re.compile(
    rf"\b{_NEGATION}\b|\bno\b|\b(?:would|could|should|might|may|will|if|whether|unless|until|once|when|hop(?:e|ed|ing)"
    r"|wish(?:ed)?|want(?:ed|s)?|need(?:ed|s)?|expect(?:ed)?|supposed|almost|nearly|less\s+than|far\s+from|too|nobody"
    r"|anything\s+but|try|tried|make|assum\w+|think\s+it|thought|claim(?:ed|s)?|says?|said|sounded|seemed|used\s+to)\b"
    r"|\w'd\b",
    re.IGNORECASE,
)
NO_APPROVAL_AFTER: Final = re.compile(
    r"\b(?:but|however|except|though|although|unfortunately|sadly|until|before|previously|yesterday|last|once|if|unless"
    r"|not|never|\w+n't|in\s+theory|on\s+paper|almost|nearly|supposedly)\b",
    re.IGNORECASE,
)
ANSWERS_NO: Final = re.compile(r"^\W*(?:no|nope|nah)\s*[,.!;:]\s*", re.IGNORECASE)
PROPER_NAME: Final = re.compile(r"(?<=\w )Great [A-Z]")
OPENS_A_QUESTION: Final = re.compile(r"\W*(?:\w+[,!]?\s+){0,2}$")

# Marks of sarcasm anywhere; bad news turns praise into irony, unless it is told as overcome.
SARCASM: Final = re.compile(
    r"(?:^|\s)/s\b|/sarcasm|\byeah,?\s+right\b|\b(?:great|perfect)\s*(?:\.\.+|\u2026)|\bthanks\s+(?:for\s+nothing|a\s+lot)\b"
    r"|\b(?:oh|yeah|well|just|how|simply)[,.]*\s+(?:that's\s+(?:just\s+)?)?(?:great|perfect)\b"
    r"|\bslow\s+clap\b|\bas\s+if\b|\bnice\s+try\b|\bjust\s+what\s+(?:I|we)\s+needed\b|\bway\s+to\s+go\b"
    r"|[\U0001f644\U0001f612\U0001f643\U0001f926\U0001f44e]",
    re.IGNORECASE,
)
BAD_NEWS: Final = re.compile(
    r"\b(?:broke\w*|breaks|breaking|fail\w*|errors?|crash\w*|wrong|bugs?|buggy|lost|deleted|wiped|stuck|worse|useless"
    r"|traceback|exception|regression|revert|undo|still|another|again|corrupt\w*|unusable|mess|disaster|outage|timeouts?)\b",
    re.IGNORECASE,
)
OVERCOME: Final = re.compile(
    r"\b(?:fix\w*|gone|solved?|resolved|pass(?:es|ed|ing)?|no\s+more|no\s+(?:errors?|failures?|bugs?|crash\w*)|without|zero)\b"
    r"|\b(?:works|working|green)\s+(?:again|now)\b",
    re.IGNORECASE,
)

# Somebody else's words: fenced, inline and indented code, commands, comments, quoted lines and quotes of all kinds.
ALIEN: Final = re.compile(
    r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)|`[^`\n]+`|^[ \t]*(?:>|//|\$ )[^\n]*$|^(?: {4}|\t)[^\n]*$"
    r"|\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|\u00ab[^\u00bb\n]*\u00bb|(?<![\w'])'[^'\n]+'(?!\w)",
    re.MULTILINE,
)
SENTENCE: Final = re.compile(r"[^\n]+?(?:[.!?\u2026]+(?=[\s)]|$)|$)", re.MULTILINE)
