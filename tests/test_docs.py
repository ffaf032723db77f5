"""The README's commands run, and its figures are those of the scripts it names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent


def _section(title: str) -> str:
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_the_commands_on_incomplete_graphs_run(tmp_path: Path) -> None:
    (block,) = re.findall(r"```bash\n(.*?)```", _section("Incomplete graphs"), re.DOTALL)
    subprocess.run(["bash", "-e", "-c", block], cwd=tmp_path, check=True, timeout=600)
    assert (tmp_path / "trees" / "certificate.jsonl").stat().st_size > 0
    assert (tmp_path / "trees-rules.tsv").stat().st_size > 0


@pytest.mark.data
def test_the_table_of_builds_is_that_of_its_script(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_BENCH_DATA", str(real_data))
    script = CHECKOUT / "tests" / "performance" / "incomplete_table.py"
    table = subprocess.run(
        [sys.executable, str(script), "family"], capture_output=True, text=True, check=True, timeout=600
    ).stdout
    assert "Family, corrected" in table
    for line in table.splitlines():
        assert line in _section("Incomplete graphs")
