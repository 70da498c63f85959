"""The rules of the house (docs/architecture.md): who may import whom. A breach names file and line."""

import ast
import os
import re
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
    "errors", "access", "vault", "search", "llm", "ledger", "console", "records", "runs",
    "facts", "wiki", "agents", "proposals", "jobs", "tools",
]  # fmt: skip
DOORS = ["api", "mcp", "web"]
LIBRARIES = {"errors", "access", "vault", "search", "llm"}

# Inside an app the file name is the layer.
ROWS = {"models", "queries", "texts"}
ACTIONS = {
    "services", "context", "locks", "desk", "recovery", "undoing", "database", "registry", "reading", "consolidate", "doctor",
    "present", "sentences", "drawing", "blame", "budgets", "asking", "heartbeat", "material", "nightly", "bell",
    "execution", "requests", "checks", "orphans",
}  # fmt: skip
PLAIN = {
    "store", "plans", "kinds", "review", "analysis", "marking", "warnings", "warning_sentences", "wording", "support",
    "addresses", "characters", "reasons", "inputs", "answers", "prompt", "review_lists", "cutting", "foreign_lines",
    "unwrapping", "gate", "statements", "estimate", "cron", "cluster",
}  # fmt: skip
DOOR_FILES = {"admin", "tasks", "commands", "apps"}
LAYERS = ["plain", "rows", "actions", "doors"]

DJANGO = ("django", "rest_framework", "knox", "dj_database_url", "django_q")
HTTP = ("django.http", "django.shortcuts", "django.contrib.messages", "django.template", "rest_framework")


@dataclass(frozen=True)
class Module:
    path: Path

    @property
    def package(self) -> str:
        return self.path.relative_to(APPS).parts[0].removesuffix(".py")

    @property
    def layer(self) -> str:
        parts = self.path.relative_to(APPS).parts
        if (
            self.package in DOORS
            or "commands" in parts
            or self.path.stem in DOOR_FILES
            or self.package in {"console", "records"}
        ):
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


# What each layer must leave alone, by the beginning of the imported name.
FORBIDDEN = {
    "plain": (*DJANGO,),
    "rows": (*HTTP, "apps.vault.lock"),
    "actions": HTTP,
    "doors": ("apps.ledger.desk", "apps.vault.files", "apps.vault.lock", "apps.agents.plans", "apps.proposals.kinds"),
}
# Calls that write, by layer: rows of the ledger and of proposals are written by actions only; files by the vault only.
WRITING_ROWS = re.compile(
    r"\.objects\b.*\.(update|create|get_or_create|update_or_create|bulk_create|delete)\(|\.save\("
)
WRITING_FILES = re.compile(
    r"\.(write_text|write_bytes|unlink|rename|touch)\(|\bopen\([^)]*[\"'][wax]|\bfiles\.(stage|publish|replace)\("
)
CLOCK = re.compile(r"\btimezone\.now\(|\bdatetime\.now\(|\bdate\.today\(|\btime\.time\(")


def forbidden_import(module: Module, name: str) -> str | None:
    if module.path.stem == "__init__" or not name.startswith(FORBIDDEN[module.layer]):
        return None
    return f"{module.layer} code imports {name}"


def forbidden_layer(module: Module, name: str) -> str | None:
    """Plain code of an app uses libraries and plain code only."""
    if module.layer != "plain" or not name.startswith("apps.") or own_package(name) in LIBRARIES:
        return None
    return f"plain code imports {name}" if set(name.split(".")) & (ROWS | ACTIONS) else None


def forbidden_calls(module: Module, text: str) -> list[str]:
    """Lines of a module that write what its layer must not write, or read a clock it must not know."""
    rules = {
        "plain": [(CLOCK, "the clock is an argument")],
        "rows": [(WRITING_FILES, "rows write no files")],
        "actions": [],
        "doors": [(WRITING_ROWS, "doors write no rows")],
    }[module.layer]
    if module.layer == "plain" and module.package != "vault":
        rules = [*rules, (WRITING_FILES, "only the vault writes files")]
    return [
        f"{module.path}:{number}: {why}"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern, why in rules
        if pattern.search(line) and not line.lstrip().startswith(("#", '"'))
    ]


def test_no_layer_imports_what_is_not_its_own():
    assert breaches(forbidden_import, typing=False) == []
    assert breaches(forbidden_layer, typing=False) == []


def test_no_layer_writes_what_is_not_its_own():
    # A demo is a program that sets a home up from nothing; there is no service for that.
    exempt = {APPS / "web" / "management" / "commands" / "demo.py"}
    found = [
        one
        for module in modules()
        if module.path not in exempt
        for one in forbidden_calls(module, module.path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("vault/lines.py", "django.conf.settings"),
        ("proposals/services.py", "django.http.HttpResponse"),
        ("proposals/services.py", "django.contrib.messages"),
        ("ledger/queries.py", "rest_framework.response"),
        ("api/history.py", "apps.vault.files"),
        ("web/views.py", "apps.ledger.desk.Desk"),
    ],
)
def test_the_import_rules_can_fail(path, name):
    assert forbidden_import(Module(APPS / path), name)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("ledger/queries.py", "    files.replace(root, path, None)"),
        ("agents/plans.py", "    now = timezone.now()"),
        ("agents/plans.py", '    Path(path).write_text("x")'),
        ("api/history.py", "    Batch.objects.filter(pk=1).update(state=2)"),
        ("web/views.py", "    proposal.save()"),
        ("jobs/inputs.py", '    open(path, "w")'),
    ],
)
def test_the_writing_rules_can_fail(path, line):
    assert forbidden_calls(Module(APPS / path), line)


def test_every_file_of_an_app_has_a_layer_somebody_chose():
    """A new kind of file name is plain code only when it is listed as such: nothing becomes plain by accident."""
    unknown = {
        module.path.stem
        for module in modules()
        if module.layer == "plain" and module.package not in LIBRARIES and module.path.stem != "__init__"
    } - PLAIN
    assert unknown == set()


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
