"""Model files: settings and defaults; and what is wrong is said with file, line and setting, never with a value."""

from pathlib import Path

import pytest

from agenthard.models.errors import ConfigurationError
from agenthard.models.limits import Limits
from agenthard.models.model_file import ModelFile, load_model
from agenthard.models.request import Sampling

WHOLE = """\
name: compatible/Qwen/Qwen3-8B@http://localhost:8000/v1/
label: qwen
sampling: {temperature: 0.6, seed: 42, max_output_tokens: 16384, extra: {top_k: 20}}
limits:
  in_flight: 8
  requests_per_minute: 60
timeout: 120
retries: {attempts: 3}
key_env: MY_KEY
system_role: user
max_tokens_parameter: max_tokens
price: {prompt: 0.5, completion: 1.5, date: 2026-11}
"""


def write(folder: Path, text: str) -> str:
    path = folder / "model.yaml"
    path.write_text(text)
    return str(path)


def test_a_whole_file(tmp_path: Path) -> None:
    file = load_model(write(tmp_path, WHOLE))
    assert (file.name, file.label) == ("compatible/Qwen/Qwen3-8B@http://localhost:8000/v1", "qwen")
    assert file.sampling == Sampling(temperature=0.6, seed=42, max_output_tokens=16384, extra={"top_k": 20})
    assert file.limits == Limits(in_flight=8, requests_per_minute=60)
    assert (file.timeout, file.retries.attempts, file.key_env, file.system_role) == (120, 3, "MY_KEY", "user")
    assert file.price is not None
    assert (file.price.model, file.price.source) == (file.name, "the model file model.yaml")
    assert (file.price.prompt, file.price.completion, file.price.date) == (0.5, 1.5, "2026-11")


def test_a_plain_name_is_a_file_of_defaults(tmp_path: Path) -> None:
    assert load_model("openai/gpt-5") == ModelFile(name="openai/gpt-5")
    assert load_model(write(tmp_path, "name: openai/gpt-5")) == ModelFile(name="openai/gpt-5")
    assert ModelFile(name="openai/gpt-5").label == "openai/gpt-5"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: openai/x\nlimit: 3\n", "line 2, limit: unknown setting"),
        (
            "name: openai/x\napi_key: sk-secret\n",
            "line 2, api_key: unknown setting; a file must not contain a key",
        ),
        ("name: openai/x\nkey_env: sk-secret-1\n", "line 2, key_env: not the name of an environment variable"),
        ("name: openai/x\nlimits:\n  in_flight: 0\n", "line 3, limits.in_flight: Input should be greater than"),
        (
            "name: openai/x\n\nsampling:\n  temperature: sk-secret\n",
            "line 4, sampling.temperature: Input should be a valid",
        ),
        ("label: x\n", "line 1, name: Field required"),
        ("name: gpt-5\n", "line 1, name: Value error, 'gpt-5' is not a valid model name"),
        ("name: google/x\napi: responses\n", "leave it out for google"),
        ("name: openai/x\nsampling: {thinking_tokens: 5}\n", "reasoning_effort"),
        ("name: openai/x\nprice: {prompt: 1, completion: 2}\n", "line 2, price.date: Field required"),
        ("- name: openai/x\n", "a model file is a mapping"),
        ("", "a model file is a mapping"),
        ("name: openai/x\nkey: 'sk-secret\n", "line 3: not valid YAML"),
        ("name: !!python/object:os.system sk-secret\n", "line 1: not valid YAML"),
        ("[" * 5000, "not valid YAML"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str, tmp_path: Path) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        load_model(file)
    assert said in str(caught.value)
    assert str(caught.value).startswith(file)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.yaml: No such file"):
        load_model(str(tmp_path / "none.yaml"))
    (tmp_path / "x.yml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load_model(str(tmp_path / "x.yml"))
