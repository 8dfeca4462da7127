"""Who is reviewing: from the login when one is configured, else a name asked once and remembered by the browser."""

from typing import Any

import streamlit as st

from curation_app.session_keys import forget_reviewer, is_asked_again, remember_reviewer, reviewer_name, widget_value

_COOKIE = "errata_reviewer"
_NAME_FIELD = "reviewer-name"
_MAX_NAME = 60


def current_reviewer() -> str:
    """Return the reviewer's name; empty when it has to be asked for first."""
    if has_login():
        return str(st.user.get("email") or st.user.get("name") or "") if st.user.is_logged_in else ""
    if not reviewer_name() and not is_asked_again():
        remembered = st.context.cookies.get(_COOKIE, "")
        if remembered:
            remember_reviewer(_tidy(_unquoted(remembered)))
    return reviewer_name() or ("" if is_asked_again() else _tidy(str(st.user.get("email") or "")))


def has_login() -> bool:
    """Whether OIDC is configured in Streamlit's secrets."""
    try:
        return "auth" in st.secrets
    except (FileNotFoundError, KeyError):
        return False


def ask_reviewer() -> None:
    """Show the form that asks who is reviewing, or the login button."""
    st.header("Who is reviewing?")
    if has_login():
        st.button("Log in", type="primary", on_click=st.login)
        return
    st.write("Your name stands on every label you make. It is asked once and remembered in this browser.")
    with st.form("who", width=420):
        st.text_input("Your name", key=_NAME_FIELD, max_chars=_MAX_NAME)
        st.form_submit_button("Start", type="primary", on_click=_keep_name)


def change_reviewer() -> None:
    """Offer to log out, or to give another name, to whoever sits down next."""
    if has_login():
        st.button("Log out", type="tertiary", on_click=st.logout)
    else:
        st.button(f"Not {current_reviewer()}? Give another name", type="tertiary", on_click=forget_reviewer)


def keep_in_browser(name: str) -> None:
    """Remember the name in this browser for a year."""
    if name and not has_login():
        _cookie_writer()(key="reviewer-cookie", data={"name": _COOKIE, "value": name}, height=1)


def _keep_name() -> None:
    remember_reviewer(_tidy(str(widget_value(_NAME_FIELD) or "")))


def _tidy(name: str) -> str:
    return " ".join(name.split())[:_MAX_NAME]


def _unquoted(value: str) -> str:
    from urllib.parse import unquote

    return unquote(value)


def _cookie_writer() -> Any:
    script = """
    export default function ({ data }) {
      const value = encodeURIComponent(data.value);
      if (!document.cookie.includes(data.name + "=" + value)) {
        document.cookie = `${data.name}=${value}; max-age=31536000; path=/; SameSite=Lax`;
      }
    }
    """
    return st.components.v2.component("errata.reviewer_cookie", js=script)
