"""Chat models of the Hugging Face kind, run inside this process by transformers."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field

from kgqa_bench.contracts import ModelOptions, ModelSource, PluginSettings
from kgqa_bench.errors import DataNotFoundError, MissingDependencyError, ModelError
from kgqa_bench.llm.types import Completion, Message, Request
from kgqa_bench.llm.worker import Worker
from kgqa_bench.storage import user_path

T = TypeVar("T")


class HuggingFaceSettings(PluginSettings):
    """How the model is loaded and run."""

    device: str = Field(default="auto", description="cpu, cuda, cuda:1, …; auto takes a GPU where there is one.")
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        default="auto", description="Number type of the weights; auto leaves it as it is stored."
    )
    revision: str | None = Field(default=None, description="Commit or tag on the hub.")
    batch: int = Field(default=8, ge=1, description="Continuations scored at once.")


class HuggingFaceSource(ModelSource):
    """A causal language model by hub id, folder or gguf file, as in hf/Qwen/Qwen3-0.6B; scores by likelihood too."""

    Settings = HuggingFaceSettings
    concurrency = 1
    timeout = 900.0  # nothing is stuck here, a busy machine is only slow

    def open(self, name: str, options: ModelOptions) -> HuggingFaceClient:
        """The model of that hub id or path; it is loaded at the first call.

        Raises:
            MissingDependencyError: transformers, torch or (for gguf files) gguf or accelerate is not installed.
            DataNotFoundError: The name is a path and nothing is there.
        """
        path = user_path(name)
        gguf = path.suffix.lower() == ".gguf"
        for package in ("torch", "transformers", *(["gguf", "accelerate"] if gguf else [])):
            if find_spec(package) is None:
                raise MissingDependencyError(f"The model hf/{name}", package, extra="local")
        if (gguf or path.is_absolute() or name.startswith((".", "~"))) and not path.exists():
            raise DataNotFoundError(f"There is no model at {name}.", hint="Give hf/ID of the hub or hf/PATH.")
        return HuggingFaceClient(f"hf/{name}", str(path) if path.exists() else name, self.settings, options.timeout)


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    tokenizer: Any
    context: int | None


class HuggingFaceClient:
    """One model. Requests are answered one after the other.

    Sampling is plain (temperature and top-p alone, whatever the model's own generation settings say) unless the
    request's ``extra`` names other parameters of ``GenerationConfig``; ``extra["chat_template_kwargs"]`` goes to the
    chat template. A schema is not enforced: the reply is free text that the caller parses.

    Args:
        model: The name in records.
        source: Hub id, folder or gguf file.
        settings: Device, dtype and so on.
        timeout: Seconds for one request, loading and waiting not counted.
    """

    price_known = True

    def __init__(self, model: str, source: str, settings: HuggingFaceSettings, timeout: float) -> None:
        self.model = model
        self._source = source
        self._settings = settings
        self._worker: Worker[_Loaded] = Worker(self._load, timeout)

    async def complete(self, request: Request) -> Completion:
        """Generate one reply. A prompt that leaves no room in the model's context is refused."""
        return await self._worker.run(lambda loaded, stop: _guarded(lambda: _generate(loaded, request, stop)))

    async def log_likelihoods(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token, in nats, of each continuation as the assistant's reply to ``messages``.

        The prompt is read once. Prompt and continuation are tokenised apart, as they are when the model writes the
        reply itself; no end-of-turn token is added.
        """
        batch = self._settings.batch
        return await self._worker.run(
            lambda loaded, stop: _guarded(lambda: _score(loaded, messages, continuations, batch, stop))
        )

    async def close(self) -> None:
        """Free the model's memory."""
        await self._worker.close()

    def _load(self) -> _Loaded:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

        device = self._settings.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        source = self._source
        where: dict[str, Any] = {"revision": self._settings.revision, "trust_remote_code": False}
        how: dict[str, Any] = {"dtype": self._settings.dtype, "use_safetensors": True}
        if source.lower().endswith(".gguf"):
            where["gguf_file"] = Path(source).name
            source = str(Path(source).parent)
            how = {"dtype": self._settings.dtype if self._settings.dtype != "auto" else "float32"}
        try:
            tokenizer = AutoTokenizer.from_pretrained(source, **where)
            model = AutoModelForCausalLM.from_pretrained(source, **where, **how).to(device).eval()
        except (OSError, ValueError, RuntimeError, ImportError) as problem:
            raise ModelError(
                f"transformers cannot load {self._source}: {problem}",
                reason="unavailable",
                hint="Check the id or path, the memory, and that the weights are safetensors or gguf.",
            ) from problem
        own = model.generation_config
        end = own.eos_token_id if own.eos_token_id is not None else tokenizer.eos_token_id
        pad = tokenizer.pad_token_id
        if pad is None:
            pad = end[0] if isinstance(end, list) else end
        # the model's own temperature, top-k and so on would otherwise slip in
        model.generation_config = GenerationConfig(bos_token_id=own.bos_token_id, eos_token_id=end, pad_token_id=pad)
        config = model.config.get_text_config()
        return _Loaded(model, tokenizer, getattr(config, "max_position_embeddings", None))


def _guarded(work: Callable[[], T]) -> T:
    """Whatever torch raises while a request runs, as a ModelError."""
    try:
        return work()
    except (RuntimeError, ValueError, IndexError, TypeError) as problem:
        raise ModelError(
            f"The model failed: {type(problem).__name__}: {problem}",
            reason="server_error",
            hint="If memory ran out, use a smaller model, batch or dtype.",
        ) from problem


def _prompt(loaded: _Loaded, messages: Sequence[Message], template: Mapping[str, Any] | None = None) -> list[int]:
    """Token ids of the chat so far, up to where the assistant speaks."""
    tokenizer = loaded.tokenizer
    if not tokenizer.chat_template:
        raise ModelError(
            "The model has no chat template.", reason="refused", hint="Use an instruction-tuned (chat) model."
        )
    text = tokenizer.apply_chat_template(
        list(messages), tokenize=False, add_generation_prompt=True, **(template or {})
    )
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _room(loaded: _Loaded, used: int, needed: int) -> int | None:
    """Tokens of the context left after ``used``; None without a limit. ModelError where fewer than needed."""
    if loaded.context is None:
        return None
    left = loaded.context - used
    if left < needed:
        raise ModelError(
            f"The prompt has {used} tokens, {needed} more are needed, and the context holds {loaded.context}.",
            reason="refused",
            hint="Shorten the prompt or use a model with a longer context.",
        )
    return left


def _generate(loaded: _Loaded, request: Request, stop: threading.Event) -> Completion:
    import torch
    from transformers import GenerationConfig, StoppingCriteriaList

    extra = dict(request.extra or {})
    prompt = _prompt(loaded, request.messages, extra.pop("chat_template_kwargs", None))
    room = _room(loaded, len(prompt), 1)
    model, tokenizer = loaded.model, loaded.tokenizer
    sampling: dict[str, Any] = {"do_sample": False}
    if request.temperature > 0:
        sampling = {"do_sample": True, "temperature": request.temperature, "top_k": 0}
        sampling["top_p"] = 1.0 if request.top_p is None else request.top_p
    limit = request.max_tokens if room is None else min(request.max_tokens, room)
    config = GenerationConfig(**{"max_new_tokens": limit, **sampling, **extra})

    def written(ids: Any) -> str:
        text: str = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def ended(ids: Any, scores: Any, **_: Any) -> Any:
        done = stop.is_set() or (request.stop and _cut(written(ids[0, len(prompt) :]), request.stop)[1])
        return torch.full((ids.shape[0],), bool(done), device=ids.device)

    ids = torch.tensor([prompt], device=model.device)
    with torch.inference_mode(), _seeded(request.seed, model.device):
        output = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            generation_config=config,
            stopping_criteria=StoppingCriteriaList([ended]),
        )
    reply = output[0, len(prompt) :]
    text, stopped = _cut(written(reply), request.stop)
    ends = model.generation_config.eos_token_id
    at_end = len(reply) > 0 and int(reply[-1]) in (ends if isinstance(ends, list) else [ends])
    return Completion(text, "stop" if stopped or at_end else "length", len(prompt), len(reply), cost_usd=0.0)


def _cut(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """The text before the first stop string, and whether there was one."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


@contextmanager
def _seeded(seed: int | None, device: Any) -> Iterator[None]:
    """Random draws from ``seed``, and the generators afterwards as they were before."""
    if seed is None:
        yield
        return
    import torch

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _score(
    loaded: _Loaded,
    messages: Sequence[Message],
    continuations: Sequence[str],
    batch: int,
    stop: threading.Event,
) -> list[float]:
    import torch

    prompt = _prompt(loaded, messages)
    replies = [loaded.tokenizer(text, add_special_tokens=False)["input_ids"] for text in continuations]
    for number, reply in enumerate(replies):
        if not reply:
            raise ModelError(f"Continuation {number} is empty: it has no likelihood.", reason="refused")
    if not replies:
        return []
    _room(loaded, len(prompt), max(map(len, replies)))
    scores: list[float] = []
    with torch.inference_mode():
        for start in range(0, len(replies), batch):
            if stop.is_set():
                break
            scores += _score_batch(loaded.model, prompt, replies[start : start + batch])
    return scores


def _score_batch(model: Any, prompt: list[int], replies: Sequence[list[int]]) -> list[float]:
    """Mean log-probability per token of replies, padded on the right after one shared reading of the prompt."""
    import torch
    from transformers import DynamicCache

    device, count, longest = model.device, len(replies), max(map(len, replies))
    takes = inspect.signature(model.forward).parameters
    cache = DynamicCache(config=model.config)
    # later versions of transformers call the argument ``cache``
    how: dict[str, Any] = {"cache" if "cache" in takes else "past_key_values": cache, "use_cache": True}
    last = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
    read = model(torch.tensor([prompt], device=device), **how, **last)
    ids = torch.zeros((count, longest), dtype=torch.long, device=device)
    mask = torch.zeros((count, longest), dtype=torch.long, device=device)
    for row, reply in enumerate(replies):
        ids[row, : len(reply)] = torch.tensor(reply, device=device)
        mask[row, : len(reply)] = 1
    logits = read.logits[:, -1:].expand(count, -1, -1)  # [count, 1, vocabulary]: before the first token
    if longest > 1:
        cache.batch_repeat_interleave(count)
        seen = torch.cat([torch.ones((count, len(prompt)), dtype=torch.long, device=device), mask[:, :-1]], dim=1)
        rest = model(ids[:, :-1], attention_mask=seen, **how)
        logits = torch.cat([logits, rest.logits], dim=1)  # [count, longest, vocabulary]
    chosen = logits.float().log_softmax(dim=-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    means = chosen.where(mask.bool(), 0.0).sum(dim=1) / mask.sum(dim=1)
    return [float(mean) for mean in means]
