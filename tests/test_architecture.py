"""The rules of the house (docs/architecture.md): who may import whom. A breach names file and line."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
APPS = ROOT / "apps"

# Packages form one line; each may import those to its left. The last ones are doors and ignore each other.
LINE = [
    "errors", "access", "console", "vault", "search", "llm", "ledger", "runs",
    "facts", "wiki", "agents", "proposals", "jobs", "tools",
]  # fmt: skip
DOORS = ["api", "mcp", "web"]
LIBRARIES = {"errors", "access", "vault", "search", "llm"}

# Inside an app the file name is the layer.
ROWS = {"models", "queries", "texts"}
ACTIONS = {
    "services", "context", "locks", "desk", "recovery", "undoing", "registry", "reading", "consolidate", "doctor",
    "present", "sentences",
}  # fmt: skip
DOOR_FILES = {"admin", "tasks", "commands", "apps"}
LAYERS = ["plain", "rows", "actions", "doors"]

DJANGO = ("django", "rest_framework", "knox", "dj_database_url")


@dataclass(frozen=True)
class Module:
    path: Path

    @property
    def package(self) -> str:
        return self.path.relative_to(APPS).parts[0].removesuffix(".py")

    @property
    def layer(self) -> str:
        parts = self.path.relative_to(APPS).parts
        if self.package in DOORS or "commands" in parts or self.path.stem in DOOR_FILES or self.package == "console":
            return "doors"
        if self.package in LIBRARIES:
            return "plain"
        if self.path.stem in ROWS:
            return "rows"
        if self.path.stem in ACTIONS or self.package == "tools":
            return "actions"
        return "plain"

    def imports(self, *, typing: bool = True) -> Iterator[tuple[int, str]]:
        """Line and full name of everything imported, also inside functions and, with `typing`, for types alone."""
        here = ["apps", *self.path.relative_to(APPS).parts[:-1]]
        tree = ast.parse(self.path.read_text())
        if not typing:
            tree.body = [
                node
                for node in tree.body
                if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
            ]
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = here[: len(here) - node.level + 1] if node.level else []
                name = ".".join([*base, *([node.module] if node.module else [])])
                yield from ((node.lineno, f"{name}.{alias.name}") for alias in node.names)


def modules() -> list[Module]:
    found = [Module(path) for path in sorted(APPS.rglob("*.py")) if "migrations" not in path.parts]
    return [module for module in found if module.path.name != "__init__.py" or module.path.read_text().strip()]


def breaches(rule, *, typing: bool = True) -> list[str]:
    return [
        f"{module.path.relative_to(ROOT)}:{line}: {why}"
        for module in modules()
        for line, name in module.imports(typing=typing)
        if (why := rule(module, name))
    ]


def own_package(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if parts[0] == "apps" and len(parts) > 1 else None


def test_a_package_imports_only_packages_to_its_left():
    def rule(module: Module, name: str) -> str | None:
        other = own_package(name)
        if other is None or other == module.package:
            return None
        if other in DOORS:
            return f"{name} is a door; nobody imports a door"
        if module.package in DOORS or LINE.index(other) < LINE.index(module.package):
            return None
        return f"{name} stands to the right of {module.package}"

    assert breaches(rule) == []


def test_inside_an_app_a_file_imports_only_its_own_layer_and_those_below():
    layer_of = {".".join(module.path.relative_to(ROOT).with_suffix("").parts): module.layer for module in modules()}

    def rule(module: Module, name: str) -> str | None:
        if own_package(name) != module.package:
            return None
        target = next((layer_of[part] for part in (name, name.rpartition(".")[0]) if part in layer_of), None)
        if target is None or LAYERS.index(target) <= LAYERS.index(module.layer):
            return None
        return f"{name} is {target}, above {module.layer}"

    assert breaches(rule, typing=False) == []


def test_plain_code_knows_no_django_no_rows_and_no_other_layer():
    def rule(module: Module, name: str) -> str | None:
        if module.layer != "plain" or module.path.stem == "__init__":
            return None
        if name.partition(".")[0] in DJANGO:
            return f"plain code imports {name}"
        if (
            name.startswith("apps.")
            and name.rpartition(".")[2] in ROWS | ACTIONS
            and own_package(name) not in LIBRARIES
        ):
            return f"plain code imports {name}"
        return None

    assert breaches(rule, typing=False) == []


def test_only_actions_below_the_doors_write_ledger_rows_or_files():
    writers = (
        "apps.ledger.desk",
        "apps.vault.files",
        "apps.vault.lock",
        "apps.agents.plans",
        "apps.proposals.kinds",
    )

    def rule(module: Module, name: str) -> str | None:
        if module.layer == "doors" and name.startswith(writers):
            return f"a door reaches past the services for {name}"
        return None

    assert breaches(rule) == []


@pytest.mark.parametrize(("library", "home"), [("litellm", "llm/client.py"), ("markdown", "vault/render.py")])
def test_a_library_with_side_effects_has_one_importer(library, home):
    def rule(module: Module, name: str) -> str | None:
        if name.partition(".")[0] == library and module.path != APPS / home:
            return f"only apps/{home} imports {library}"
        return None

    assert breaches(rule) == []


def test_the_libraries_work_in_an_interpreter_without_django():
    """Every module of them, imported in a process of its own that has no settings."""
    names = [
        ".".join(module.path.relative_to(ROOT).with_suffix("").parts)
        for module in modules()
        if module.package in LIBRARIES and module.path.stem != "__init__"
    ]
    program = (
        f"import importlib, sys; [importlib.import_module(name) for name in {names!r}]; print('django' in sys.modules)"
    )
    clean = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=clean, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"
    assert "apps.vault.merge" in names


def test_nobody_uses_signals():
    def rule(module: Module, name: str) -> str | None:
        return (
            "no signals: who does what is read from the call" if name.startswith("django.db.models.signals") else None
        )

    assert breaches(rule) == []


def test_no_module_is_longer_than_four_hundred_lines_or_named_after_nothing():
    long = [str(module.path) for module in modules() if module.path.read_text().count("\n") > 400]
    vague = [m.path.name for m in modules() if m.path.stem in {"utils", "helpers", "common", "manager", "base"}]
    assert (long, vague) == ([], [])


def test_the_rules_see_what_they_forbid(tmp_path):
    """The rules themselves must be able to fail: a file with every kind of import is read as such."""
    module = Module(APPS / "vault" / "lines.py")
    names = [name for _, name in module.imports()]
    assert "dataclasses.dataclass" in names
    assert module.layer == "plain"
    assert Module(APPS / "api" / "agents.py").layer == "doors"
    assert any(name.startswith("apps.agents") for _, name in Module(APPS / "api" / "agents.py").imports())
