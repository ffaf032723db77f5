import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import ModelOptions
from kgqa_bench.errors import ConfigError, UnknownNameError
from kgqa_bench.llm.openai_server import OpenAIServer
from kgqa_bench.llm.resolve import open_model, split_name


@pytest.fixture
def known(monkeypatch):
    """Which model sources are registered."""

    def know(*names):
        monkeypatch.setattr(registry, "names", lambda kind: sorted(names))

    return know


@pytest.mark.parametrize(
    ("name", "base_url", "expected"),
    [
        ("local/smollm2", None, ("local", "smollm2")),
        ("hf/Qwen/Qwen3-8B", None, ("hf", "Qwen/Qwen3-8B")),
        ("HF/Qwen/Qwen3-8B", None, ("hf", "Qwen/Qwen3-8B")),
        ("replay//data/run", None, ("replay", "/data/run")),
        ("gpt-4o-mini", None, ("litellm", "gpt-4o-mini")),
        ("openai/gpt-4o-mini", None, ("litellm", "openai/gpt-4o-mini")),
        ("litellm/gpt-4o-mini", None, ("litellm", "gpt-4o-mini")),
        ("Qwen/Qwen3-8B", "http://localhost:8000", ("openai-server", "Qwen/Qwen3-8B")),
        ("hf/Qwen3", "http://localhost:8000", ("openai-server", "hf/Qwen3")),
    ],
)
def test_the_source_of_a_name(known, name, base_url, expected):
    known("hf", "litellm", "local", "openai-server", "replay")
    assert split_name(name, base_url) == expected


@pytest.mark.parametrize("name", ["", " ", "local", "local/"])
def test_a_name_that_names_no_model_is_refused(known, name):
    known("litellm", "local")
    with pytest.raises(ConfigError):
        split_name(name)


def test_an_unknown_source_is_named_with_suggestions(known):
    known("local", "replay")
    with pytest.raises(UnknownNameError, match=r"'locl'.*Did you mean local"):
        split_name("locl/smollm2")


def test_a_server_gets_the_full_name():
    client = open_model("Qwen/Qwen3-8B", ModelOptions(base_url="http://localhost:8000"))
    assert isinstance(client, OpenAIServer)
    assert client.model == "Qwen/Qwen3-8B"


def test_an_unknown_setting_of_a_source_is_refused():
    with pytest.raises(ConfigError, match="threads"):
        open_model("m", ModelOptions(base_url="http://localhost:8000"), {"threads": 2})
