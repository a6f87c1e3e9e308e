"""The tests on other machines: other BLAS kernels, other vector units, other thread counts, other library versions.

``make test-machines`` runs them all, ``.ci/run`` three of them. One line a machine with its counts; the exit status is
1 if any test failed. A machine is made by environment variables that OpenBLAS, numba and NumPy read when they load,
so a probe in a process of its own first says what they really took: a kernel that this processor cannot run, or that
the library does not hold, is skipped with a word.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids")
# OpenBLAS names a table of kernels by the first processor that uses it; the plain SSE table has two names.
SAME = {"Katmai": "Prescott"}
# Everything else is numerical: a new file of tests is run on every machine unless it is named here.
COMMAND_LINE = (
    "test_cluster.py",  # other processes, like the command line
    "test_cluster_cli.py",
    "test_cluster_estimators.py",
    "test_cluster_rounds.py",
    "test_cluster_trust.py",
    "test_cli.py",
    "test_cli_bad.py",
    "test_cli_docs.py",
    "test_cli_files.py",
    "test_cli_more.py",
    "test_cli_places.py",
    "test_cli_resume.py",
)
WORDS = (
    "test_datasets.py",
    "test_docs.py",
    "test_download.py",
    "test_machines.py",
    "test_peers.py",
    "test_peers_ratings.py",
    "test_report.py",
)
PROBE = """
import json, sys
import numpy, scipy.linalg, threadpoolctl, numba
from numba.core.registry import cpu_target
A = numpy.arange(90000.0).reshape(300, 300) % 17
scipy.linalg.eigh(A @ A.T)
numpy.linalg.svd(A)
scipy.linalg.lu(A.astype(complex))
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"]
json.dump({
    "kernels": sorted({pool["architecture"] for pool in blas}),
    "threads": sorted({pool["num_threads"] for pool in blas}),
    "numba": cpu_target.target_context.codegen().magic_tuple()[1],
    "simd": numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []),
    "versions": [f"Python {sys.version.split()[0]}", *(f"{m.__name__} {m.__version__}" for m in (numpy, scipy, numba))],
}, sys.stdout)
"""


@dataclass(frozen=True)
class Machine:
    """What is set before Python starts, and which Python."""

    name: str
    python: str = sys.executable
    settings: dict[str, str] = field(default_factory=dict)
    kernel: str | None = None
    parts: tuple[str, ...] = ("numerical",)

    def environment(self) -> dict[str, str]:
        """One BLAS thread unless told otherwise. numba keeps compiled loops apart by processor, but not by version."""
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        cache = ROOT / "build" / "machines" / Path(self.python).absolute().parent.parent.name
        return {**os.environ, **one, "NUMBA_CACHE_DIR": str(cache), **self.settings}


@dataclass(frozen=True)
class Outcome:
    """Counts of one run, its failures by name, and the last words of a run that did not get as far as tests."""

    passed: int
    skipped: int
    failed: list[str]
    seconds: float
    words: str = ""


def files(parts: tuple[str, ...]) -> list[str]:
    """The test files of the parts: numerical, command line, all."""
    everything = sorted(path.name for path in (ROOT / "tests").glob("test_*.py"))
    rooms = {
        "all": everything,
        "command line": [name for name in everything if name in COMMAND_LINE],
        "numerical": [name for name in everything if name not in (*COMMAND_LINE, *WORDS)],
    }
    return sorted({f"tests/{name}" for part in parts for name in rooms[part]})


def probe(machine: Machine) -> dict | str:
    """What the libraries took, or one word why this machine cannot be."""
    if not Path(machine.python).exists():
        return f"{machine.python} is not there; make it first"
    done = subprocess.run(
        [machine.python, "-c", PROBE], env=machine.environment(), capture_output=True, text=True, check=False
    )
    if done.returncode < 0 and machine.kernel:
        return "this processor cannot run it"
    if done.returncode:
        raise RuntimeError(f"{machine.name}: the probe ended with {done.returncode}:\n{done.stderr}")
    found = json.loads(done.stdout)
    taken = sorted({SAME.get(name, name) for name in found["kernels"]})
    if machine.kernel and taken != [machine.kernel]:
        return f"OpenBLAS took {' and '.join(taken) or 'no kernel'} in its place"
    wanted = machine.settings.get("NUMBA_CPU_NAME")
    if wanted and found["numba"] != wanted:
        return f"numba compiles for {found['numba']} in its place"
    if machine.settings.get("NPY_DISABLE_CPU_FEATURES") and found["simd"]:
        return f"NumPy still uses {', '.join(found['simd'])}"
    threads = machine.settings.get("OPENBLAS_NUM_THREADS")
    if threads and found["threads"] != [int(threads)]:
        return f"OpenBLAS runs {found['threads']} threads in their place"
    return found


def run(machine: Machine, processes: int) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [machine.python, "-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider"]
        command += [f"--junitxml={report}", f"--basetemp={scratch}/tests", "-o", "junit_family=xunit1"]
        command += ["-n", str(processes)] if processes > 1 else []
        began = time.monotonic()
        done = subprocess.run(
            [*command, *files(machine.parts)],
            env=machine.environment(),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - began
        outcome = read(report, seconds, done.stdout) if report.exists() else Outcome(0, 0, [], seconds)
        if done.returncode and not outcome.failed:  # no test to blame: a crash, or nothing to run
            return replace(outcome, failed=[f"pytest ended with {done.returncode}"], words=done.stdout)
        return outcome


def read(report: Path, seconds: float, words: str) -> Outcome:
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    # A test that passes and then fails while it is put away stands there twice, so failures are counted by name.
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    names = sorted({f"{case.get('file') or case.get('classname')}::{case.get('name')}" for case in failed})
    # A failure that is expected, strictly, is as good as a pass.
    left_out = [case.find("skipped") for case in cases]
    skipped = sum(each is not None and each.get("type") != "pytest.xfail" for each in left_out)
    return Outcome(len(cases) - skipped - len(failed), skipped, names, seconds, words if names else "")


def machines(oldest: str, newest: str) -> list[Machine]:
    """All of them: this one first."""
    found = probe(Machine("this machine"))
    assert isinstance(found, dict), found
    plain_numba = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    plain_numpy = {"NPY_DISABLE_CPU_FEATURES": " ".join(found["simd"])}
    return [
        Machine("one thread", settings={"OPENBLAS_NUM_THREADS": "1"}),
        Machine("two threads", settings={"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}),
        *(Machine(name, settings={"OPENBLAS_CORETYPE": name}, kernel=name) for name in KERNELS),
        Machine("generic numba", settings=plain_numba),
        *([Machine("generic NumPy", settings=plain_numpy)] if found["simd"] else []),
        Machine("oldest", python=oldest, parts=("numerical", "command line")),
        Machine("newest", python=newest, parts=("all",)),
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="machines by name; all of them where none is named")
    parser.add_argument("--oldest", default=".venv-oldest/bin/python", help="Python with the oldest versions")
    parser.add_argument("--newest", default=sys.executable, help="Python with the newest versions")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args(arguments)
    here = {machine.name: machine for machine in machines(asked.oldest, asked.newest)}
    unknown = [name for name in asked.names if name not in here]
    if unknown:
        parser.error(f"no machine {', '.join(unknown)}; there are {', '.join(here)}")
    broken = False
    for name in asked.names or here:
        machine, found = here[name], probe(here[name])
        if isinstance(found, str):
            print(f"{name:15} skipped: {found}", flush=True)
            continue
        outcome = run(machine, asked.processes)
        took = f"{'+'.join(found['kernels'])}, numba for {found['numba']}, {', '.join(found['versions'])}"
        print(
            f"{name:15} {' and '.join(machine.parts)}: {outcome.passed} passed, {len(outcome.failed)} failed, "
            f"{outcome.skipped} skipped in {outcome.seconds:.0f} s ({took})",
            flush=True,
        )
        if outcome.failed:
            broken = True
            print(outcome.words, *(f"{name}: {each}" for each in outcome.failed), sep="\n", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
