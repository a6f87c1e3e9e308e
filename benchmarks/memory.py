"""Peak memory of 300 greedy steps on MovieLens-1M over what the data takes (limit 1 GB)."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

CODE = """
import re
from benchmarks.data import problem, ratings
import spectraplex as sx

def held(what):
    with open("/proc/self/status") as lines:
        return int(re.search(what + r":\\s+(\\d+) kB", lines.read()).group(1)) / 1024

table = ratings("1m")
task = problem(table, 15000.0)
sx.solve(task, "ror-adaptive", sx.Stop(max_steps=2), certify=False)
before = held("VmRSS")
result = sx.solve(task, "ror-adaptive", sx.Stop(max_steps=300), certify=False)
print(table.name, len(table), f"{held('VmHWM') - before:.0f} {before:.0f} {len(result.X.s)} {result.seconds:.1f}")
"""


def run() -> Iterator[str]:
    if not sys.platform.startswith("linux"):
        yield "read from /proc, so on Linux only"
        return
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    match = re.match(r"(.+) (\d+) (-?\d+) (\d+) (\d+) ([\d.]+)", done.stdout.strip())
    assert match is not None
    name, count, over, before, atoms, seconds = match.groups()
    yield (
        f"{name}, {count} observations: {over} MB over the {before} MB of interpreter, libraries and data; "
        f"300 greedy steps, {atoms} atoms, {seconds} s ({'met' if int(over) < 1000 else 'MISSED'})"
    )
