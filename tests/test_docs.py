"""What is in the code is in the documentation: routes, commands, tools, settings, codes, targets, links.

Nothing is imported; the sources are parsed as text, so a page can be checked while the product does not start.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
APPS = ROOT / "apps"
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(path: Path, name: str) -> Iterator[ast.Call]:
    """Every call of a function or method of this name."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and name in {getattr(node.func, "id", ""), getattr(node.func, "attr", "")}:
            yield node


def constants(node: ast.AST) -> list[str]:
    """The words an expression can be: a constant, or either side of `a if … else b`."""
    if isinstance(node, ast.IfExp):
        return constants(node.body) + constants(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def as_documented(route: str) -> re.Pattern[str]:
    """`agents/<str:agent_id>/memory` as a page may write it: any word in braces for a part that varies."""
    parts = re.split(r"<[^>]+>", route)
    return re.compile(r"\{[a-z_]+\}".join(map(re.escape, parts)) + r"(?=[`\s?])")


# Routes


def routes(app: str) -> list[tuple[str, str]]:
    """Path and view of every route of a door."""
    rows = []
    for call in calls(APPS / app / "urls.py", "path"):
        view = ast.unparse(call.args[1]).removesuffix(".as_view()")
        rows.append((str(ast.literal_eval(call.args[0])), view))
    return rows


def api_routes() -> list[tuple[str, str]]:
    """Method and path of everything the API answers."""
    found = []
    for route, view in routes("api"):
        module, name = view.split(".")
        view_class = next(
            node
            for node in tree(APPS / "api" / f"{module}.py").body
            if isinstance(node, ast.ClassDef) and node.name == name
        )
        methods = {node.name for node in view_class.body if isinstance(node, ast.FunctionDef)}
        found += [(method.upper(), route) for method in sorted(methods & {"get", "put", "post", "patch", "delete"})]
    return found


@pytest.mark.parametrize(("method", "route"), api_routes())
def test_every_method_of_every_api_route_has_a_heading_of_its_own(method, route):
    headings = re.findall(r"(?m)^###+ (.*)$", text("docs/api.md"))
    wanted = re.compile(f"`{method} {as_documented('/api/' + route).pattern}")
    assert [heading for heading in headings if wanted.match(heading)], f"{method} /api/{route}"


@pytest.mark.parametrize("heading", re.findall(r"(?m)^###+ `([A-Z]+ /\S+)`", text("docs/api.md")))
def test_no_heading_tells_of_a_route_that_is_gone(heading):
    method, _, path = heading.partition(" ")
    known = [as_documented("/api/" + route) for its_method, route in api_routes() if its_method == method]
    assert any(pattern.match(path + "`") for pattern in known), heading


@pytest.mark.parametrize("route", [route for route, _ in routes("web")])
def test_every_page_is_documented(route):
    pages = text("docs/operations.md") + text("docs/api.md")
    assert re.search("`" + as_documented("/" + route).pattern, pages), f"/{route}"


# Commands


def commands() -> dict[str, Path]:
    return {path.stem: path for path in APPS.glob("*/management/commands/*.py") if path.stem != "__init__"}


def verbs(path: Path) -> list[str]:
    return [str(keyword.arg) for call in calls(path, "verbs") for keyword in call.keywords]


def options(path: Path) -> set[str]:
    words = [word for call in calls(path, "add_argument") for arg in call.args for word in constants(arg)]
    return {word for word in words if word.startswith("--")}


def test_there_are_commands_to_look_at():
    assert {"agents", "token", "run", "doctor", "recover"} <= set(commands())
    assert verbs(commands()["token"]) == ["issue", "revoke", "list"]
    assert "--keep-mine" in options(commands()["recover"])


@pytest.mark.parametrize("command", sorted(commands()))
def test_every_command_its_verbs_and_options_are_documented(command):
    rows = [line for line in text("docs/operations.md").split("\n") if re.match(rf"\| `{command}[ `]", line)]
    told = "\n".join(rows)
    missing = [word for word in verbs(commands()[command]) if f"`{command} {word}" not in told]
    # An option in a loop over names is written as f"--{name}"; its constants are the names then.
    missing += [option for option in options(commands()[command]) if option not in told]
    assert rows, f"manage.py {command}"
    assert missing == []


# Tools


def tools() -> list[str]:
    return [word for call in calls(APPS / "tools" / "table.py", "Tool") for word in constants(call.args[0])]


def test_every_tool_has_a_heading_and_a_row_in_the_table_of_rights():
    assert tools()
    api = text("docs/api.md")
    rights = api.partition("## Rights")[2]
    assert [name for name in tools() if f"#### `{name}`" not in api or f"`{name}` |" not in rights] == []


def test_every_right_and_every_staff_permission_is_in_the_table_of_rights():
    rights, permissions = [], []
    for node in tree(APPS / "access.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RIGHTS":
            rights = ast.literal_eval(node.value)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STAFF_RIGHTS":
            permissions = [
                (right, permission) for permission, granted in ast.literal_eval(node.value).items() for right in granted
            ]
    table = text("docs/api.md").partition("## Rights")[2]
    assert rights
    assert permissions
    assert [right for right in rights if f"| `{right}` |" not in table] == []
    assert [pair for pair in permissions if f"| `{pair[0]}` | `{pair[1]}` |" not in table] == []


# Settings


READER = re.compile(
    r'\b(?:env\.)?(read|boolean|integer|words|folder|folders|time_zone|secret|dollars|key)\(\s*"([A-Z_]+)"(?:, ([^,)\n]+))?'
)


def settings() -> dict[str, str]:
    """Every variable that is read, with its default as written."""
    found = {"MEMORYHUB_HOME": ""}  # read by `environment.home`, since `manage.py` needs it before the settings
    for reader, name, default in READER.findall(text("memoryhub/settings.py")):
        found[f"MEMORYHUB_{name}"] = default if reader == "integer" else ""
        if reader == "secret":
            found[f"MEMORYHUB_{name}_FILE"] = ""
    return found


def test_every_setting_has_a_row_and_every_number_its_real_default():
    rows = dict(re.findall(r"(?m)^\| `(MEMORYHUB_[A-Z_]+)` \| ([^|]+) \|", text("docs/operations.md")))
    assert "MEMORYHUB_MODEL" in settings()
    assert sorted(set(settings()) - set(rows)) == []
    numbers = {name: eval(default) for name, default in settings().items() if re.fullmatch(r"[\d *]+", default)}
    assert {name: rows[name] for name in numbers} == {name: str(number) for name, number in numbers.items()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_a_setting_that_does_not_exist(page):
    named = set(re.findall(r"MEMORYHUB_[A-Z_]+[A-Z]", page.read_text(encoding="utf-8")))
    assert sorted(named - set(settings())) == []


# Error codes


def codes() -> set[str]:
    """Every code an error can carry: `code=…`, a class's default, and what an HTTP status or errno is called."""
    found: set[str] = set()
    for path in APPS.rglob("*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.keyword) and node.arg == "code":
                found.update(constants(node.value))
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "default_code":
                found.update(constants(node.value))
    for path, table in ((APPS / "vault" / "files.py", "_CODES"), (APPS / "api" / "errors.py", "CODES")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if ast.unparse(target) == table and isinstance(node.value, ast.Dict):
                    values = [value.elts[0] if isinstance(value, ast.Tuple) else value for value in node.value.values]
                    found.update(word for value in values for word in constants(value))
    # Parsing an answer reports findings by code as well; they are stored with the proposal and no error.
    return found - {"error"}


def test_every_error_code_is_documented():
    known = codes()
    assert {"busy_run", "disk_full", "throttled", "not_found", "root_missing"} <= known
    told = set(re.findall(r"`([a-z_]+)`", text("docs/api.md")))
    assert sorted(known - told) == []


def test_every_warning_code_is_documented():
    path = APPS / "proposals" / "warnings.py"
    found = {word for call in calls(path, "Warning") for word in constants(call.args[0])} if path.exists() else set()
    told = text("docs/api.md").partition("## Warnings")[2].partition("\n## ")[0]
    assert "lines_removed" in found
    assert sorted(code for code in found if f"`{code}`" not in told) == []


# Targets, packages, links


def test_every_make_target_is_documented():
    targets = re.findall(r"(?m)^([a-z][a-z-]*):", text("Makefile"))
    told = set(re.findall(r"`make ([a-z-]+)[^`]*`", text("README.md") + text("docs/operations.md")))
    assert "test-all" in targets
    assert sorted(set(targets) - told) == []
    assert sorted(told - set(targets)) == []


def test_every_package_is_on_the_map():
    packages = {path.name for path in APPS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    packages |= {path.stem for path in APPS.glob("*.py") if path.stem != "__init__"}
    the_map = text("docs/architecture.md").partition("## The map")[2].partition("\n## ")[0]
    line = text("docs/architecture.md").partition("## Layers")[2].partition("\n## ")[0]
    absent = [name for name in packages if not re.search(rf"(?m)\b{name}(?:/|\.py)", the_map)]
    assert absent == []
    assert [name for name in packages if not re.search(rf"\b{name}\b", line)] == []


@pytest.mark.parametrize("page", sorted((DOCS / "adr").glob("*.md")), ids=lambda page: page.stem)
def test_a_decision_has_its_number_a_question_a_choice_and_a_price(page):
    content = page.read_text(encoding="utf-8")
    assert re.match(rf"# {page.name[:4]}: \S", content)
    assert re.findall(r"(?m)^## (.*)$", content) == ["Question", "Choice", "Price"]


def anchors(content: str) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    titles = re.findall(r"(?m)^#+ (.*)$", content)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        aim = (page.parent / name).resolve() if name else page
        if not aim.exists() or (anchor and anchor not in anchors(aim.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


def test_a_link_to_nothing_would_be_seen():
    assert anchors("# Behind TLS\n\n## What's `new`?\n") == {"behind-tls", "whats-new"}
