"""The rules a set is checked by; each yields findings and knows nothing of the others."""

from collections.abc import Callable, Iterator

from evalsets.sets.check_rules.balance import BALANCE_RULES
from evalsets.sets.check_rules.corpus import CORPUS_RULES
from evalsets.sets.check_rules.finding import Context, Finding
from evalsets.sets.check_rules.items import ITEM_RULES
from evalsets.sets.check_rules.pairs import PAIR_RULES

Rule = Callable[[Context], Iterator[Finding]]

RULES: tuple[Rule, ...] = (*ITEM_RULES, *PAIR_RULES, *CORPUS_RULES, *BALANCE_RULES)

__all__ = ["RULES", "Context", "Finding", "Rule"]
