"""A report is one file with a strict policy, and whatever it names is text."""

import base64
import hashlib
import re

import pytest

from tests.output.builders import particles, random_graph
from timme.output import report
from timme.output.scene import scene

NAME = '"><img src=x onerror=alert(1)></title></script>'


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A stand-in for the built page, with all that must not stand in a script."""
    parts = {
        report.SCRIPT: "document.title; '</script><script>'; '<!--'",
        report.STYLE: ".timme { color: red }",
    }
    monkeypatch.setattr(report, "page_part", parts.get)
    return parts


def made(title: str = NAME) -> str:
    return report.report_html(scene(particles(random_graph(12, 1)), title=title))


def policy(text: str) -> dict[str, str]:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert found is not None
    return dict(entry.strip().split(" ", 1) for entry in found[1].split(";"))


@pytest.mark.usefixtures("page")
def test_nothing_may_be_fetched_and_only_the_own_script_may_run() -> None:
    rules = policy(made())
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in " ".join(rules.values())
    assert "http" not in " ".join(rules.values())


@pytest.mark.usefixtures("page")
def test_the_policy_holds_the_hash_of_the_script_and_of_the_style() -> None:
    text = made()
    rules = policy(text)
    elements = {"script-src": r"<script>(.*?)</script>", "style-src": r"<style>(.*?)</style>"}
    for rule, pattern in elements.items():
        found = re.findall(pattern, text, re.DOTALL)
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


@pytest.mark.usefixtures("page")
def test_a_title_is_text_wherever_it_stands() -> None:
    text = made()
    assert "<img" not in text
    assert text.count("</title>") == 1
    assert text.count("</script>") == 2


def test_a_page_of_a_server_has_no_script_of_its_own() -> None:
    text = report.linked_html(NAME, parts="/static", scene="/jobs/1/scene.json")
    assert "<img" not in text
    assert re.findall(r"<script[^>]*>", text) == ['<script src="/static/page.js">']
    assert 'data-scene="/jobs/1/scene.json"' in text
    assert policy(text)["script-src"] == "'self'"


def test_without_the_page_an_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "page_part", lambda _: None)
    with pytest.raises(FileNotFoundError, match="install again with access to npm"):
        made()
