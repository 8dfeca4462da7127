"""Every command of the pages in docs/ runs as it stands, in the order of the steps."""

import re
from pathlib import Path

import pytest

from tests.test_readme import run_as_user, shell_blocks

DOCS = Path(__file__).resolve().parents[1] / "docs"
STEPS = sorted(DOCS.glob("[1-9]-*.md"))
LINK = re.compile(r"\]\((?P<target>[^)#]+)\)")

pytestmark = pytest.mark.xdist_group("docs")


def test_there_is_a_page_for_each_step_and_each_leads_to_the_next() -> None:
    assert [page.name[0] for page in STEPS] == [str(number) for number in range(1, 9)]
    for page, following in zip(STEPS, [*STEPS[1:], STEPS[0]], strict=True):
        assert f"({following.name})" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", STEPS, ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for match in LINK.finditer(page.read_text(encoding="utf-8")):
        assert "://" in match["target"] or (page.parent / match["target"]).exists(), match["target"]


def test_the_steps_run_one_after_the_other_on_the_sample(tmp_path: Path) -> None:
    folder = tmp_path
    for page in STEPS:
        for block in shell_blocks(page):
            done = run_as_user(block, folder)
            assert done.returncode == 0, f"{page.name}: {block}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            folder = tmp_path / "helpdesk"
