"""What the gateway knows about models by itself (share/models.jsonc). See docs/models.md."""

import re

from gateway import REPOSITORY
from shared_files import shared_json

UNPRICED = {  # and why
    "gemini-flash-latest": "stands for another model after each release",
    "openai/gpt-oss-120b": "several services sell it under this id",
    "gpt-oss-120b": "several services sell it under this id",
    "openai/gpt-4.1": "GitHub has rates of its own",
}


def known_models():
    return {id: row for group in shared_json("models.jsonc").values() for id, row in group.items()}


def test_default_model_of_each_preset_is_known():
    presets = shared_json("model-services.jsonc")
    defaults = {preset["default_model"] for preset in presets if "default_model" in preset}
    unpriced = {model for model in defaults if "input" not in known_models()[model]}
    assert len(defaults) >= 8 and unpriced <= set(UNPRICED)
    assert {model for model, row in known_models().items() if "input" not in row} == set(UNPRICED)


def test_each_known_model_names_its_source_and_date():
    text = (REPOSITORY / "share" / "models.jsonc").read_text()
    sources = set(re.findall(r"(?:^//|  )  +([A-Z]) \S", text, re.MULTILINE))
    rows = [line for line in text.splitlines() if line.startswith("    ")]
    assert len(rows) > 50
    for row in rows:
        source = re.search(r"},?  // ([A-Z])(?: and ([A-Z]))?, (before )?20\d\d(-\d\d){0,2}\b", row)
        assert source and {source[1], source[2]} - {None} <= sources, row
