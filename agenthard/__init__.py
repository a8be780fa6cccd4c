"""AgentHard audits LLM-agent benchmarks: it finds flawed tasks with evidence, and writes a cleaned split."""

from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[1]
if (_CHECKOUT / "pyproject.toml").is_file() and (_CHECKOUT / "audit" / "__init__.py").is_file():
    # In a checkout the subpackages lie next to this folder; an installed wheel has them inside it.
    __path__.append(str(_CHECKOUT))
