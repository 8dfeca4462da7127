"""Personal details in the texts of an eval set: e-mail addresses, phone numbers, card and account numbers."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_DIGIT = re.compile(r"\d")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\w+])(?:\+\d{1,3}[ ./-]?(?:\(0?\d+\)[ ./-]?)?|\(0\d+\)[ ./-]?|0\d{2,4}[ /-])\d(?:[ ./-]?\d){5,12}(?!\w)"
)
_RESERVED_MAIL = re.compile(r"@(?:[\w-]+\.)*example(?:\.(?:com|org|net))?$|\.(?:example|invalid|test)$", re.IGNORECASE)


class PersonalDetail(NamedTuple):
    """Something that may name a person; `shown` is masked so that a report does not repeat it."""

    kind: str
    shown: str
    found: str
    """As it stands; never put this into a report."""


def find_personal_details(text: str) -> Iterator[PersonalDetail]:
    """Yield what looks like a personal detail; addresses of reserved example domains are none."""
    for match in _EMAIL.finditer(text) if "@" in text else ():
        if not _RESERVED_MAIL.search(match.group()):
            yield PersonalDetail("e-mail address", _masked(match.group()), match.group())
    if not _DIGIT.search(text):
        return
    accounts = [match.group() for match in _IBAN.finditer(text) if _is_iban(match.group())]
    yield from (PersonalDetail("account number", _masked(account), account) for account in accounts)
    cards = [match.group() for match in _CARD.finditer(text) if _passes_luhn(match.group())]
    yield from (PersonalDetail("card number", _masked(card), card) for card in cards)
    for match in _PHONE.finditer(text):
        if not any(match.group() in longer for longer in (*accounts, *cards)):
            yield PersonalDetail("phone number", _masked(match.group()), match.group())


def _masked(found: str) -> str:
    return f"{found[:2]}…{found[-2:]}"


def _passes_luhn(number: str) -> bool:
    digits = [int(letter) for letter in number if letter.isdigit()][::-1]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_iban(account: str) -> bool:
    compact = account.replace(" ", "")
    turned = compact[4:] + compact[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1
