"""Imports point one way through the rooms of the house, read from the syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import spectraplex

ROOT = Path(spectraplex.__file__).parent

#: From the ground up; a module may import from its own floor and from those below. Longer names win over shorter ones.
FLOORS: list[tuple[str, ...]] = [
    ("_version", "files", "numerals", "tables.unpack"),
    ("places",),
    ("threads", "rounding", "checks", "stop", "trace", "svg", "notebook", "metrics", "matrices.factors"),
    ("fingerprint",),
    ("matrices",),
    ("eigen",),
    ("losses", "measurements"),
    ("objectives",),
    ("domains",),
    ("problem", "certificates.certificate"),
    ("tall_files", "result"),
    ("certificates", "penalized"),
    ("methods",),
    ("testers",),
    ("checkpoint", "observers", "start", "stall", "best", "state", "run", "solve"),
    ("hooks",),
    ("paths", "projection"),
    ("online",),
    ("estimators.input",),
    ("tables",),
    ("datasets",),
    ("estimators",),
    ("report", "plots"),
    ("demo", "experiments"),
    ("cli", "__main__", ""),
]


def floor(module: str) -> int:
    """The floor of a module, by the longest name that it begins with."""
    known = {name: level for level, names in enumerate(FLOORS) for name in names}
    parts = module.split(".")
    for size in range(len(parts), 0, -1):
        name = ".".join(parts[:size])
        if name in known:
            return known[name]
    raise AssertionError(f"spectraplex.{module} is in no room; give it a floor in FLOORS")


def name_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(module: str) -> set[str]:
    """The modules of this package that a module imports, wherever it does, but for the sake of types alone."""
    path, found = MODULES[module], set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typed = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    skipped = {id(inner) for node in typed for inner in ast.walk(node)}
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    package = [part for part in package if part]
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in skipped or not node.level:
            continue
        base = package[: len(package) - node.level + 1] + (node.module or "").split(".")
        where = ".".join(part for part in base if part)
        for name in node.names:
            inside = f"{where}.{name.name}" if where else name.name
            found.add(inside if inside in MODULES else where)
    return found


@pytest.mark.parametrize("module", [name for name in MODULES if name])
def test_imports_point_down(module):
    wrong = {other for other in imported(module) if floor(other) > floor(module)}
    assert not wrong, f"spectraplex.{module} imports from above: {', '.join(sorted(wrong))}"


def test_no_module_imports_itself_around_a_corner():
    """Neither at once nor in a function: what imports in a circle cannot be read from one end."""
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " → ".join((*trail[trail.index(module) :], module))
        if module not in done:
            for other in imported(module):
                if other != module and other:
                    visit(other, (*trail, module))
            done.add(module)

    for module in MODULES:
        if module:
            visit(module, ())


#: Rooms where nobody asks a thing whether it has an attribute: what it knows is in its record of facts.
TYPED = ("methods", "certificates", "domains", "eigen", "paths", "problem", "penalized", "rounding")
TYPED += ("solve", "run", "best", "start", "stall", "state", "observers")
#: But for these functions, which meet what a user made and read it once.
DOORS = {
    ("domains.protocol", "projecting"),  # does it have projections?
    ("problem", "__post_init__"),  # is this a domain?
    ("problem", "require_objective"),  # is this an objective?
    ("methods", "resolve"),  # is this a method?
    ("methods", "facts_of"),  # what a method says of itself
    ("certificates.judged", "_inside"),  # is this X a sparse matrix?
    ("state", "flatten"),  # the memory of a method
}


def test_facts_are_read_at_the_doors_alone():
    found = set()
    for module, path in MODULES.items():
        if module.split(".")[0] in TYPED:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef):
                    names = (node.id for node in ast.walk(function) if isinstance(node, ast.Name))
                    found |= {(module, function.name) for name in names if name in ("getattr", "hasattr")}
    assert found == DOORS
