"""The README's commands run, its figures are those of the scripts it names, and CONTRIBUTING's example works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent


def _section(title: str, document: str = "README.md") -> str:
    text = (CHECKOUT / document).read_text(encoding="utf-8")
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


def test_the_protocol_of_the_documentation_scores(tmp_path: Path) -> None:
    """Written out as it stands there and installed, it is one of the protocols that ``score`` shows unasked."""
    section = _section("A new scoring protocol", "CONTRIBUTING.md")
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (project,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    (source / "top_three.py").write_text(code)
    (source / "pyproject.toml").write_text(project)
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*install, str(site), str(source)], check=True)
    rows = [
        {"id": "third", "prediction": ["1", "2", "3"], "gold": ["3"]},
        {"id": "fourth", "prediction": ["1", "2", "4", "3"], "gold": ["3"]},
        {"id": "none", "prediction": None, "gold": ["3"]},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "kgqa_bench.cli.main", "score", "p.jsonl", "--json"],
        env=os.environ | {"PYTHONPATH": paths},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr  # a question was not answered
    protocols = json.loads(done.stdout)["protocols"]
    assert list(protocols["top_three"]["scores"]) == ["hits_any"]
    found = protocols["top_three"]["scores"]["hits_any"]
    assert (found["value"], found["n"]) == (pytest.approx(1 / 3), 3)
    assert found["signature"].startswith("hits_any|protocol:top_three|protocol_v:1|unit:ids|")
    assert protocols["strict_ids"]["scores"]["hits_any"]["value"] == pytest.approx(2 / 3)
