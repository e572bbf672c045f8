"""A widget as a page of its own: the module, its data and a model that stands still."""

import base64
import html
import json

from mamba_edu.widgets.packing import DEFAULT

# Nothing can be fetched, whatever the module tries.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{css}
</style>
</head>
<body class="mamba-page">
<main id="widget"></main>
<noscript><img src="data:image/png;base64,{png}" alt="{alt}"><p>{caption}</p></noscript>
<script type="application/json" id="values">{values}</script>
<script type="text/plain" id="data">{data}</script>
<script type="module">
{module}
const pageValues = JSON.parse(document.getElementById("values").textContent);
const pageText = atob(document.getElementById("data").textContent);
const pageBytes = Uint8Array.from(pageText, (letter) => letter.charCodeAt(0));
pageValues.data = new DataView(pageBytes.buffer);
const pageIdle = {{ set() {{}}, save_changes() {{}}, on() {{}}, off() {{}} }};
const pageModel = {{ ...pageIdle, get: (name) => pageValues[name] }};
pageWidget.render({{ model: pageModel, el: document.getElementById("widget") }});
</script>
</body>
</html>
"""


def write_page(module: str, css: str, data: bytes, values: dict, png: str, alt: str) -> str:
    """Write the text of a page.

    Args:
        module: the text of an ES module that exports { render } as its default.
        css: its style.
        data: the bytes of its arrays.
        values: its other traits, by name.
        png: the still picture in base64, for readers without scripts.
        alt: the picture in words.
    """
    options = values["options"]
    return PAGE.format(
        policy=POLICY,
        title=html.escape(options["title"]),
        css=css,
        png=png,
        alt=html.escape(alt),
        caption=html.escape(options["caption"].replace("**", "")),
        values=json.dumps(values, allow_nan=False).replace("<", "\\u003c"),
        data=base64.b64encode(data).decode(),
        module=module.replace(DEFAULT, "const pageWidget = "),
    )
