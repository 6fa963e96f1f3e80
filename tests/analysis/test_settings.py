"""Settings: defaults, values as people write them, and what is wrong with others."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from timme.analysis.settings import (
    CompareSettings,
    Model,
    MotionSettings,
    RigiditySettings,
    Settings,
    make,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "settings.json").read_text("utf-8"))
RENAMED = {"start": "begin", "stop": "end", "show": "shown"}
# merged with others, or gone; of rigidity, the cutoff is an energy and always given
DROPPED = {
    *(
        f"Settings.{name}"
        for name in ("large", "radius", "neighbours", "trusted", "trust_images", "windows", "lags")
    ),
    *(f"RigidSettings.{name}" for name in ("large", "cutoff", "length")),
}
CHANGED = {"min_size": 10, "palette": "safe", "ensemble": False}
KINDS: dict[str, type[Model]] = {
    "RigidSettings": RigiditySettings,
    "Settings": Settings,
    "CompareSettings": CompareSettings,
}


@pytest.mark.parametrize("name", [name for name in GOLDEN if name not in DROPPED])
def test_defaults_and_choices_are_those_that_were_frozen(name: str) -> None:
    kind, _, old = name.partition(".")
    model: type[Model] = KINDS[kind]
    field, frozen = RENAMED.get(old, old), GOLDEN[name]
    default = model.model_fields[field].default
    assert default == CHANGED.get(old, frozen["default"])
    told = model.model_json_schema()["properties"][field]
    choices: list[str] = next(
        (part["enum"] for part in [told, *told.get("anyOf", [])] if "enum" in part), []
    )
    if field not in {"select", "bonds"}:
        assert sorted(choices or told["choices"]) == sorted(frozen["choices"])


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("begin", "10ns", "10ns"),
        ("end", " 20 ", 20),
        ("step", np.int64(3), 3),
        ("unwrap", "yes", True),
        ("chain", "A,B", ("A", "B")),
        ("box", "20,20,20", (20.0, 20.0, 20.0)),
        ("box", "none", False),
        ("box", None, None),
        ("box", np.eye(2), ((1.0, 0.0), (0.0, 1.0))),
        ("columns", "frame,particle,x", ("frame", "particle", "x")),
        ("columns", [1, 2, 3], (1, 2, 3)),
        ("weights", pd.Series([1, 2]), (1.0, 2.0)),
        ("weights", "1,2", (1.0, 2.0)),
        ("weights", "weights.txt", "weights.txt"),
        ("replicas", "50,50", (50, 50)),
        ("replicas", np.array([49, 49]), (49, 49)),
        ("noise", "0.03,0.03,0.06", (0.03, 0.03, 0.06)),
        ("noise", 0, (0.0,)),
        ("min_overlap", "auto", "auto"),
        ("confidence", "none", None),
        ("bonds", "none", "none"),
        ("pairs", "contact:8.5", "contact:8.5"),
        ("pairs", "C:/pairs.csv", "C:/pairs.csv"),
        ("memory", "500 MB", 500_000_000),
        ("memory", "1.5GiB", 1.5 * 2**30),
    ],
)
def test_values_are_understood_as_people_write_them(
    name: str, given: object, expected: object
) -> None:
    chosen = make(Settings, **{name: given})
    assert getattr(chosen, name) == expected
    assert chosen.model_fields_set == {name}
    assert Settings.model_validate_json(chosen.model_dump_json()) == chosen


@pytest.mark.parametrize(
    ("model", "given", "told"),
    [
        (Settings, {"min_size": 0}, "min_size= must be greater than or equal to 1, got 0"),
        (Settings, {"min_size": "x"}, "min_size= must be a valid integer, got 'x'"),
        (Settings, {"length": "0"}, "length= must be greater than 0, got '0'"),
        (Settings, {"linkage": "ward"}, "linkage= must be 'single', 'braced' or 'average', got"),
        (Settings, {"cutoff": "nan"}, "cutoff= must be a finite number, got 'nan'"),
        (Settings, {"cutoff": -1}, "cutoff= must be greater than or equal to 0, got -1"),
        (RigiditySettings, {"ph": 15}, "ph= must be less than or equal to 14, got 15"),
        (Settings, {"begin": "soon"}, "begin= takes FRAME|TIME, got 'soon'"),
        (Settings, {"step": "-2"}, "step= takes N|TIME, got '-2'"),
        (Settings, {"box": "big"}, "box= takes LENGTHS|none, got 'big'"),
        (Settings, {"replicas": "a"}, "replicas= takes LENGTHS|one, got 'a'"),
        (Settings, {"min_overlap": 1}, "min_overlap= takes N|auto, got 1"),
        (Settings, {"noise": -1}, "noise= takes LENGTH|auto, got -1"),
        (Settings, {"pairs": "contact:0"}, "pairs= takes contact:RADIUS above 0, got 'contact:0'"),
        (Settings, {"pairs": "all:3"}, "pairs= takes all without a number, got 'all:3'"),
        (
            Settings,
            {"memory": "lots"},
            "memory= could not parse value and unit from byte string, got",
        ),
        (Settings, {"minsize": 3}, "there is no option minsize=: use min_size="),
        (RigiditySettings, {"ensemble": True, "model": 2}, "ensemble= takes all models: leave out"),
        (CompareSettings, {"chains": "A=B,A=C"}, "chains= takes each chain once, such as A=B,C=D"),
        (CompareSettings, {"cutoffs": "1"}, "cutoffs= takes V,V, got '1'"),
        (MotionSettings, {"axis_from": "a.pdb"}, "axis_from= takes FILE,FILE, got 'a.pdb'"),
    ],
)
def test_wrong_values_are_refused_in_one_line_with_a_remedy(
    model: type[Model], given: dict[str, object], told: str
) -> None:
    with pytest.raises(ValueError, match=rf"\A{re.escape(told)}.*\Z"):
        make(model, **given)
