"""Word lists that say a user corrects, complains or asks for a person, as expressions both engines read alike."""

from collections.abc import Sequence

from ingest.signals.cues_by_language import OTHER_COMPLAINTS, OTHER_CORRECTIONS, OTHER_HAND_OFFS

CORRECTION = (
    r"\bi (?:just |only |actually |really )?(?:mean|meant)\b",
    r"^(?:sry|sorry|oh|oops|rather|actually)?,? ?(?:meant|i'd meant)\b",
    r"^(?:no|nope|nah|sorry|sry|oops|not quite|not exactly|wait,? no)\b ?[,.!;:-]",
    r"^(?:no|oops|sorry) (?:i|that|it|not|no)\b",
    r"\bi(?:'m| am| was)(?: \w+)? (?:asking|talking about|referring to)\b",
    r"\bi was (?:\w+ )?(?:thinking (?:of|about)|looking for)\b",
    r"\bi (?:already )?asked\b",
    r"\b(?:rephrase|reword|in other words|correction|typo|to clarify|put (?:it )?differently)\b",
    r"\blet me (?:clarify|explain|put it|try again)\b",
    r"\bnot (?:what|the one) i (?:asked|meant|wanted|need)",
    r"^not (?:the|a|an|my|that|for|in|about|just|only) ",
    r"\bwhat i (?:wanted|want|need|needed|meant|was asking|am asking)(?: to know)?(?: is| was|,)",
    r"\bmy (?:actual |real )?question (?:was|is)\b",
    r"^wrong \w+|^\*\w+|^i\.e\.",
    *OTHER_CORRECTIONS,
)
"""The user mends the question or says that it was misread."""

_NOT = r"(?:is|are|does|do|was|were|did|ca|could|wo|would|should|have|has)n't"
_IT = r"(?:it|they|there|that|this|these|those|he|she|you|i|we)\b"
_THAT = r"(?:that|this|it|those|these|they)"
_CANNOT = r"(?:don't|do not|didn't|did not|can't|cannot)"
DOUBT = (
    r"\b(?:do|did) you (?:mean|say)\b",
    r"\bwhat (?:do|did|does) (?:you|it|that|this) mean\b",
    r"\bare you (?:saying|sure)\b",
    r"\byou (?:sure|just said|say|said|mean|meant|told me|gave me|give me an?)\b",
    r"\byou (?:misunder|misread|misheard|missed|forgot|ignored|skipped|left out|got \w+ wrong|contradict)",
    r"\byou are (?:wrong|mistaken|contradicting)\b",
    r"\byou (?:did|have)(?: not|n't) (?:answer|understand|understood|explain|address|mention|include|list)",
    rf"(?:^|[.,;!?] )(?:so |but |and |then |well |hmm,? )*{_NOT} {_IT}|^(?:but|so|then|hmm|wait),? {_NOT} ",
    rf", {_NOT} (?:it|they|he|she|you)\s?\?",
    r"\b(?:correct|right|true)\s?\?+\s*$",
    rf"\b(?:is|are|was|were) {_THAT} (?:really |actually |still )?(?:all\b|the only|it\s?\?|everything|up.to.date)",
    rf"\b(?:is|are|was|were) {_THAT} (?:really |actually |still )?accurate",
    rf"\b(?:is|are|was|were) {_THAT} (?:really |actually |still )?(?:correct|right|true)(?: that\b|\s?[?,.])",
    rf"\b{_THAT} (?:do|does|did|can|could)(?:n't| not|not) (?:sound|seem|look|be) |\b{_THAT} (?:can't|cannot) be ",
    rf"\b{_THAT}(?:'s| is| was)(?:n't| not) (?:true|right|correct|what|how|possible|the case)\b|\bcontradicts?\b",
    r"\bi (?:do not|don't) (?:think|believe) (?:so\b|that's|that is|it's|it is|this is)",
    r"\bi (?:disagree|do not agree|don't agree)\b",
    r"^but (?:the|they|it|that|this|you|i (?:heard|read|thought|saw|was)|my|his|her|their|our) ",
    r"\b(?:i'm|i am|i'm still|i am still)(?: \w+){0,3} (?:lost|confused|puzzled)\b",
    r"\bdoesn't make sense\b",
    r"\bnot clear to me\b",
    rf"\b{_THAT}(?:'s| is| are) (?:\w+ )?(?:confusing|unclear|not clear)\b",
    r"\bnot sure (?:i (?:understand|follow|get)|what (?:you|that|this|a|an|it)|if i (?:understand|get)|how that)",
    rf"\b{_CANNOT} (?:understand|get (?:it|that|this)|see (?:how|why) |follow(?: you| that| this)?\s?(?:[.,!?;]|$))",
    r"\bi (?:have |'ve )?(?:heard|thought|think i saw)\b",
    r"\bi was (?:told|taught) (?:that|it|its|this|there|you|they|the|by|otherwise|elsewhere|differently)",
    r"\bi read (?:that|somewhere|elsewhere)\b",
    r"\b(?:he|she|friend|neighbou?r|boss|colleague) (?:says?|said|tells?|told)\b",
    r"\b(?:website|site|article) (?:says?|said|states?)\b",
    r"\btold me\b",
    r"\b(?:check|look|search|try|explain (?:that|this|it)|say (?:that|it)) (?:again|one more time|once more)\b",
    r"\bdouble.check\b",
    r"\bone more time\b",
    r"\b(?:simpler|plain|other|more detailed) (?:words|terms)\b",
    r"\bwhere (?:did|do) you (?:get|find|read|see) (?:that|this|it)\b",
    r"\b(?:how do you know(?: that| this|\s?[?.])|what makes you (?:say|think)|why (?:do|did|would) you (?:say|claim))",
    r"\baccording to (?:who|whom|what)\b",
    r"\bi (?:want|need|would like|just want) to (?:confirm|verify|make sure (?:i|we|it's|this is|that's))\b",
    r"\b(?:can|could) you (?:please )?(?:(?:confirm|verify) (?:that|this|it|if|whether)|clarify)\b",
    r"\b(?:be )?more (?:specific|concrete|precise)\b",
    r"^(?:what|huh|eh|pardon) ?[?!]|\breally ?\?",
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
    *OTHER_COMPLAINTS,
)
"""The user says that the answer is wrong, missing or beside the point."""

_PERSON = r"(?:human|person|agent|someone|somebody|representative|advisor|operator|colleague|support)"
HAND_OFF = (
    rf"\b(?:talk|speak|chat|connect me|get me|put me through|transfer me|escalate)(?: \w+){{0,3}} {_PERSON}\b",
    r"\b(?:real|actual|live) (?:human|person|agent|support)\b",
    r"\b(?:human|live) (?:agent|support|help)\b",
    r"\b(?:call|phone|contact) (?:your )?(?:support|customer service|helpdesk|help desk)\b",
    *OTHER_HAND_OFFS,
)
"""The user asks for a person."""

ANY_CUE = (*CORRECTION, *DOUBT, *COMPLAINT, *HAND_OFF)


def expression(patterns: Sequence[str]) -> str:
    """Join patterns into one case-blind expression that finds any of them, for SQL, Java and Python alike.

    Java and Python try one alternative after the other wherever a match could begin: those that begin a text or a word
    are tried only there.
    """
    groups: dict[str, list[str]] = {"^": [], _WORD: [], "": []}
    for pattern in patterns:
        start = next(start for start in groups if pattern.startswith(start))
        groups[start].append(f"(?:{pattern.removeprefix(start).replace(_STRAIGHT, _EITHER)})")
    return "(?i)" + "|".join(f"{start}(?:{'|'.join(group)})" for start, group in groups.items() if group)


_WORD = r"\b"
_STRAIGHT, _EITHER = "'", "['\u2019]"
