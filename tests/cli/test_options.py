"""Options of each command, and what is said about wrong ones."""

from __future__ import annotations

import click
import pytest

from tests.cli.conftest import Call
from tests.processes import python
from timme.analysis.settings import Settings
from timme.cli.commands import app
from timme.cli.options import read_settings

FILES = "-o --output --overwrite"
LAST = "-j --workers --set"
FRAMES = "-s --select --chain -b --begin -e --end -dt --step"
FLAGS = {  # as they are specified, in their order
    "run": f"{FILES} {FRAMES} --unit --box --unwrap --columns --min-overlap --common-atoms "
    "--objects --pairs --linkage --noise --replicas --cutoff --min-size --full "
    f"{LAST} -v --verbose",
    "demo": FILES,
    "rigidity": f"{FILES} --chain --model --energy --ensemble --tethers --constraints --waters "
    f"--full {LAST}",
    "motion": f"{FILES} {FRAMES} --bodies --reference --axis-from --superposed {LAST}",
    "compare": f"{FILES} --chains --cutoffs {LAST}",
    "show": "--open -v --verbose",
    "export": "--cutoff --set -o --output --overwrite",
    "serve": "--port --data --no-browser --limit -v --verbose",
}


def test_commands_and_options_are_those_that_are_specified() -> None:
    found = {
        name: [
            flag for each in command.params if isinstance(each, click.Option) for flag in each.opts
        ]
        for name, command in app.commands.items()
    }
    assert found == {name: flags.split() for name, flags in FLAGS.items()}


@pytest.mark.parametrize("words", ["--help", "run --help", "run --set help", "run --min-size 0 x"])
def test_help_and_wrong_options_need_no_numerical_library(words: str) -> None:
    script = (
        "import sys; from timme.cli import main\n"
        f"try: main({words.split()})\n"
        "except SystemExit: print('!', {'numpy', 'numba', 'pandas', 'MDAnalysis'} & {*sys.modules})"
    )
    assert python("-c", script).stdout.splitlines()[-1] == "! set()"


def test_help_names_defaults_and_expert_options(call: Call) -> None:
    assert "..." not in call("--help").out.partition("Commands:")[2]
    text = " ".join(call("run", "-h").out.split())
    assert "-b, --begin FRAME|TIME First frame (counted from 0) or time, for example 10ns." in text
    assert "--min-size N Smallest cluster that counts (default: 10)." in text
    assert "sequence[:N], nearest[:N], or a file (default: contact:10 for molecules)." in text
    assert (
        "--energy E Energy of the weakest hydrogen bond that holds, in kcal/mol (default: -1.0)."
        in " ".join(call("rigidity", "-h").out.split())
    )
    code, text, _ = call("run", "--set", "help")
    assert code == 0
    assert "allow_truncated" in text
    assert "min_size" not in text  # has an option


def test_expert_settings_are_set_by_the_names_of_the_keywords() -> None:
    given = {"assigned": ("allow-truncated=yes", "reach=2"), "chain": "A,B", "end": None}
    read = read_settings(Settings, given)
    assert read == Settings(allow_truncated=True, reach=2, chain=("A", "B"))
    assert read.model_fields_set == {"allow_truncated", "reach", "chain"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run", "Missing argument 'FILES...'."),
        ("nix", "No such command 'nix'."),
        ("run x --min-size 0", "--min-size must be greater than or equal to 1, got '0'"),
        ("run x --set reach=-2", "--set reach= must be greater than or equal to 0, got '-2'"),
        ("run x --set reahc=2", "there is no option reahc=: use --set reach="),
        ("run x --set reach", "--set takes KEY=VALUE, got 'reach': --set help lists the keys"),
        ("run x --overwirte", "there is no option --overwirte: use --overwrite"),
        ("run x --reach 2", "there is no option --reach: use --set reach="),
        ("run x --tethers 3", "there is no option --tethers"),
        ("show x --opn", "there is no option --opn: use --open"),
        ("demo -q", "there is no option -q"),
        ("rigidity x --ensemble --model 2",
         "--ensemble takes all models: leave out --model, --set perturb=, --constraints"),
        ("serve --port x", "--port must be a valid integer, got 'x'"),
        ("serve --limit memory=lots",
         "--limit memory= could not parse value and unit from byte string, got 'lots'"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused_in_one_line(call: Call, words: str, message: str) -> None:
    assert call(*words.split()) == (2, "", f"timme: error: {message}\n")
