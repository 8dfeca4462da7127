"""What git says of the current folder."""

import subprocess


def current_commit() -> str:
    """Return the commit hash of the current folder's repository, or an empty text where there is none."""
    return _git("rev-parse", "HEAD")


def current_author() -> str:
    """Return the name git would sign with, or an empty text."""
    return _git("config", "user.name")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=5, check=False)  # noqa: S603, S607 - our own words, git wherever it is
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
