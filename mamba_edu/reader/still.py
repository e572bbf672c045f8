"""A box of controls that is also a still page: what clones, hosting sites and tests see of it."""

from typing import Any

import ipywidgets

VIEW = "application/vnd.jupyter.widget-view+json"


def require_widgets(children: Any) -> None:
    """Refuse children that could not stand in a box."""
    is_list = isinstance(children, tuple | list)
    if not is_list or not all(isinstance(child, ipywidgets.Widget) for child in children):
        raise TypeError(f"children must be a list of widgets; got {children!r}")


def require_still(still: Any) -> None:
    """Refuse a still form that is no text under each of its types."""
    is_dict = isinstance(still, dict)
    if not is_dict or not all(isinstance(text, str) for pair in still.items() for text in pair):
        raise TypeError(f"still must be a dict of MIME type to text; got {still!r}")


class Still:
    """The fixed form that a live thing shows where nothing runs; to inherit from first.

    `still` maps a MIME type to text or base64, `still_metadata` to what front ends need beside it.
    """

    still: dict[str, str]
    still_metadata: dict

    def hold_still(self, still: dict[str, str], metadata: dict | None = None) -> None:
        """Keep the fixed form, once it is found fit to stand for the live one.

        Raises:
            TypeError: if `still` or `metadata` is no such dict.
            ValueError: if `still` lacks its plain text, which tests compare, or what a page shows.
        """
        require_still(still)
        if metadata is not None and not isinstance(metadata, dict):
            raise TypeError(f"metadata must be a dict or None; got {metadata!r}")
        if "text/plain" not in still or not {"text/html", "image/png"} & set(still):
            raise ValueError(
                "still must hold 'text/plain', and 'text/html' or 'image/png'; it holds "
                f"{sorted(still)}"
            )
        self.still, self.still_metadata = dict(still), metadata or {}

    def __repr__(self) -> str:
        return self.still["text/plain"]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict, dict]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {**self.still, VIEW: view}, self.still_metadata


class StillBox(Still, ipywidgets.VBox):
    """Controls with a fixed still form beside the live one.

    Args:
        children: the widgets, top to bottom.
        still: MIME type -> text or base64; must hold "text/plain", and what a page without a
            kernel shows ("text/html" or "image/png").
        metadata: MIME type -> what front ends need beside it.

    Raises:
        TypeError: if a child is no widget, or `still` or `metadata` no such dict.
        ValueError: if `still` lacks its plain text, which tests compare, or what a page shows.
    """

    def __init__(self, children: list, still: dict[str, str], metadata: dict | None = None):
        require_widgets(children)
        self.hold_still(still, metadata)
        super().__init__(children)
