"""The tests of the Torch place in an environment of its own: python tests/with_torch.py [FOLDER] [pytest's arguments]

The environment in FOLDER (.venv-torch) has Torch and sees all packages of the one that runs this. Only a build for
processors is taken, since one for GPUs brings gigabytes; where the index has none, a line says so and nothing fails.
Triton comes beside it where it can be had: its interpreter runs the kernels on a processor (test_torch_kernels.py).
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

OLDEST, TRITON = (2, 4), (3, 6)
FILES = "tests/test_torch*.py"


def pip(python: Path | str, *words: str, seconds: float = 120.0) -> str | None:
    """What pip says; None where it fails, or takes too long."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None


def wanted(python: Path) -> str | None:
    """The newest build for processors that the index has; None where there is none."""
    known = re.findall(r"\d+\.\d+\.\d+\+cpu\b", pip(python, "index", "versions", "torch") or "")
    fit = [each for each in known if tuple(map(int, each.split(".")[:2])) >= OLDEST]
    if fit:
        return f"torch=={fit[0]}"
    with tempfile.TemporaryDirectory() as folder:  # an ordinary build, where that is one for processors
        report, newest = Path(folder) / "report.json", f"torch>={'.'.join(map(str, OLDEST))}"
        asked = ("--quiet", "--dry-run", "--no-deps", "--only-binary", ":all:", "--report", str(report), newest)
        if pip(python, "install", *asked) is None or not report.is_file():
            return None
        found = json.loads(report.read_text(encoding="utf-8"))["install"][0]["metadata"]
    needs = found.get("requires_dist", [])
    heavy = [each for each in needs if re.match(r"(nvidia|cuda|triton|pytorch-triton)", each)]
    if heavy and platform.system() == "Linux":
        return None
    return f"torch=={found['version']}"


def made(folder: Path) -> Path | None:
    """The Python of an environment with Torch; None where it cannot be had."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    inside = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        capture_output=True,
        text=True,
        check=True,
    )
    # every package of this environment, those installed from a checkout too (their own .pth files are read)
    lines = f"import site; site.addsitedir({sysconfig.get_paths()['purelib']!r})\n"
    (Path(inside.stdout.strip()) / "others.pth").write_text(lines, encoding="utf-8")
    asked = ("install", "--quiet", "--only-binary", ":all:")
    if not has(python, "torch"):
        spec = wanted(python)
        if spec is None or pip(python, *asked, spec, seconds=600.0) is None:
            return None
    if not has(python, "triton"):
        spec = f"triton>={'.'.join(map(str, TRITON))}"
        if pip(python, *asked, "--no-deps", spec, seconds=300.0) is None:
            print("The Triton kernels are not tested: the index has no build of Triton here (or it did not install).")
    return python


def has(python: Path, module: str) -> bool:
    return subprocess.run([str(python), "-c", f"import {module}"], capture_output=True).returncode == 0


def main() -> int:
    words = sys.argv[1:]
    folder = Path(words.pop(0)) if words and not words[0].startswith("-") else Path(".venv-torch")
    python = made(folder.absolute())
    if python is None:
        print("Torch is not tested here: the package index has no build of it for processors (or it did not install).")
        return 0
    files = sorted(str(path) for path in Path(FILES).parent.glob(Path(FILES).name))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return subprocess.run([str(python), "-m", "pytest", "-q", *words, *files], env=os.environ | threads).returncode


if __name__ == "__main__":
    sys.exit(main())
