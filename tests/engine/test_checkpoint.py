"""Interrupted runs go on from where they were, to the same bits; other runs are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.killing import KilledError, kill_at
from tests.readers.builders import write_trajectory
from timme import analyse, objects, pairs, read, synthetic
from timme._arrays import Floats
from timme.analysis import Analysis
from timme.engine.checkpoint import Checkpoint, Interrupted, digest
from timme.engine.moments import Moments
from timme.engine.reduction import moments, moments_by_part
from timme.engine.run import Run
from timme.fluctuations import Fluctuations, measure
from timme.fluctuations.parts import measure_parts
from timme.hierarchy import Hierarchy, cluster, clustering, pruning
from timme.objects import Objects
from timme.pairs import Pairs
from timme.system.ensemble import Ensemble

Step = Callable[..., Any]


def snapshots(n_frames: int = 600, n_sites: int = 20, *, seed: int = 0) -> Floats:
    """More frames than fit into a few blocks."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_frames, n_sites, 3)) * np.linspace(0.1, 1.0, n_sites)[:, None]


def points(n_frames: int = 600, n_sites: int = 20) -> Objects:
    return objects.points(Ensemble.from_array(snapshots(n_frames, n_sites)))


def groups() -> Objects:
    sets = [[3 * k, 3 * k + 1, 3 * k + 2] for k in range(6)]
    return objects.groups(Ensemble.from_array(snapshots()), sets)


def calls_of(run: Step) -> int:
    """How often a run reports progress."""
    count = 0

    def counting(*_: int) -> None:
        nonlocal count
        count += 1

    run(progress=counting)
    return count


def ended(
    run: Step,
    path: Path,
    *,
    resume: bool = False,
    interval: float = 30.0,
    progress: Any = None,
) -> Any:
    """Run to the end with a checkpoint."""
    with Checkpoint(path, resume=resume, interval=interval) as checkpoint:
        return run(progress=progress, checkpoint=checkpoint)


def interrupted_at(call: int, run: Step, path: Path, **options: Any) -> None:
    """Run until progress is reported for the given time."""
    with pytest.raises(KilledError):
        ended(run, path, interval=0.0, progress=kill_at(call), **options)


def bits(result: Any) -> list[bytes]:
    if isinstance(result, Moments):
        return [array.tobytes() for array in result.arrays]
    if isinstance(result, Hierarchy):
        return [result.parents.tobytes(), result.heights.tobytes()]
    if isinstance(result, Pairs):
        return [b"all" if result.index is None else result.index.tobytes()]
    assert isinstance(result, Fluctuations)
    return [result.pairs.tobytes(), result.sigma.tobytes(), result.common.tobytes()]


def sums(**options: Any) -> Moments:
    chosen = points()
    run = Run.of(**options)
    return moments(chosen.ensemble, next(pairs.all(chosen).chunks(1000)), run=run)


def sigma_of_points(**options: Any) -> Fluctuations:
    chosen = points()
    return measure(chosen, pairs.all(chosen), **options)


def sigma_in_pieces(**options: Any) -> Fluctuations:
    chosen = points()
    return measure(chosen, pairs.all(chosen), chunk=50, **options)


def sigma_of_groups_in_pieces(**options: Any) -> Fluctuations:
    chosen = groups()
    return measure(chosen, pairs.all(chosen), chunk=4, **options)


def tree_in_pieces(**options: Any) -> Hierarchy:
    chosen = points()
    return cluster(chosen, pairs.all(chosen), chunk=50, **options)


def bodies() -> Objects:
    """Points of which most pairs are given up."""
    return objects.points(synthetic.hinged(4, 150, 300).ensemble)


def pruned_tree(**options: Any) -> Hierarchy:
    chosen = bodies()
    return cluster(chosen, pairs.all(chosen), **options)


def pruned_tree_in_pieces(**options: Any) -> Hierarchy:
    chosen = bodies()
    return cluster(chosen, pairs.all(chosen), chunk=200, **options)


def contacts(**options: Any) -> Pairs:
    return pairs.within(points(), 1.0, at_least=200, **options)


RUNS = [contacts, sums, sigma_of_points, sigma_in_pieces, sigma_of_groups_in_pieces, tree_in_pieces]


@pytest.mark.parametrize("run", [*RUNS, pruned_tree, pruned_tree_in_pieces])
def test_an_interruption_at_any_block_changes_no_bit(run: Step, tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    whole = bits(run())
    for call in range(1, calls_of(run) + 1):
        interrupted_at(call, run, path)
        assert path.is_file()
        with Checkpoint(path, resume=True, interval=0.0) as checkpoint:
            assert bits(run(checkpoint=checkpoint)) == whole
            assert checkpoint.resumed
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("run", RUNS)
def test_a_resumed_run_does_not_begin_anew(run: Step, tmp_path: Path) -> None:
    """Interrupted at every block, it ends after as many attempts as there are blocks."""
    path = tmp_path / "a.checkpoint"
    for _ in range(calls_of(run)):
        interrupted_at(1, run, path, resume=True)
    with Checkpoint(path, resume=True) as checkpoint:
        left = calls_of(lambda progress: run(progress=progress, checkpoint=checkpoint))
    assert left == 0


def test_pieces_are_those_of_the_interrupted_run(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    chosen = points()
    interrupted_at(7, sigma_in_pieces, path)
    with Checkpoint(path, resume=True) as checkpoint:
        found = measure(chosen, pairs.all(chosen), chunk=70, checkpoint=checkpoint)
    assert bits(found) == bits(sigma_of_points())


def test_a_warning_counts_the_pairs_of_finished_pieces(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    chosen = objects.points(Ensemble.from_array(snapshots(), boxes=[1.0, 1.0, 1.0]))

    def run(**options: Any) -> Fluctuations:
        return measure(chosen, pairs.all(chosen), chunk=50, **options)

    with pytest.warns(UserWarning, match="half the periodic box") as expected:
        run()
    interrupted_at(7, run, path)
    with pytest.warns(UserWarning, match="half the periodic box") as found:
        ended(run, path, resume=True)
    assert str(found[0].message) == str(expected[0].message)


def test_sums_of_other_pairs_are_not_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(2, sigma_of_points, path)
    with Checkpoint(path, resume=True) as checkpoint:
        chosen = groups()
        found = measure(chosen, pairs.all(chosen), checkpoint=checkpoint)
    assert bits(found) == bits(measure(chosen, pairs.all(chosen)))


def with_another_end(given: Ensemble) -> Ensemble:
    moved = np.array(given.block(0).coordinates)
    rest = given.frames.read(len(moved), given.n_snapshots)[0] + 0.1
    return Ensemble.from_array(np.concatenate([moved, rest]))


def weighted(given: Ensemble) -> Ensemble:
    return replace(given, weights=np.linspace(0.5, 1.0, given.n_snapshots))


def boxed(given: Ensemble) -> Ensemble:
    return Ensemble.from_array(given.frames.read(0, given.n_snapshots)[0], boxes=[5.0, 5.0, 5.0])


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize("change", [with_another_end, weighted, boxed])
@pytest.mark.parametrize("chunk", [50, None])
def test_sums_over_other_snapshots_are_not_taken_up(
    tmp_path: Path, change: Callable[[Ensemble], Ensemble], chunk: int | None
) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(2 if chunk is None else 7, partial(sigma_of_points, chunk=chunk), path)
    chosen = objects.points(change(points().ensemble))
    with Checkpoint(path, resume=True) as checkpoint:
        found = measure(chosen, pairs.all(chosen), chunk=chunk, checkpoint=checkpoint)
        assert checkpoint.resumed
    assert bits(found) == bits(measure(chosen, pairs.all(chosen)))


@pytest.mark.parametrize("options", [{"reduction": "max"}, {"centre": "mass", "reduction": "rms"}])
def test_sums_of_other_objects_are_not_taken_up(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(5, sigma_of_groups_in_pieces, path)
    sets = [[3 * k, 3 * k + 1] for k in range(6)]
    chosen = objects.groups(groups().ensemble, sets, **options)
    with Checkpoint(path, resume=True) as checkpoint:
        found = measure(chosen, pairs.all(chosen), chunk=4, checkpoint=checkpoint)
    assert bits(found) == bits(measure(chosen, pairs.all(chosen)))


def test_sums_of_another_metric_are_not_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    lengths = [
        lambda a, b: np.abs(a - b).sum(axis=-1),
        lambda a, b: np.abs(a - b).max(axis=-1),
    ]
    for chunk, call in ((None, 2), (50, 7)):
        one, other = (partial(sigma_of_points, metric=metric, chunk=chunk) for metric in lengths)
        interrupted_at(call, one, path)
        assert bits(ended(other, path, resume=True)) == bits(other())


def test_one_checkpoint_keeps_two_ensembles_apart(tmp_path: Path) -> None:
    chosen = points()
    other = objects.points(with_another_end(chosen.ensemble))
    with Checkpoint(tmp_path / "a.checkpoint") as checkpoint:
        for each in (chosen, other):
            found = measure(each, pairs.all(each), checkpoint=checkpoint)
            assert bits(found) == bits(measure(each, pairs.all(each)))


@pytest.mark.parametrize("fails", [False, True], ids=["ends well", "fails"])
@pytest.mark.parametrize("radius", [None, 1.0], ids=["all pairs", "contacts"])
def test_a_checkpoint_of_an_analysis_knows_nothing_of_what_comes_after(
    tmp_path: Path, radius: float | None, fails: bool
) -> None:
    """In two ensembles with the first snapshot in common."""
    chosen = points()
    other = objects.points(with_another_end(chosen.ensemble))
    checkpoint = Checkpoint(tmp_path / "a.checkpoint", interval=1e6)
    options: Any = {"objects": "points", "pairs": "all"} if radius is None else {"radius": radius}

    def failing(done: int, total: int) -> None:
        if fails and done == total:
            raise KilledError

    with pytest.raises(KilledError) if fails else nullcontext():
        analyse(chosen.ensemble, checkpoint=checkpoint, progress=failing, **options)
    assert not checkpoint.identified

    def compared(**kept: Any) -> Pairs:
        return pairs.all(other) if radius is None else pairs.within(other, radius, **kept)

    partners = compared(checkpoint=checkpoint)
    assert bits(partners) == bits(compared())
    assert bits(measure(other, partners, checkpoint=checkpoint)) == bits(measure(other, partners))


@pytest.mark.parametrize("run", [*RUNS, pruned_tree, pruned_tree_in_pieces])
def test_nothing_of_a_finished_run_is_saved_with_the_next(run: Step, tmp_path: Path) -> None:
    """But for contacts, as a run that is interrupted while they are measured looks for them."""
    path = tmp_path / "a.checkpoint"
    checkpoint = Checkpoint(path, interval=0.0)
    run(checkpoint=checkpoint)
    checkpoint.save()
    with np.load(path) as archive:
        kept = {name.split("/")[0] for name in archive.files} - {"text"}
    assert kept == ({"contacts"} if run is contacts else set())


def test_contacts_are_not_searched_for_again_while_they_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"

    def run(**options: Any) -> Fluctuations:
        return measure(points(), contacts(**options), chunk=50, **options)

    searched = calls_of(contacts)
    interrupted_at(searched + 1, run, path)
    left = calls_of(partial(ended, run, path, resume=True))
    assert left == calls_of(run) - searched - 1


def test_a_file_that_was_changed_is_measured_anew(tmp_path: Path) -> None:
    path, source = tmp_path / "a.checkpoint", tmp_path / "a.dcd"
    write_trajectory(source, snapshots())

    def run(**options: Any) -> Fluctuations:
        chosen = objects.points(read(source, bonds="none"))
        return measure(chosen, pairs.all(chosen), **options)

    interrupted_at(2, run, path)
    changed = snapshots()
    changed[300:] += 0.1 * snapshots(300, seed=1)
    write_trajectory(source, changed)
    assert bits(ended(run, path, resume=True)) == bits(run())


def test_scattered_numbers_have_the_fingerprint_of_their_copy() -> None:
    scattered = snapshots()[::2, :, ::-1]
    assert digest(scattered) == digest(scattered.copy()) != digest(scattered[::-1])


def test_contacts_within_another_radius_are_not_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(2, contacts, path)
    with Checkpoint(path, resume=True) as checkpoint:
        found = pairs.within(points(), 1.1, at_least=200, checkpoint=checkpoint)
    assert bits(found) == bits(pairs.within(points(), 1.1, at_least=200))


def test_an_interrupted_search_for_contacts_goes_on(array_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    left_behind(array_file, path, radius=1.0)
    found = analysed(array_file, path, radius=1.0)
    assert bits(found.hierarchy) == bits(analyse(array_file, radius=1.0).hierarchy)


def test_what_changed_since_it_was_whole_is_not_taken_up(tmp_path: Path) -> None:
    """Neither after a refusal nor after an error, with one checkpoint all along."""
    chosen, expected = points(), bits(contacts())
    n_found = len(pairs.within(chosen, 1.0))
    for most in (n_found // 2, n_found - 1):
        checkpoint = Checkpoint(tmp_path / "a.checkpoint")
        with pytest.raises(ValueError, match="pairs are in contact"):
            contacts(checkpoint=checkpoint, most=most)
        assert bits(contacts(checkpoint=checkpoint)) == expected

    def failing(done: int, _: int) -> None:
        if done > 300:
            raise KilledError

    with pytest.raises(KilledError):
        sums(checkpoint=checkpoint, progress=failing)
    assert bits(sums(checkpoint=checkpoint)) == bits(sums())


def test_a_run_that_was_stopped_can_be_started_again(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "a.checkpoint", resume=True)

    def progress(*_: int) -> None:
        assert checkpoint.stop()

    with pytest.raises(Interrupted):
        sums(progress=progress, checkpoint=checkpoint)
    assert bits(sums(checkpoint=checkpoint)) == bits(sums())


# ---- when it is saved --------------------------------------------------------------------------


def test_a_short_run_writes_nothing(tmp_path: Path) -> None:
    def run(**options: Any) -> None:
        sums(**options)
        raise KilledError

    with pytest.raises(KilledError):
        ended(run, tmp_path / "a.checkpoint")
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_told_to_stop_saves_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"

    def progress(*_: int) -> None:
        assert checkpoint.stop()

    with pytest.raises(Interrupted), Checkpoint(path) as checkpoint:
        sums(progress=progress, checkpoint=checkpoint)
    assert path.is_file()
    with Checkpoint(path, resume=True) as resumed:
        assert bits(sums(checkpoint=resumed)) == bits(sums())


def test_what_is_not_under_way_cannot_be_saved(tmp_path: Path) -> None:
    assert not Checkpoint(tmp_path / "a.checkpoint").stop()


def test_a_writing_that_fails_leaves_the_earlier_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(2, sums, path)
    before = path.read_bytes()

    def half(file: Any, **_: Any) -> None:
        file.write(before[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", half)
    with pytest.raises(OSError, match="No space"), Checkpoint(path, interval=0.0) as checkpoint:
        sums(checkpoint=checkpoint)
    assert path.read_bytes() == before


# ---- what is refused ---------------------------------------------------------------------------


@pytest.fixture
def array_file(tmp_path: Path) -> Path:
    path = tmp_path / "a.npy"
    np.save(path, snapshots())
    return path


def analysed(source: Any, path: Path, *, resume: bool = True, **options: Any) -> Analysis:
    with Checkpoint(path, resume=resume, interval=0.0) as checkpoint:
        return analyse(source, checkpoint=checkpoint, **options)


def left_behind(source: Any, path: Path, **options: Any) -> None:
    def progress(done: int, total: int) -> None:
        if done > total // 2:
            raise KilledError

    with pytest.raises(KilledError):
        analysed(source, path, progress=progress, **options)


def test_the_same_call_goes_on(array_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    left_behind(array_file, path)
    found = analysed(array_file, path, cutoff=0.3, large=5)  # which change pictures alone
    assert bits(found.hierarchy) == bits(analyse(array_file).hierarchy)
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"step": 2}, "option step was not given, now 2"),
        ({"select": "all"}, "option select was not given, now all"),
        ({"min_overlap": 600}, "option min_overlap"),
        ({"box": [9.0, 9.0, 9.0]}, "option box"),
        ({"weights": [1.0] * 600}, "option weights"),
    ],
)
def test_other_options_are_refused(
    array_file: Path, tmp_path: Path, options: dict[str, Any], named: str
) -> None:
    path = tmp_path / "a.checkpoint"
    left_behind(array_file, path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"a checkpoint of another run: the {named}"):
        analysed(array_file, path, **options)
    assert path.read_bytes() == before


def test_another_input_is_refused(array_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    left_behind(array_file, path)
    np.save(array_file, snapshots(seed=1))
    with pytest.raises(ValueError, match=r"input 1 was a\.npy \(SHA-256 .*now a\.npy"):
        analysed(array_file, path)


def test_another_array_in_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    left_behind(snapshots(), path)
    other = snapshots()
    other[400, 3, 1] += 1e-9
    with pytest.raises(ValueError, match="the data of the snapshots"):
        analysed(other, path)


def test_another_list_of_pairs_under_the_same_name_is_refused(
    array_file: Path, tmp_path: Path
) -> None:
    path, listed = tmp_path / "a.checkpoint", tmp_path / "pairs.txt"
    listed.write_text("1 2\n2 3\n")
    left_behind(array_file, path, pairs=str(listed))
    listed.write_text("1 2\n2 4\n")
    with pytest.raises(ValueError, match=r"the option pairs was .*pairs\.txt \(SHA-256"):
        analysed(array_file, path, pairs=str(listed))


def test_another_version_is_refused(
    array_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.checkpoint"
    left_behind(array_file, path)
    monkeypatch.setattr("timme.workflow.identity.__version__", "99.0")
    with pytest.raises(ValueError, match=r"version of timme was \S+, now 99\.0"):
        analysed(array_file, path)


def test_a_checkpoint_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    kept = Checkpoint(path)
    kept.keep("sums", done=1)
    kept.save()
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    text = arrays["text"].tobytes().replace(b'"format": 1', b'"format": 2')
    with path.open("wb") as file:
        np.savez(file, **(arrays | {"text": np.frombuffer(text, np.uint8)}))
    with pytest.raises(ValueError, match="a checkpoint of another version: remove it"):
        Checkpoint(path, resume=True).identify({})


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", b"PK\x03\x04 cut off"],
    ids=["empty", "no archive", "cut off"],
)
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.checkpoint"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a checkpoint of timme, or a damaged one"):
        Checkpoint(path, resume=True).identify({})


def test_a_checkpoint_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(2, sums, path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 60):
        changed = bytearray(whole)
        changed[place] ^= 0x40
        path.write_bytes(bytes(changed))
        # Some bytes of an archive mean nothing; what is read is always what was saved.
        try:
            resumed = Checkpoint(path, resume=True)
            resumed.identify({})
        except ValueError:
            continue
        assert bits(sums(checkpoint=resumed)) == bits(sums())


def change_contents(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Write a whole archive with other arrays in it."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    change(arrays)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def without_an_entry_of_the_text(entry: str, arrays: dict[str, Any]) -> None:
    text = json.loads(arrays["text"].tobytes())
    del text[entry]
    arrays["text"] = np.frombuffer(json.dumps(text).encode(), np.uint8)


@pytest.mark.parametrize("entry", ["mark", "format", "identity"])
def test_a_checkpoint_that_lacks_a_line_of_its_text_is_refused(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(2, sums, path)
    change_contents(path, partial(without_an_entry_of_the_text, entry))
    with pytest.raises(ValueError, match="not a checkpoint of timme, or a damaged one: remove"):
        ended(sums, path, resume=True)


def parts_in_pieces(**options: Any) -> list[bytes]:
    array = snapshots()
    array[::7, 3] = np.nan
    chosen = objects.points(Ensemble.from_array(array, gaps=True))
    parts = [range(200), range(100, 400), range(300, 600)]
    run = Run.of(**options)
    found = measure_parts(chosen, pairs.all(chosen), parts, chunk=100, run=run)
    return [found.variance.tobytes(), found.common.tobytes()]


def sums_of_parts(**options: Any) -> list[bytes]:
    array = Ensemble.from_array(snapshots())
    parts = [range(100), range(50, 400), range(300, 600)]
    index = next(pairs.all(points()).chunks(1000))
    found = moments_by_part(array, index, parts, run=Run.of(**options))
    return [array.tobytes() for kept in found for array in kept]


@pytest.mark.parametrize(
    ("run", "call"),
    [
        (contacts, 2),
        (sums, 2),
        (sums_of_parts, 3),
        (parts_in_pieces, 9),
        pytest.param(sigma_in_pieces, 7, marks=pytest.mark.thorough),
        pytest.param(sigma_of_groups_in_pieces, 5, marks=pytest.mark.thorough),
        pytest.param(pruned_tree_in_pieces, 3, marks=pytest.mark.thorough),
    ],
)
def test_a_whole_archive_with_wrong_contents_is_refused(
    run: Step, call: int, tmp_path: Path
) -> None:
    """Each array in turn is missing, too short, of another type or has numbers out of bounds."""
    path = tmp_path / "a.checkpoint"
    interrupted_at(call, run, path)
    whole = path.read_bytes()
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "text"}
    for name, array in arrays.items():
        for other in wrong_for(name.split("/")[1], array):
            path.write_bytes(whole)
            change_contents(path, partial(put, name, other))
            with pytest.raises(ValueError, match="not a checkpoint of timme, or a damaged one"):
                ended(run, path, resume=True)


def wrong_for(entry: str, array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any] | None]:
    yield None
    yield array[None]
    if array.ndim and array.size:
        yield array[..., :-1]
        if entry != "found":  # of which nothing else says how many there are
            yield array[:-1]
    if array.dtype.kind in "if":
        yield array.astype(np.float32)
    if entry in {"pairs", "keys", "edges", "found"} and array.size:
        yield np.full_like(array, -1)
        yield np.full_like(array, 10**12)


def put(name: str, array: npt.NDArray[Any] | None, arrays: dict[str, Any]) -> None:
    arrays.pop(name)
    if array is not None:
        arrays[name] = array


@pytest.mark.parametrize(
    ("run", "call", "name"),
    [
        (contacts, 1, "contacts/done"),
        (sums, 1, "moments/done"),
        (sums_of_parts, 1, "moments/done"),
        (parts_in_pieces, 9, "parts/done"),
        (sigma_in_pieces, 7, "pieces/done"),
    ],
)
def test_a_checkpoint_that_ends_within_a_step_is_refused(
    run: Step, call: int, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.checkpoint"
    for done in (-1, 49, 10**6):
        interrupted_at(call, run, path)
        change_contents(path, partial(put, name, np.array(done)))
        with pytest.raises(ValueError, match="not a checkpoint of timme, or a damaged one"):
            ended(run, path, resume=True)


def test_an_array_saved_by_pickle_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    with path.open("wb") as file:
        np.savez(file, text=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="damaged"):
        Checkpoint(path, resume=True).identify({})


def test_a_digest_tells_shapes_types_and_values() -> None:
    arrays = [np.arange(6), np.arange(6.0), np.arange(6).reshape(2, 3), np.arange(1, 7)]
    assert len({digest(array) for array in arrays}) == 4
    assert digest(arrays[2].T) == digest(np.ascontiguousarray(arrays[2].T))


def test_the_pruned_search_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.checkpoint"
    interrupted_at(4, pruned_tree, path)
    searched: list[int] = []
    find = pruning.find_survivors

    def counting(search: Any, band: int) -> Any:
        searched.append(band)
        return find(search, band)

    monkeypatch.setattr(clustering, "find_survivors", counting)
    with Checkpoint(path, resume=True) as checkpoint:
        pruned_tree(checkpoint=checkpoint)
    assert min(searched) >= 3


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_is_no_checkpoint(tmp_path: Path, resume: bool) -> None:
    with pytest.raises(
        IsADirectoryError, match=r"a checkpoint is one file, .* folder: name a file"
    ):
        Checkpoint(tmp_path, resume=resume)


@pytest.mark.parametrize("interval", [-1.0, np.nan, np.inf])
def test_an_interval_that_means_nothing_is_refused(tmp_path: Path, interval: float) -> None:
    with pytest.raises(ValueError, match="an interval must be seconds, 0 or more"):
        Checkpoint(tmp_path / "a.checkpoint", interval=interval)
