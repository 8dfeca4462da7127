"""One hue and one shape for each failure mode, the same on every page and chart."""

from evalsets.items import Mode

MODE_SHAPES = {
    Mode.RETRIEVAL_MISS: "■",
    Mode.GROUNDING_FAILURE: "▲",
    Mode.REFUSAL: "●",
    Mode.OUT_OF_SCOPE: "◆",
    Mode.CONTROL: "○",
}
MODE_COLOURS = {
    Mode.RETRIEVAL_MISS: "#2f7dc4",
    Mode.GROUNDING_FAILURE: "#c2620c",
    Mode.REFUSAL: "#8e58c7",
    Mode.OUT_OF_SCOPE: "#1b8a6b",
    Mode.CONTROL: "#6f7883",
}
"""At least 3:1 against the light and the dark background; for marks and charts, never for running text."""
MODE_MARKDOWN_COLOURS = {
    Mode.RETRIEVAL_MISS: "blue",
    Mode.GROUNDING_FAILURE: "orange",
    Mode.REFUSAL: "violet",
    Mode.OUT_OF_SCOPE: "green",
    Mode.CONTROL: "gray",
}
