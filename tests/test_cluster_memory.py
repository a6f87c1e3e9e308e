"""Nothing tall on the client: its memory hangs on the columns of a table and on the rank, and on nothing else."""

import subprocess
import sys

import pytest

pytest.importorskip("distributed")

COLUMNS = 50_000
SOLVE = f"""
import numpy as np
import spectraplex as sx
from distributed import Client, LocalCluster
from spectraplex.objectives.sharded import shard_rows

def memory(name):
    # not getrusage: its peak begins with that of the process that started this one, here all of the tests
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

def main():
    rng, m, n = np.random.default_rng(1), 4_000, {COLUMNS}
    at = np.unique(rng.integers(0, m * n, 400_000))
    rows, columns = at // n, at % n
    values = (rng.standard_normal((m, 10))[rows] * rng.standard_normal((n, 10))[columns]).sum(axis=1)
    whole, settings = sx.Completion(rows, columns, values, (m, n)), {{"threads_per_worker": 1, "silence_logs": 50}}
    with LocalCluster(n_workers=2, dashboard_address=":0", **settings) as own, Client(own) as client:
        problem = sx.Problem(shard_rows(whole, client, range(0, m + 1, 500)), sx.NuclearBall((m, n), 20_000.0))
        del whole, rows, columns, values, at
        before = memory("VmRSS")
        result = sx.solve(problem, stop=sx.Stop(max_steps=4), certify=False)
        print(1024 * (memory("VmHWM") - before), max(each.atoms for each in result.trace))

if __name__ == "__main__":
    main()
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="about glibc")
def test_the_memory_of_the_client(tmp_path):
    """Eight shards send blocks as long as the column side: they are not here all at once, nor is what is freed."""
    script = tmp_path / "solve.py"
    script.write_text(SOLVE)
    told = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True).stdout.split()
    grown, atoms = map(int, told)
    assert atoms >= 16
    assert grown <= 20 * COLUMNS * atoms * 8, (grown / 1e6, atoms)
