"""The people of the sample week: how each of them types."""

import random
from typing import Literal, NamedTuple

Style = Literal["tidy", "lower", "hurried", "shouting"]


class Persona(NamedTuple):
    """One customer; the same person may come back with another session."""

    user_id: str
    style: Style
    channel: str
    is_practice: bool
    slip: random.Random

    def types(self, text: str) -> str:
        """Return `text` as this person would type it."""
        if self.style == "lower":
            return text.lower().rstrip(".?")
        if self.style == "hurried" and self.slip.random() < 0.45:  # noqa: PLR2004 - slips are frequent, not certain
            return _with_slip(text.lower(), self.slip)
        if self.style == "shouting":
            return text + "!!"
        return text


def invent_persona(rng: random.Random) -> Persona:
    """Draw one customer."""
    styles: tuple[Style, ...] = ("tidy", "lower", "hurried", "shouting")
    return Persona(
        user_id=f"u-{rng.getrandbits(24):06x}",
        style=rng.choices(styles, weights=(62, 18, 17, 3))[0],
        channel=rng.choices(("web", "app", "email"), weights=(70, 24, 6))[0],
        is_practice=rng.random() < 0.2,  # noqa: PLR2004 - one customer in five
        slip=random.Random(rng.getrandbits(32)),  # noqa: S311 - an imagined typist, not a secret
    )


def _with_slip(text: str, slip: random.Random) -> str:
    words = text.split(" ")
    long_words = [place for place, word in enumerate(words) if len(word) > 4]  # noqa: PLR2004 - short words are safe
    if not long_words:
        return text
    place = slip.choice(long_words)
    word, at = words[place], slip.randrange(1, len(words[place]) - 1)
    doubled, dropped = word[: at + 1] + word[at:], word[:at] + word[at + 1 :]
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    words[place] = slip.choice((doubled, dropped, swapped))
    return " ".join(words)
