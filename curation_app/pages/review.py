"""The Review page: how far two readers agree, where they differ, and who settled it why."""

import streamlit as st

from curation_app import session_keys
from curation_app.components.identity import current_reviewer
from curation_app.components.review_view import show_agreement, show_disagreement
from curation_app.service.labelling import open_desk
from curation_app.service.reviewing import agreement_report, disagreements, reading_pairs
from curation_app.workspace import app_workspace


def main() -> None:
    """Draw the agreement, then the first disagreement that is open."""
    desk = open_desk(app_workspace())
    st.write("What two people said about the same item, each without seeing the other's label.")
    pairs = reading_pairs(desk.store) if desk.workspace.review_path.exists() else []
    if not pairs:
        share = desk.store.double_label_share
        st.info(
            "No item has two readers yet. "
            + ("Ask a second person to open the Label page." if share else "Set `reviewers = 2`, or ")
            + ("" if share else "`double_label_share = 0.2`, under `[review]` in errata.toml.")
        )
        return
    session_keys.show_problem()
    show_agreement(agreement_report(pairs))
    open_ones = disagreements(desk.store, pairs)
    if not open_ones:
        st.success("Every disagreement is settled. Next: the Freeze page.")
        return
    st.subheader(f"{len(open_ones)} to settle")
    show_disagreement(desk, current_reviewer(), open_ones[0])


main()
