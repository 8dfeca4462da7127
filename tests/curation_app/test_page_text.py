import html
import re

from hypothesis import given
from hypothesis import strategies as st

from curation_app.components.page_text import markdown_text, marked_html, plain_line, safe_html


@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_becomes_html_without_markup_or_invisible_controls_of_its_own(text: str) -> None:
    shown = safe_html(text).removeprefix("<bdi>").removesuffix("</bdi>")
    assert "<" not in shown
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00]", shown)
    shown.encode("utf-8")


@given(st.text(max_size=200))
def test_marking_words_changes_no_letter(text: str) -> None:
    words = {"q": frozenset({"refund", "days"})}
    shown = marked_html(text, words).removeprefix("<bdi>").removesuffix("</bdi>")
    assert re.sub(r"</?mark[^>]*>", "", shown) == safe_html(text).removeprefix("<bdi>").removesuffix("</bdi>")


def test_the_first_class_that_knows_a_word_marks_it() -> None:
    shown = marked_html("30 Days", {"f": frozenset({"days"}), "q": frozenset({"days", "30"})})
    assert shown == '<bdi><mark class="q">30</mark> <mark class="f">Days</mark></bdi>'


def test_a_long_text_is_cut_and_says_so() -> None:
    shown = safe_html("x" * 5_000_000)
    assert len(shown) < 4000
    assert "3,000 of 5,000,000 characters shown" in html.unescape(shown)


def test_a_line_for_a_table_or_markdown_carries_no_markup() -> None:
    assert plain_line("a\n b\t\u202ec", 20) == "a b [U+202E]c"
    assert markdown_text("![x](http://y) `:bug:` $1$") == r"\!\[x\]\(http\:\/\/y\) \`\:bug\:\` \$1\$".replace(
        r"\/", "/"
    )
