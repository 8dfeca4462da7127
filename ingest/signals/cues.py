"""Word lists that say a user corrects, complains or asks for a person, as expressions both engines read alike."""

from collections.abc import Sequence

CORRECTION = (
    r"\bi (?:just |only |actually |really )?(?:mean|meant)\b",
    r"^(?:no|nope|sorry|oops|not quite|not exactly|wait,? no)\b ?[,.!;:-]",
    r"^(?:no|oops|sorry) (?:i|that|it|not)\b",
    r"\bi(?:'m| am| was)(?: \w+)? (?:asking|talking about|referring to)\b",
    r"\bi (?:already )?asked\b",
    r"\b(?:rephrase|reword|in other words|correction|typo|to clarify|let me (?:clarify|explain))\b",
    r"\bnot (?:what|the one) i (?:asked|meant|wanted|need)",
    r"\b(?:ich meinte|ich meine|je veux dire|je voulais dire|quise decir|me refiero|intendevo|quis dizer|ik bedoel)\b",
)
"""The user mends the question or says that it was misread."""

_NOT = r"(?:is|are|does|do|was|were|did|ca|could|wo|would|should|have|has)n't"
_IT = r"(?:it|they|there|that|this|these|those|he|she|you|i|we)\b"
DOUBT = (
    r"\b(?:do|did) you (?:mean|say)\b",
    r"\bwhat (?:do|did|does) (?:you|it|that|this) mean\b",
    r"\bare you (?:saying|sure)\b",
    r"\byou (?:sure|just said|say|said|mean|meant|told me|gave me|give me an?)\b",
    rf"(?:^|[.,;!?] )(?:so |but |and |then |well |hmm,? )*{_NOT} {_IT}",
    rf", {_NOT} (?:it|they|he|she|you)\s?\?",
    r"\b(?:correct|right|true)\s?\?+\s*$",
    r"\b(?:is|are|was|were) (?:that|those|these|this|they|it) (?:all|the only|it|everything|correct|right|true)\b",
    r"\b(?:confused|confusing|doesn't make sense|not clear|unclear|not sure (?:i|what|if i))\b",
    r"\b(?:don't|do not|didn't|did not|can't|cannot) (?:understand|follow|get (?:it|that|this))\b",
    r"\bi (?:have |'ve )?(?:heard|thought|was told|think i saw)\b",
    r"\bi read (?:that|somewhere|elsewhere)\b",
    r"\b(?:he|she|friend|neighbou?r|boss|colleague|website|site|article) (?:says?|said|tells?|told)\b|\btold me\b",
    r"\b(?:check|look|search|try) (?:again|one more time|once more)\b|\bdouble.check\b|\bone more time\b",
    r"\bi (?:want|need|would like|just want) to (?:confirm|verify|make sure)\b",
    r"\b(?:can|could) you (?:please )?(?:confirm|verify|clarify)\b",
    r"\b(?:be )?more (?:specific|concrete|precise)\b",
    r"^what ?[?!]|\breally ?\?",
)
"""The user questions the answer, or asks what was meant by it."""

_FOLLOWING_ON_TEXT = """
another other others else next besides also too example examples difference compare compared vs versus
advantage advantages first best famous
"""
FOLLOWING_ON = frozenset(_FOLLOWING_ON_TEXT.split())
"""Words of a user who goes on from an answer that served: a follow-up, not a rephrase."""

INTERJECTIONS = frozenset("and ok okay so thanks great interesting oh yes hmm hm well".split())  # noqa: SIM905 - a list of words reads best as words
"""Words that may open a question without being a part of it."""

COMPLAINT = (
    r"\b(?:that|this|it)(?: is|'s| was) (?:not (?:right|correct|true|helpful|what)|wrong|incorrect|useless|no help)\b",
    r"\b(?:that|this|it|you) (?:does ?n(?:o|')t|did ?n(?:o|')t|do ?n(?:o|')t) (?:help|work|answer|make sense)",
    r"\b(?:wrong|bad|useless|terrible|not a good) answer\b",
    r"\bnot (?:what|the one) i (?:asked|meant|wanted|was looking)",
    r"\bstill (?:not|does ?n(?:o|')t|did ?n(?:o|')t|no)\b",
    r"\byou (?:did ?n(?:o|')t|have ?n(?:o|')t|never) (?:answer|read|understand)",
    r"\bi (?:already )?asked (?:for|about|how|what|when|you)\b",
    r"\b(?:you are wrong|you're wrong|makes no sense|not helpful)\b",
    r"\b(?:das stimmt nicht|das ist falsch|c'est faux|ce n'est pas|no es correcto|eso no es)\b",
    r"\b(?:non è corretto|não está certo|dat klopt niet)\b",
)
"""The user says that the answer is wrong, missing or beside the point."""

_PERSON = r"(?:human|person|agent|someone|somebody|representative|advisor|operator|colleague|support)"
HAND_OFF = (
    rf"\b(?:talk|speak|chat|connect me|get me|put me through|transfer me|escalate)(?: \w+){{0,3}} {_PERSON}\b",
    r"\b(?:real|actual|live) (?:human|person|agent|support)\b",
    r"\b(?:human|live) (?:agent|support|help)\b",
    r"\b(?:call|phone|contact) (?:your )?(?:support|customer service|helpdesk|help desk)\b",
    r"\bmit (?:einem|einer) (?:mensch|mitarbeiter)",
    r"\bparler à (?:un|une) (?:humain|personne|conseiller)",
    r"\bhablar con (?:una persona|un agente)",
    r"\bparlare con un operatore",
    r"\bfalar com (?:um atendente|uma pessoa)",
    r"\been medewerker spreken",
)
"""The user asks for a person."""


def expression(patterns: Sequence[str]) -> str:
    """Join patterns into one case-blind expression that finds any of them, for SQL, Java and Python alike."""
    return "(?i)" + "|".join(f"(?:{pattern.replace(_STRAIGHT, _EITHER)})" for pattern in patterns)


_STRAIGHT, _EITHER = "'", "['\u2019]"
