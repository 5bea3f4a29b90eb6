"""The project as text: its modules, what each imports, and its functions."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ("senselab", "memories", "outcomes")


@dataclass(frozen=True)
class Module:
    """A Python file of the project and its dotted name."""

    path: Path

    @property
    def name(self) -> str:
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text())

    @cached_property
    def lines(self) -> int:
        return len(self.path.read_text().splitlines())

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def imports(self) -> Iterator[str]:
        """Yield the dotted name of everything imported, inside functions as well; a name of a module comes whole."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name} imports relatively"
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def sources(*folders: str) -> list[Module]:
    """Return the modules below some folders of the project, migrations left out."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts]
    return [Module(path) for path in sorted(found)]


def ours() -> list[Module]:
    return sources(*APPS)
