"""Invariants of the source tree: parts keep their budgets, and imports point down."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "timme"
LONGEST_MODULE, LONGEST_FUNCTION, LONGEST_CHAIN, MOST_MODULES = 300, 60, 28, 130

# Code lines, without docstrings, comments and blank lines.
BUDGETS = {
    "_kernels _arrays _text memory series": 1530,
    "engine": 655,
    "objects contacts pairs site_pairs fluctuations parts": 1005,
    "hierarchy": 870,
    "ensemble data": 1225,
    "io": 2160,
    "rigidity comparison theory synthetic demo": 1590,
    "confidence motion": 2200,
    "analysis": 2640,
    "output notebook": 1440,
    "cli server mdanalysis sklearn __init__ __main__": 1265,
}
WHOLE, TESTS = 16_550, 13_940

SKIPPED = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def code_lines(path: Path) -> frozenset[int]:
    """Numbers of the lines that hold code."""
    source = path.read_text("utf-8")
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SKIPPED:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | FUNCTIONS) and ast.get_docstring(node):
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return frozenset(lines)


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def sizes() -> Counter[str]:
    found = Counter[str]()
    for path in SOURCE.rglob("*.py"):
        found[part_of(path)] += len(code_lines(path))
    return found


def test_every_part_keeps_its_budget() -> None:
    found = sizes()
    assert set(found) == {name for names in BUDGETS for name in names.split()}
    for names, budget in BUDGETS.items():
        assert sum(found[name] for name in names.split()) <= budget, names
    assert sum(found.values()) <= WHOLE


def test_tests_keep_their_budget() -> None:
    assert sum(len(code_lines(path)) for path in Path(__file__).parent.rglob("*.py")) <= TESTS


def test_modules_and_functions_are_short() -> None:
    paths = list(SOURCE.rglob("*.py"))
    assert len(paths) <= MOST_MODULES
    for path in paths:
        lines = code_lines(path)
        assert len(lines) <= LONGEST_MODULE, path
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, FUNCTIONS):
                body = lines & set(range(node.lineno, (node.end_lineno or 0) + 1))
                assert len(body) <= LONGEST_FUNCTION, f"{path}: {node.name}"


def test_chains_of_imports_are_short_and_acyclic() -> None:
    grimp = pytest.importorskip("grimp", reason="import-linter is not installed")
    graph = grimp.build_graph(SOURCE.name, cache_dir=None, exclude_type_checking_imports=True)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    chain = dict[str, int]()
    for module in TopologicalSorter(imports).static_order():  # raises an error that names a cycle
        chain[module] = 1 + max((chain[other] for other in imports[module]), default=0)
    assert max(chain.values()) <= LONGEST_CHAIN
