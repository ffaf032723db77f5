"""What the harness itself costs: zero_shot against a local stub server, client and stub on one core each.

Prints, as medians over the rounds, beside the bars:

- CPU ms a question: the slope of the whole process's user + system time from 500 to 5,000 questions
- requests a second between the stub's first and last reply over 5,000 questions
- CPU seconds of the client process when its first request reaches the stub

    python tests/performance/bench_harness.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SMALL, LARGE = 500, 5000
LOADS = (("32 connections, no latency", 32, 0.0), ("256 connections, 50 ms", 256, 0.05))

REPLY = b'{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",'
REPLY += b'"content":"Answer: A"}}],"usage":{"prompt_tokens":40,"completion_tokens":2,"total_tokens":42}}'
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY) + REPLY


class Stub(asyncio.Protocol):
    """Answers every POST alike and notes when."""

    first_call = 0.0
    client_cpu = 0.0
    last_reply = 0.0
    latency = 0.0
    client_pid: Callable[[], int]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(body) < length:
            return
        self.buffer = body[length:]
        if not Stub.first_call:
            Stub.first_call = time.perf_counter()
            Stub.client_cpu = cpu_seconds(Stub.client_pid())
        if Stub.latency:
            asyncio.get_running_loop().call_later(Stub.latency, self.answer)
        else:
            self.answer()

    def answer(self) -> None:
        self.transport.write(RESPONSE)
        Stub.last_reply = time.perf_counter()


def cpu_seconds(pid: int) -> float:
    """User and system time of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Figures:
    """One client process."""

    cpu_s: float
    rate: float
    first_cpu_s: float


async def measure(questions: Path, count: int, connections: int, latency: float, folder: Path) -> Figures:
    """Run the client over ``count`` questions against a stub in this process."""
    loop = asyncio.get_running_loop()
    Stub.first_call = Stub.last_reply = 0.0
    Stub.latency = latency
    server = await loop.create_server(Stub, "127.0.0.1", 0, backlog=1024)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    command = [
        "taskset", "-c", "0", sys.executable, "-m", "kgqa_bench.cli.main", "run", "--method", "zero-shot",
        "--benchmark", str(questions), "--model", "stub", "--base-url", url, "--concurrency", str(connections),
        "--out", str(folder / f"run-{time.monotonic_ns()}"), "--json",
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    Stub.client_pid = lambda: process.pid
    out, usage = await asyncio.gather(process.stdout.read(), wait_usage(process))
    server.close()
    if json.loads(out)["ledger"]["scored"] != count:
        raise SystemExit("not every question was scored")
    return Figures(usage, count / (Stub.last_reply - Stub.first_call), Stub.client_cpu)


async def wait_usage(process: asyncio.subprocess.Process) -> float:
    """CPU seconds of a child once it has ended."""
    before = os.times()
    await process.wait()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


async def rounds(count: int) -> None:
    """All loads, ``count`` times each."""
    os.sched_setaffinity(0, {1})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {size: write_questions(folder, size) for size in (SMALL, LARGE)}
        print(f"{'load':<28}{'figure':<28}{'bar':>10}{'median':>10}{'min':>10}{'max':>10}")
        for title, connections, latency in LOADS:
            small, large = [], []
            for _ in range(count):
                small.append(await measure(files[SMALL], SMALL, connections, latency, folder))
                large.append(await measure(files[LARGE], LARGE, connections, latency, folder))
            slopes = [(b.cpu_s - a.cpu_s) / (LARGE - SMALL) * 1000 for a, b in zip(small, large, strict=True)]
            show(title, "CPU ms a question", "<= 1.0", slopes)
            show(title, "requests a second", ">= 1000", [figures.rate for figures in large])
            show(title, "CPU s to the first request", "<= 0.8", [figures.first_cpu_s for figures in large])


def write_questions(folder: Path, count: int) -> Path:
    """A question file of ``count`` four-option questions."""
    path = folder / f"{count}.jsonl"
    rows = (
        {
            "id": f"q{i}", "kind": "choice", "answer": "A",
            "question": f"Question {i}: which of these is found in a kitchen more often than in a garden?",
            "options": ["a refrigerator", "a wheelbarrow", "a hedge", "a greenhouse"],
        }
        for i in range(count)
    )  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def show(title: str, figure: str, bar: str, values: list[float]) -> None:
    """A row of the table."""
    median = statistics.median(values)
    print(f"{title:<28}{figure:<28}{bar:>10}{median:>10.3f}{min(values):>10.3f}{max(values):>10.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(rounds(parser.parse_args().rounds))
