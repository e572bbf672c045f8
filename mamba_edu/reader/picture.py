"""Show a figure with its caption and its words."""

import base64
import html
import io
import numbers
import os

from IPython.display import display
from matplotlib.figure import Figure
from PIL import Image

from mamba_edu.figures import describe_drawing, require_figure, require_text, use_style
from mamba_edu.figures.require import is_finite

STAGE_SCALE = 1.6  # MAMBA_EDU_STAGE=1 enlarges every picture by this much, for projectors
COLOURS = 64  # enough for lines and maps, and a third of the bytes


def get_scale() -> float:
    """Read the one setting for projectors: 1, or `STAGE_SCALE` on stage."""
    return STAGE_SCALE if os.environ.get("MAMBA_EDU_STAGE") == "1" else 1.0


def to_png(fig: Figure, sharpness: float = 2.0, colours: int | None = COLOURS) -> bytes:
    """Draw a figure into a PNG.

    Args:
        fig: what to draw.
        sharpness: dots in the picture per dot on screen.
        colours: how many the picture may hold; None for all there are, which is faster.

    Raises:
        TypeError: if `fig` is not a Figure.
        ValueError: if sharpness is not above 0, or colours not 2 to 256.
    """
    require_figure(fig)
    if not is_finite(sharpness) or not sharpness > 0:
        raise ValueError(f"sharpness must be a number above 0; got {sharpness!r}")
    is_count = isinstance(colours, numbers.Integral) and 2 <= colours <= 256
    if colours is not None and not is_count:
        raise ValueError(f"colours must be 2 to 256, or None for all; got {colours!r}")
    raw = io.BytesIO()
    with use_style():  # savefig reads the reader's settings anew
        fig.savefig(raw, dpi=100 * sharpness * get_scale(), format="png")
    if colours is None:
        return raw.getvalue()
    small = io.BytesIO()
    Image.open(raw).convert("RGB").quantize(colours).save(small, "PNG", optimize=True)
    return small.getvalue()


def get_displayed_width(fig: Figure) -> int:
    """Compute the width on screen in dots: 100 an inch, times the stage scale."""
    return round(100 * fig.get_figwidth() * get_scale())


def bundle_picture(fig: Figure, alt: str, sharpness: float = 2.0) -> tuple[dict[str, str], dict]:
    """Pack a picture, its words and what is drawn into one display bundle and its metadata."""
    words = "\n".join(part for part in (alt, describe_drawing(fig)) if part)
    data = {"image/png": base64.b64encode(to_png(fig, sharpness)).decode(), "text/plain": words}
    return data, {"image/png": {"width": get_displayed_width(fig), "alt": alt}}


def bundle_caption(caption: str, alt: str) -> dict[str, str]:
    """Pack a caption, with the picture's words in a closed fold (JupyterLab shows no alt text)."""
    fold = f"<details><summary>The picture in words</summary>\n\n{html.escape(alt)}\n\n</details>"
    return {"text/markdown": f"{caption}\n\n{fold}", "text/plain": caption}


def show(fig: Figure, caption: str, alt: str) -> None:
    """Show a figure, then its caption.

    Args:
        fig: what to show.
        caption: what to do and what to see, a sentence or two.
        alt: the trend in words with its rounded numbers, computed; stored as the picture's text.

    Raises:
        TypeError: if `fig` is not a Figure.
        ValueError: if caption or alt is empty.
    """
    require_figure(fig)
    require_text("caption", caption)
    require_text("alt", alt)
    data, metadata = bundle_picture(fig, alt)
    display(data, metadata=metadata, raw=True)
    display(bundle_caption(caption, alt), raw=True)
