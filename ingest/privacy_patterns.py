"""What personal data and secrets look like in text, and the checks that tell them from other numbers."""

import ipaddress
import re

LEAST_DIGITS = 7
_MOST_DIGITS = 15
_LONGEST_NATIONAL = 11
ID_KEY = re.compile(
    r"(?:^|[._-])(?:id|ids|uuid|guid|hash|time|timestamp|nano|at|on|ns|ms|count|version)$|Id$|At$|Nano$|Time$",
    re.IGNORECASE,
)
"""Keys whose values are ids, times or counts, which look like phone and card numbers and are none."""

_KEYS = r"""
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
  | \b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}
  | \b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,})
  | \b(?:xox[abeprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|(?:AKIA|ASIA)[A-Z0-9]{16}|ya29\.[A-Za-z0-9_-]{20,})
  | \b(?:SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{32,})
  | \b(?:whsec_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{40,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,})
  | (?<=\b[Bb]earer\ )[A-Za-z0-9._~+/-]{16,}=*
  | (?<=\b[Bb]asic\ )[A-Za-z0-9+/]{16,}=+
  | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)
"""
_ASSIGNED = r"""
    \b(?:api[_-]?key|apikey|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|account[_-]?key|password|passwd|pwd)
    ["']?\s*(?:[:=]|\bis\b(?=\s*\S*\d))\s*["']?(?!\[SECRET_)(?P<assigned>[^\s"',;]{6,})
"""
_EMAIL = r"(?<![\w.+-])[\w.+%-]{1,64}@(?:[\w-]{1,63}\.)+[^\W\d_]{2,24}(?![\w-])"
_IBAN = r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,4})?\b"
_IP = r"""
    (?<![\w.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\w]|\.\d)
  | (?<![\w:])(?:[0-9A-Fa-f]{1,4}:){2,7}(?::?[0-9A-Fa-f]{1,4}){1,7}(?![\w:])
  | (?<![\w:])(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}(?![\w:])
  | (?<![\w:])::(?:[0-9A-Fa-f]{1,4}:){0,6}[0-9A-Fa-f]{1,4}(?![\w:])
"""
_NUMBER = (
    r"(?<![\w.,:/-])(?:\+|\(\+?)?\d"
    r"(?:[\d]|[ ()./-](?=[\d(+])|\)[ ]?(?=\d)|[ ][(-](?=\d)|[-]\ (?=\d)){5,28}"
    r"\d(?![\w]|[.,]\d)"
)
FINDER = re.compile(
    rf"(?P<secret>{_KEYS})|(?i:{_ASSIGNED})|(?P<email>{_EMAIL})|(?P<iban>{_IBAN})|(?P<ip>{_IP})|(?P<digits>{_NUMBER})",
    re.VERBOSE,
)
"""Every find in one pass; `digits` and `iban` and `ip` need the checks below."""

_JOINT = "[ ()./-]{0,2}"
HINT_PATTERN = (
    rf"@[\w-]+\.|\d{_JOINT}(?:\d{_JOINT}){{5}}\d|\d\.\d{{1,3}}\.\d|[0-9A-Fa-f]:[0-9A-Fa-f:]*:[0-9A-Fa-f]|::[0-9A-Fa-f]"
    r"|[0-9A-Fa-f]::[0-9A-Fa-f]|\bSG\.|npm_|pypi-|whsec_|dop_v1_|shp[acps][ats]_"
    r"|eyJ|\b[sprk]k[-_]|_pat|gh[pousr]_|glpat-|hf_|xox[abeprs]-|AIza|AKIA|ASIA|ya29|PRIVATE KEY|[Bb]earer |[Bb]asic "
    r"|://[^ /]+@"
    r"|(?i:(?:key|token|secret|password|passwd|pwd)[\"']?\s*(?:[:=]|is\s+\S*\d))"
    r"|(?i:(?:account|acct|konto|kunden|customer|card|karte)\D{0,30}\d[\d -]{4,}\d)"
    r"|\b[A-Z]{2}\d{2} ?[A-Z0-9]{4}"
)
HINT = re.compile(HINT_PATTERN)
"""A text without a match holds nothing that FINDER finds: one look (by RE2 for whole columns) spares the long one."""

_ACCOUNT_WORD = re.compile(r"(?:account|acct|konto|kunden|customer|iban|card|karte)[\w .:#-]{0,24}$", re.IGNORECASE)
_PHONE_WORD = re.compile(r"(?:phone|tel|call|mobile|fax|whatsapp|handy|telefon|ruf)\w*[\w .:#-]{0,20}$", re.IGNORECASE)
_DATE_LIKE = re.compile(
    r"^(?:19|20)\d\d[-./ ](?:0?[1-9]|1[0-2])[-./ ]\d{1,2}(?:\D|$)|^(?:19|20)\d\d ?[-./] ?\d"
    r"|^\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d(?:\D|$)"
)
DECIMAL = re.compile(r"^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$")
"""A plain number, which is no telephone number unless its digits alone are."""
_CARD = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[0689]\d{12}|35\d{14}"
    r"|6\d{15}(?:\d{3})?|5[06-9]\d{14}"
)
"""Lengths and first digits of Visa, Mastercard, American Express, Diners, JCB, Discover, UnionPay and Maestro."""
_CARD_GROUPS = ([4, 4, 4, 4], [4, 6, 5], [4, 6, 4], [4, 4, 4, 4, 3])
_SECTION_WORD = re.compile(
    r"(?:\bv|version|ver|release|rev|build|section|sec|chapter|clause|paragraph|para|step|kapitel|abschnitt|ziffer|§+)"
    r"[.:]?\s*$",
    re.IGNORECASE,
)
_RELEASE_WORD = re.compile(r"\s+(?:release|version|build|update)\b", re.IGNORECASE)
_AREA_AND_NUMBER = re.compile(r"0\d{2,5}[/]\s?\d{4,9}$")
"""As Germans write a telephone number."""
DIALLED = re.compile(r"(?<![\w+])\+(\d{8,15})(?!\w)")
"""A telephone number as programs write it (E.164)."""
_FRACTION = re.compile(r"^\d+\.\d+$")
_GROUPED = re.compile(r"^\(?\+?\d{1,4}(?:[ ()./-]{1,2}\d{1,7}){1,6}$|^\(\d{2,5}\)[ -]?\d{2,}")
_BOOK_WORD = re.compile(r"(?:ISBN|ISSN|EAN|GTIN|DOI|version)[\w .:-]{0,8}$", re.IGNORECASE)


def passes_luhn(digits: str) -> bool:
    """Whether a run of digits has the check digit of a payment card (ISO/IEC 7812)."""
    doubled = [int(digit) for digit in reversed(digits)]
    total = sum(digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(doubled))
    return total % 10 == 0 and len(set(digits)) > 1


def is_iban(found: str) -> bool:
    """Whether an account number has the check digits of ISO 13616."""
    compact = found.replace(" ", "").upper()
    moved = compact[4:] + compact[:4]
    shortest = 15
    return len(compact) >= shortest and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def is_card(found: str, digits: str) -> bool:
    """Whether a number is as long, begins and is grouped as payment cards are, and has their check digit."""
    sizes = [len(group) for group in re.findall(r"\d+", found)]
    is_grouped = sizes in _CARD_GROUPS or len(sizes) == 1
    return is_grouped and _CARD.fullmatch(digits) is not None and passes_luhn(digits) and not is_epoch(found)


def is_ip(found: str, before: str, after: str) -> bool:
    """Whether a text is an IPv4 or IPv6 address, and not the number of a version or a section."""
    try:
        ipaddress.ip_address(found)
    except ValueError:
        return False
    if ":" in found:
        return any(char.isdigit() for char in found)
    return not (_SECTION_WORD.search(before) or _RELEASE_WORD.match(after))


def is_epoch(found: str) -> bool:
    """Whether a run of digits is most likely a time since 1970."""
    return found.isdigit() and found[:2] in ("15", "16", "17", "18", "19") and len(found) in (10, 13, 16, 19)


def follows_account_word(before: str) -> bool:
    """Whether the text before a number says that it is an account number."""
    return _ACCOUNT_WORD.search(before) is not None


def is_phone(found: str, digits: str, before: str) -> bool:
    """Whether a grouped or announced run of digits is a telephone number, not a date or a total."""
    if not LEAST_DIGITS <= len(digits) <= _MOST_DIGITS or _DATE_LIKE.match(found) or is_epoch(found):
        return False
    if _BOOK_WORD.search(before) or _FRACTION.match(found):
        return False
    if found.startswith(("+", "(+", "(0")) or _PHONE_WORD.search(before):
        return True
    if found.isdigit():
        national = 9
        return found.startswith("0") and len(digits) >= national
    if _AREA_AND_NUMBER.match(found):
        return True
    return bool(_GROUPED.match(found)) and "/" not in found[1:] and _looks_dialled(found)


def _looks_dialled(found: str) -> bool:
    """Whether an unannounced number without a country code has the groups of a telephone number."""
    sizes = [len(group) for group in re.findall(r"\d+", found)]
    area = 3
    if found.startswith("0"):
        return max(sizes) >= area
    if sum(sizes) > _LONGEST_NATIONAL or sizes[-1] < area or (sizes[0] > area and sizes != [4, 4]):
        return False
    is_thousands = all(size == area for size in sizes[1:]) and sizes[0] <= area and found[-4] in ". "
    return not is_thousands
