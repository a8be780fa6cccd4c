"""Run by a test in a process of its own: bfcl-eval's runner reads its data folder and scores result files.

Only its table of models is another one: it imports the clients of all models. The one model here needs no decoding.
"""

import importlib
import sys
import types
from pathlib import Path
from typing import Any


class Handler:
    """Reads a model's reply, as the handlers of the package do; the result files here hold calls already."""

    is_fc_model = True

    def __init__(self, name: str, temperature: float) -> None:
        self.name = name

    def decode_ast(self, result: Any, language: str = "Python") -> Any:
        return result

    def decode_execute(self, result: Any) -> Any:
        return result


config = types.SimpleNamespace(
    model_handler=Handler,
    is_fc_model=True,
    underscore_to_dot=False,
    display_name="mock",
    model_name="mock",
    org="",
    url="",
    license="",
    input_price=None,
    output_price=None,
)
table = types.ModuleType("bfcl_eval.constants.model_config")
vars(table)["MODEL_CONFIG_MAPPING"] = {name: config for name in ("right", "wrong")}
sys.modules["bfcl_eval.constants.model_config"] = table
runner = importlib.import_module("bfcl_eval.eval_checker.eval_runner")
results, scores, *categories = sys.argv[1:]
runner.runner(["right", "wrong"], categories, Path(results), Path(scores))
