"""The oldest versions that pyproject.toml admits, as pins for pip: ``python tests/oldest.py > pins.txt``.

Every requirement there has a lower end, and this reads it: the core, the extras and what the tests need.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent


def requirements(project: dict, extra: str | None = None) -> Iterator[Requirement]:
    """Those of the core or of one extra; an extra that names the project itself stands for its parts."""
    told = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    for requirement in map(Requirement, told):
        if requirement.name == project["name"]:
            for part in sorted(requirement.extras):
                yield from requirements(project, part)
        else:
            yield requirement


def pins(project: dict) -> list[str]:
    """name==lower for all of them."""
    out = []
    for requirement in [*requirements(project), *requirements(project, "dev")]:
        lower = [bound.version for bound in requirement.specifier if bound.operator == ">="]
        if len(lower) != 1:
            raise ValueError(f"pyproject.toml: {requirement} has no lower end; write {requirement.name}>=VERSION.")
        out.append(f"{requirement.name}=={lower[0]}")
    return out


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print("\n".join(pins(project)))


if __name__ == "__main__":
    main()
