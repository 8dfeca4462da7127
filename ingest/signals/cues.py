"""Word lists that say a user corrects, complains or asks for a person, as expressions both engines read alike."""

from collections.abc import Sequence

CORRECTION = (
    r"i (?:mean|meant|was asking|was thinking|asked|asked about|am asking|'m asking)\b",
    r"^(?:no|nope|not quite|wait|sorry|oops)\b ?[,.!;:-]",
    r"^(?:no|oops|sorry) (?:i|that|it|not)\b",
    r"\b(?:rephrase|reword|in other words|to be clear|to clarify|let me (?:explain|clarify|be clearer))\b",
    r"\b(?:correction|typo)\b",
    r"\bnot (?:what|the one) i (?:asked|meant|wanted|need)",
    r"\b(?:ich meinte|ich meine|je veux dire|je voulais dire|quise decir|me refiero|intendevo|quis dizer|ik bedoel)",
)
"""The user says that the question was misread, or mends it."""

DOUBT = (
    r"^(?:so|then)?,? ?(?:are you|do you mean|you mean|you say|you said|what do you mean|did you say|you give)\b",
    r"^(?:so,? )?(?:is|are) (?:that|those|these|this) (?:all|it|the only|correct|right|true|everything)\b",
    r"\b(?:are you sure|is that (?:right|correct|true)|check (?:again|one more time|once more)|double.check)\b",
    r"\bi(?: am|'m)(?: a (?:little|bit))?(?: not sure i (?:understand|follow)| confused|,? i'm lost)\b",
    r"\bi (?:don't|do not|didn't) (?:understand|follow|get it)\b",
    r"\b(?:i (?:heard|read|saw|think i saw)|i was told)\b",
    r"\b(?:my|a) (?:friend|neighbou?r|colleague)s? (?:says|said|told|has)\b",
    r"^(?:but|however|actually|really|are you saying)\b",
    r"^(?:isn't|aren't|doesn't|don't|wasn't|weren't|didn't|can't|couldn't|won't|shouldn't)\b",
    r",? (?:correct|right|isn't it|aren't they|didn't they|doesn't it|is it not)\s?\?+$",
    r"^what ?\?",
)
"""The user questions the answer or asks what was meant by it."""

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
