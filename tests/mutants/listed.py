"""What is broken, how, and which tests should notice it."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One change of one line, which a user would notice."""

    file: str  # in src/timme
    breaks: str  # what, in words
    old: str  # occurs once in the file
    new: str
    tests: list[str]  # files in tests, as few as should notice it


def _mutants(file: str, tests: str, *changes: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(file, breaks, old, new, tests.split()) for breaks, old, new in changes]


MUTANTS = [
    # ---- compiled loops ------------------------------------------------------------------------
    *_mutants(
        "_kernels/metrics.py",
        "engine/test_metrics.py",
        (
            "the last coordinate counts in place of the farthest",
            "if apart > distances[frame] or np.isnan(apart):",
            "if True:",
        ),
        (
            "longitudes count the same at all latitudes",
            "np.cos(one) * np.cos(other) * along * along",
            "along * along",
        ),
        (
            "what has no distance counts as unseen",
            "n_undefined += _is_seen",
            "n_undefined += False and _is_seen",
        ),
    ),
    *_mutants(
        "system/ensemble.py",
        "system/test_ensemble.py",
        (
            "weights stay behind when snapshots are sliced",
            "weights = checked_weights(rows_of(weights, kept), len(kept))",
            "weights = checked_weights(weights[: len(kept)], len(kept))",
        ),
    ),
    *_mutants(
        "workflow/own.py",
        "workflow/test_own.py",
        (
            "a run goes on with sums by another metric",
            'found | {"the metric": code_of(self.metric)}',
            "found",
        ),
    ),
    *_mutants(
        "_kernels/sums.py",
        "engine/test_moments.py",
        (
            "far pairs are summed in single precision",
            "_FARTHEST, _MOST_SHIFTED, _LEAST = 64.0,",
            "_FARTHEST, _MOST_SHIFTED, _LEAST = 1e9,",
        ),
        (
            "a first snapshot far from the others is not minded",
            "(far * far * n_frames < left) & (second < _MOST_SHIFTED * left)",
            "(far * far * n_frames < left)",
        ),
        (
            "squares that vanish are trusted",
            "(second < _MOST_SHIFTED * left) & (_LEAST * n_frames < left)",
            "(second < _MOST_SHIFTED * left) & (left >= 0.0)",
        ),
        (
            "pairs that hardly move are known however little",
            "errors < 3.5 * _FARTHEST * np.sqrt(left)",
            "errors < 1e9 * np.sqrt(left)",
        ),
    ),
    *_mutants(
        "_kernels/sums.py",
        "_kernels/test_sums.py",
        (
            "distances of pairs that hardly move lose their digits",
            "keep((more - about * about) * half, count)",
            "keep(about, count)",
        ),
    ),
    *_mutants(
        "_kernels/plain.py",
        "_kernels/test_plain.py",
        (
            "the second of four pairs is one with the next site",
            "others = one * step, two * step, three * step, four * step",
            "others = one * step, three * step, three * step, four * step",
        ),
        (
            "a pair with another site is taken for one of the same",
            "if a == b and b == c and c == d:",
            "if a == b and b == c:",
        ),
    ),
    *_mutants(
        "_kernels/moments.py",
        "_kernels/test_moments.py",
        (
            "means of blocks are not compared",
            "m2 + other_m2 + shift * shift * weight * (other_weight / total)",
            "m2 + other_m2",
        ),
        (
            "weights of snapshots are ignored",
            "weight = weights[frame] if seen else 0.0",
            "weight = 1.0 if seen else 0.0",
        ),
        (
            "a straight box is ignored",
            "x -= lengths[d, frame] * np.rint(x * inverse_lengths[d, frame])",
            "x -= 0.0",
        ),
        (
            "half the box is taken for the whole",
            "max(near[frame], 2.0 * abs(x)",
            "max(near[frame], abs(x)",
        ),
    ),
    *_mutants(
        "_kernels/crossing.py",
        "_kernels/test_crossing.py",
        (
            "the last of cross pairs is taken for the largest",
            "elif not (np.isnan(total) or value <= total):",
            "else:",
        ),
        (
            "a shared site is left out of the mean",
            "reduced[p] /= (offsets[a + 1] - offsets[a]) *",
            "reduced[p] /= (offsets[a + 1] - offsets[a] - 1) *",
        ),
    ),
    *_mutants(
        "_kernels/space.py",
        "_kernels/test_space.py",
        ("the shortest image in a tilted box is the rounded one", "square < best", "square < 0.0"),
        ("a tilted box is taken for twice as wide", "return 0.5 / np", "return 1.0 / np"),
        ("σ sees rounded images in tilted boxes", "other[frame] < square[frame]", "False"),
        ("images are tried on one side alone", "np.copysign(1.0, along[frame])", "1.0"),
        ("the first box tells for all which images are tried", "range(len(boxes))", "range(1)"),
        ("images are tried that no vector needs", "most > square * _ROUNDING", "True"),
    ),
    *_mutants(
        "_kernels/neighbours.py",
        "_kernels/test_neighbours.py",
        (
            "contacts end before the radius",
            "+= square <= radius * radius",
            "+= square < radius * radius",
        ),
        ("contacts end at the wall of the box", "        if wraps:", "        if False:"),
    ),
    *_mutants(
        "_kernels/paths.py",
        "_kernels/test_paths.py pairs/test_contacts.py",
        (
            "hairs around the radius count as single precision has them",
            "if surely < at_least and surely != perhaps:",
            "if False:",
        ),
        (
            "meetings are looked for in the first stage of frames alone",
            "while begin < last and not surely:",
            "while False:",
        ),
        (
            "paths end at the wall of the box",
            "between = min(between, period - between)",
            "between = between",
        ),
        (
            "the widths of paths are ignored",
            "return max(between - half_widths, 0.0)",
            "return max(between, 0.0)",
        ),
    ),
    *_mutants(
        "_kernels/linkage.py",
        "_kernels/test_linkage.py hierarchy/test_tree.py",
        (
            "equal σ do not join in one step",
            "if above >= 0 and heights[above - n_sites] == heights[merged - n_sites]:",
            "if False:",
        ),
    ),
    *_mutants(
        "_kernels/linkage.py",
        "_kernels/test_linkage.py",
        (
            "the last edge of a cluster is joined in a round, not the lowest",
            "if height < lowest[end]:",
            "if height < np.inf:",
        ),
    ),
    *_mutants(
        "_kernels/pebble.py",
        "_kernels/test_pebble.py",
        ("six pebbles are gathered, not seven", "bars + left + 1, a)", "bars + left, a)"),
        ("an atom alone has six freedoms", "pebbles[:n_bodies, 3:]", "pebbles[:n_bodies, 6:]"),
        ("an end of a chain has six freedoms", ">= PEBBLES else 5", ">= PEBBLES else 6"),
    ),
    *_mutants(
        "_kernels/pruning.py",
        "hierarchy/test_clustering.py",
        ("pairs are given up too early", "np.float32(1.0 - 4e-4)", "np.float32(1.5)"),
        (
            "rounding of distances counts by its square alone",
            "slack * (_SINGLE(2.0) * root",
            "slack * (_SINGLE(0.0) * root",
        ),
        (
            "more frames are summed than rounding allows",
            "MOST_FRAMES = 1000",
            "MOST_FRAMES = 100000",
        ),
    ),
    # ---- snapshots, sums, checkpoints ----------------------------------------------------------
    *_mutants(
        "engine/moments.py",
        "engine/test_moments.py test_naive.py",
        (
            "σ² is divided by n - 1",
            "self.m2, self.weight, where",
            "self.m2, self.weight - 1, where",
        ),
    ),
    *_mutants(
        "engine/moments.py",
        "engine/test_moments.py",
        (
            "a site that is not seen has a distance by a metric",
            "unseen = self._unseen[:, a] | self._unseen[:, b]",
            "unseen = self._unseen[:, a] & self._unseen[:, b]",
        ),
    ),
    *_mutants(
        "engine/checkpoint.py",
        "engine/test_checkpoint.py",
        ("a checkpoint of other settings is taken", "if was != now:", "if False:"),
        (
            "sums of other pairs are taken",
            "if kept is None or any(_text(kept, name) != text for name, text in expected.items()):",
            "if kept is None:",
        ),
        (
            "a checkpoint of another version is taken",
            "if version != _FORMAT:",
            "if version is None:",
        ),
        ("a checkpoint stays after the end", "        if kind is None:", "        if False:"),
        (
            "what an analysis kept is taken for that of other data",
            "        self._identity, self._kept = {}, {}",
            "        return",
        ),
        ("a short array is taken", "wanted is None or length == wanted", "True"),
    ),
    *_mutants(
        "engine/reduction.py",
        "engine/test_checkpoint.py fluctuations/test_measuring.py",
        ("a checkpoint knows no pairs", "first, *snapshots, *choices)", "first, *snapshots)"),
    ),
    *_mutants(
        "engine/run.py",
        "engine/test_checkpoint.py",
        ("a finished loop is remembered", "if kind is None and not self._lasting", "if False"),
        ("what was done is done again", "if end(step) > self.done:", "if True:"),
    ),
    *_mutants(
        "engine/dask.py",
        "engine/test_dask.py",
        ("workers of another version are taken", "if version != _version():", "if False:"),
    ),
    *_mutants(
        "system/ensemble.py",
        "system/test_ensemble.py fluctuations/test_measuring.py",
        (
            "weights are ignored in open space",
            "complete = not self.gaps and self.weights is None",
            "complete = not self.gaps",
        ),
        (
            "snapshots of weight 0 count",
            "int(np.count_nonzero(self.weights))",
            "len(self.weights)",
        ),
        (
            "coordinates that are not numbers are taken",
            "        if not bad.any():",
            "        if True:",
        ),
    ),
    *_mutants(
        "system/held_frames.py",
        "readers/test_arrays.py system/test_frames.py",
        ("a stored array is not sliced", "(self.offset + frame *", "(self.offset + row *"),
        (
            "boxes are those of the first snapshots",
            "boxes = None if self.boxes is None else rows_of(self.boxes, snapshots)",
            "boxes = None if self.boxes is None else self.boxes[: len(snapshots)]",
        ),
    ),
    *_mutants(
        "system/derived_frames.py",
        "readers/test_arrays.py system/test_ensemble.py",
        (
            "a selection loses its box",
            "coordinates[:, self.sites], boxes",
            "coordinates[:, self.sites], None",
        ),
    ),
    *_mutants(
        "memory.py",
        "test_memory.py",
        ("a gigabyte is binary", '"g": 10**9', '"g": 2**30'),
        ("free memory is what is most", "min(_left()", "max(_left()"),
    ),
    *_mutants(
        "system/traces.py",
        "readers/test_traces.py",
        ("one odd snapshot breaks a chain", "seen[(len(seen) - 1) // 2]", "seen[-1]"),
        ("chains are followed as written only", "if len(by_number) > len(as_written)", "if False"),
        (
            "calcium in unknown residues is a chain",
            "protein &= ~is_named(atoms.resnames, _UNKNOWN)",
            "pass",
        ),
        ("bonds between Cα are covalent", "frozen(bonds[~between])", "bonds"),
        ("neighbours along a trace are two bonds apart", '("C",), 3, 4.5', '("C",), 2, 4.5'),
        ("chains are joined across a break", '("C",), 3, 4.5', '("C",), 3, 9.5'),
        ("chains run on into others", "(atoms.chains[one] == atoms.chains[other]) &", ""),
        (
            "numbers do not matter across a missing loop",
            "np.where(numbered, kind.reach, kind.unnumbered)",
            "kind.reach",
        ),
    ),
    *_mutants(
        "system/holes.py",
        "readers/test_holes.py",
        ("walkers may not start", "or (self.points and frame == 0)", ""),
        ("one corner is a hole", "max(_SEVERAL, count / 2)", "_SEVERAL"),
        ("what rests is a hole", "holes = np.setdiff1d(holes, self.sites)", ""),
    ),
    *_mutants(
        "readers/restart.py",
        "readers/test_restart.py",
        ("velocities of a restart are its box", "len(rest) in {1, rows + 1}", "rest"),
        ("the box of a restart is lost", "if len(numbers) not in {3, 6}:", "if True:"),
    ),
    *_mutants(
        "readers/universe_files.py",
        "readers/test_box_kinds.py readers/test_replicas.py",
        (
            "images of a Universe are not used",
            "if _changes_nothing(reader) and _are_alike(shown, frames):",
            "if False:",
        ),
        ("another clock counts for nothing", "return given is None and not", "return not"),
    ),
    *_mutants(
        "readers/replicas.py",
        "readers/test_replicas.py",
        ("a continuation is another run", '"" if after.start in continued else', ""),
    ),
    *_mutants(
        "readers/walls.py",
        "readers/test_complexes.py",
        ("models are never wrapped", "initial=0.0)) > 0.5:", "initial=0.0)) > 1e9:"),
        ("models are always wrapped", "initial=0.0)) > 0.5:", "initial=0.0)) > -1.0:"),
    ),
    *_mutants(
        "system/placeholders.py",
        "readers/test_formats.py readers/test_given_boxes.py",
        (
            "snapshots in memory mix spaces",
            'walls=walls, name=f"{name}: frame',
            'walls=walls_of(box, unit), name=f"{name}: frame',
        ),
    ),
    *_mutants(
        "system/boxes.py",
        "readers/test_given_boxes.py",
        ("tilts and radians are degrees", "    if wrong.any():", "    if False:"),
        ("tilts are told in another order", "[b @ c, a @ c, a @ b]", "[a @ b, a @ c, b @ c]"),
    ),
    *_mutants(
        "system/boxes.py",
        "readers/test_formats.py",
        ("tilted boxes are never open", "(lengths > 0) & (lengths < far)", "lengths > 0"),
        (
            "only how many directions are open counts",
            'np.argsort(within, kind="stable")[',
            "np.arange(3)[::-1][",
        ),
    ),
    *_mutants(
        "system/placeholders.py",
        "readers/test_species.py",
        ("boxes by default count", "axis=0) > _SPAN).any()", "axis=0) > np.inf).any()"),
    ),
    *_mutants(
        "readers/__init__.py",
        "readers/test_complexes.py",
        ("what leaves is put back", "stay = unwrap or box is False", "stay = unwrap"),
    ),
    *_mutants(
        "readers/walls.py",
        "readers/test_complexes.py",
        ("chains that meet at the end are parted", "{last // 2, last} - {0}", "{last // 2} - {0}"),
    ),
    # ---- walls of the box ----------------------------------------------------------------------
    *_mutants(
        "_kernels/wholes.py",
        "system/test_wholes.py",
        ("broken molecules stay broken", "if shortest < square:", "if False:"),
        ("unseen atoms tear molecules", "parent = parents[parent]", "parent = -1"),
    ),
    *_mutants(
        "system/passages.py",
        "system/test_followed.py",
        ("changes count twice", "self.starts[at + 1]", "self.starts[at]"),
    ),
    *_mutants(
        "system/counted.py",
        "system/test_counted.py",
        ("counts never begin again", "(gathered or jumps.snapshot in files) and", "False and"),
        ("what goes far is no motion", "np.where(often[:, None], every, calm)", "calm"),
        ("any way without a jump will do", "(less_likely > _CERTAIN) & as_ever", "less_likely > 0"),
        ("any image is sure", "if doubtful:", "if False:"),
        ("long steps hide a break", "(gathered and scattered)", "False"),
        ("runs begin where they count", "origin = 0 if anew", "origin = 0 if False"),
    ),
    *_mutants(
        "readers/numbered.py",
        "readers/test_numbered.py",
        ("atoms in no molecule are one", "& (molecules[rows[:, 0]] != 0)", "& True"),
        (
            "one far molecule keeps all apart",
            "rows[~far[inverse]]",
            "rows[: 0 if far.any() else None]",
        ),
        ("what fills the box is a molecule", "none if endless(", "none if False and endless("),
        (
            "what was near once stays so",
            "for places, boxes in snapshots:\n        apart",
            "for places, boxes in snapshots[:1]:\n        apart",
        ),
    ),
    *_mutants(
        "readers/h5md.py",
        "readers/test_formats.py",
        ("values are matched by number", "if own is None or others is None:", "if True:"),
        ("regular steps begin at 0", 'marks.attrs.get("offset", 0)', "0"),
        ("a box goes on to the next", "return None if place < 0 else", "return"),
    ),
    *_mutants(
        "readers/xyz.py",
        "readers/test_xyz.py",
        (
            "tags are never ids",
            "columns.labels if columns.ids is None else columns.ids",
            "columns.ids",
        ),
        ("tags are always ids", "len(np.unique(found)) == len(found) and", "True and"),
        ("images are passed over", "_images(lines, columns.images)", "None"),
    ),
    *_mutants(
        "system/boxes.py",
        "readers/test_given_boxes.py",
        ("open directions end", "_FAR = 1e12", "_FAR = 1e4"),
    ),
    *_mutants(
        "system/boxes.py",
        "readers/test_cells.py",
        ("angles of 0 are none", "angles if angles.any() else np.full(3, 90.0)", "angles"),
        ("negative lengths are positive", " and (lengths >= 0).all()", ""),
        ("a cell of 1 needs angles", "if lengths.max() <= _DEFAULT:", "if False:"),
    ),
    *_mutants(
        "system/placeholders.py",
        "readers/test_cells.py",
        ("NaN is a box", "if box is not None and _is_unstated(box):", "if False:"),
        ("open sides go unsaid", "if not is_open.any() or", "if True or"),
    ),
    *_mutants(
        "system/followed.py",
        "system/test_followed.py",
        (
            "sheared boxes keep their own vectors",
            "np.rint(_scale(matrix, before) * matrix @ inverse)",
            "np.eye(len(matrix))",
        ),
    ),
    *_mutants(
        "system/doubt.py",
        "system/test_followed.py readers/test_unwrapping.py",
        ("runs begin anywhere", "np.count_nonzero(are_doubtful(ways, usual).any(axis=1))", "0"),
        ("long steps are believed", "steps > _NEARLY_HALF", "steps > 0.5"),
        ("fast particles are believed", "1 - 2 * steps < _CERTAIN * 2 * usual", "steps > 0.5"),
    ),
    *_mutants(
        "pairs/meetings.py",
        "pairs/test_choices.py pairs/test_contacts.py",
        (
            "one contact more is needed",
            "keys[counts >= at_least]",
            "keys[counts > at_least]",
        ),
    ),
    *_mutants(
        "hierarchy/agreement.py",
        "compare/test_clusters.py",
        ("the Rand index is not adjusted", "expected = one * other /", "expected = 0 * one /"),
    ),
    # ---- how sure it is, and how bodies move ---------------------------------------------------
    *_mutants(
        "series.py",
        "test_series.py",
        (
            "correlation is summed through its noise",
            "couples[: ended[0]] if len(ended) else couples",
            "couples",
        ),
        (
            "the end of a run meets its beginning",
            "fft.next_fast_len(2 * length, real=True)",
            "fft.next_fast_len(length, real=True)",
        ),
        ("runs cross from one replica into another", "np.cumsum(counts) - counts", "0 * counts"),
        (
            "what the mean takes along is given back at lag 0 alone",
            "/ (1 + given_back[0])",
            "",
        ),
        (
            "a slow motion ends where its sum ends by chance",
            "return max(found, (2.0 *",
            "return min(found, (2.0 *",
        ),
        ("weights leave all snapshots", "_kish(np.asarray(weights, np.float64))", "len(weights)"),
    ),
    *_mutants(
        "confidence/support.py",
        "confidence/test_support.py",
        (
            "the bias of resampled values counts twice",
            "np.log(estimate) - bias",
            "np.log(estimate) + bias",
        ),
        ("the bias is known for sure", ".std(ddof=1), bias)", ".std(ddof=1), 0.0)"),
    ),
    *_mutants(
        "_kernels/overlaps.py",
        "confidence/test_support.py",
        ("shared sites count twice", "(wanted + size - shared)", "(wanted + size)"),
        ("larger clusters are passed over", "best * max(size, wanted)", "best * size * 2"),
    ),
    *_mutants(
        "confidence/convergence.py",
        "confidence/test_convergence.py",
        (
            "one snapshot is told to have a σ of 0",
            "fewest[lengths - 1] >= 2",
            "fewest[lengths - 1] >= 1",
        ),
    ),
    *_mutants(
        "output/plots.py",
        "output/test_plots.py",
        (
            "one site presses the mobility of a thousand others into a corner",
            "if 0 < 2 * usual < highest else",
            "if False else",
        ),
    ),
    *_mutants(
        "confidence/separation.py",
        "confidence/test_separation.py",
        ("a split is fitted by its next pairs alone", "range(_REACH)", "range(0)"),
        ("contacts inside are held before those that cross", "- crosses", "+ crosses"),
    ),
    *_mutants(
        "confidence/records.py",
        "confidence/test_separation.py",
        ("what is not found again is trusted", "value is None or value >= enough", "True"),
        (
            "kernels that are mostly found again are trusted",
            "share is not None and share >= WHOLE",
            "share is not None",
        ),
    ),
    *_mutants(
        "confidence/findings.py",
        "confidence/test_separation.py",
        ("what single sites explain is separate", "self.excess_all < EXCESS", "False"),
    ),
    *_mutants(
        "confidence/levels.py",
        "confidence/test_levels.py",
        ("sites of no cluster do not count", ".sum() / len(owner)", ".mean()"),
        ("a site is far from itself", "means[own] = np.inf", "pass"),
    ),
    *_mutants(
        "confidence/sampling.py",
        "confidence/test_sampling.py",
        ("the fastest pairs are asked", "-sigma.sigma[finite]", "sigma.sigma[finite]"),
    ),
    *_mutants(
        "confidence/null.py",
        "confidence/test_null.py",
        (
            "walkers keep what they share",
            "- rng.integers(len(steps), size=",
            "- rng.integers(1, size=",
        ),
        ("walkers are joined by the paper's linkage", "grow_by(linkage,", 'grow_by("single",'),
    ),
    *_mutants(
        "confidence/windows.py",
        "confidence/test_convergence.py",
        ("windows are joined by the paper's linkage", "linkage=linkage)]", 'linkage="single")]'),
    ),
    *_mutants(
        "confidence/findings.py",
        "confidence/test_convergence.py",
        ("a half shows what it does not", "if least >= HATCHED:", "if least >= 0:"),
    ),
    *_mutants(
        "confidence/noise.py",
        "confidence/test_noise.py",
        (
            "a step that is longer makes the next one longer",
            "(-covariance - variance / count)",
            "(covariance - variance / count)",
        ),
        (
            "few snapshots have all of the error",
            "noise(sigma.pairs) * (1 - 1 / sigma.common)",
            "noise(sigma.pairs)",
        ),
        ("near pairs are corrected as far ones", "_FAR = 12.0", "_FAR = 0.0"),
        (
            "errors are the same along all axes",
            "along, along_square = (share * errors)",
            "along, along_square = (errors / errors.shape[1])",
        ),
    ),
    *_mutants(
        "fluctuations/resampling.py",
        "workflow/test_noise.py",
        (
            "draws keep the error of positions",
            "squares -= (sums.noise[rows][:, None] * share)",
            "squares -= 0 * (sums.noise[rows][:, None] * share)",
        ),
    ),
    *_mutants(
        "fluctuations/floors.py",
        "fluctuations/test_floors.py",
        ("a glance takes few snapshots for all", "totals=held, ", "totals=self.totals, "),
    ),
    *_mutants(
        "fluctuations/units.py",
        "fluctuations/test_floors.py",
        ("a glance is at ends of parts", "(shares[:-1] + shares[1:]) / 2", "shares[:-1]"),
    ),
    *_mutants(
        "_kernels/bridges.py",
        "confidence/test_bridges.py",
        (
            "a ring hangs on its pairs",
            "if low[site] > order[above]:",
            "if low[site] >= order[above]:",
        ),
        (
            "what is above a site is forgotten",
            "total - counted[site] - held[site]",
            "counted[site] - counted[site]",
        ),
    ),
    *_mutants(
        "confidence/shown.py",
        "confidence/test_shown.py",
        (
            "pairs that are measured when asked for lose their order",
            "found[ranked[here]] = sigma.sigma",
            "found[here] = sigma.sigma",
        ),
    ),
    *_mutants(
        "confidence/replicates.py",
        "workflow/test_noise.py",
        (
            "what was measured is held against what is corrected",
            "bounds = bounds + noise(pairs)",
            "bounds = bounds + 0.5 * noise(pairs)",
        ),
    ),
    *_mutants(
        "motion/screws.py",
        "motion/test_screws.py",
        ("the axis is on the other side", "0.5 / np.tan(angle / 2)", "-0.5 / np.tan(angle / 2)"),
        (
            "every hinge is a screw",
            "abs(shift) > max(0.1 * length,",
            "abs(shift) > -max(0.1 * length,",
        ),
        ("only one of two snapshots has noise", "2 * noise, np.sqrt(2) *", "noise, 1.0 *"),
    ),
    *_mutants(
        "motion/hinges.py",
        "motion/test_hinges.py",
        (
            "the place of an axis is as sure as white noise lets it be",
            "    if n_snapshots > 2:\n        # A shift",
            "    if n_snapshots > 2000:\n        # A shift",
        ),
        ("half a turn is told nowhere", "elif _mean_is_open(poses)", "elif False"),
        ("an axis may change unnoticed", "if errors.apart:", "if False:"),
    ),
    *_mutants(
        "motion/slow_noise.py",
        "motion/test_hinges.py",
        (
            "one snapshot has an axis",
            "(counts > 0).sum(axis=1) > 1]",
            "(counts > 0).sum(axis=1) > 0]",
        ),
    ),
    *_mutants(
        "motion/cautions.py",
        "motion/test_hinges.py",
        (
            "noise may spin a rod",
            "max(told, *map(_lengthwise_noise, shapes)) > _RANDOM",
            "told > _RANDOM",
        ),
        ("a rod is seen where it is not lost", "shape.n_lost or alike", "alike"),
        ("noise of two rods is alike", "_CHANCE = 1e-4", "_CHANCE = 0.5"),
    ),
    *_mutants(
        "workflow/transitions.py",
        "workflow/test_moving.py",
        ("any molecule tells an axis", "_ALIKE = 0.25", "_ALIKE = 0.0"),
    ),
    *_mutants(
        "output/body_scripts.py",
        "output/test_motion.py",
        ("cones of VMD are opaque", "cones += [", "lines += ["),
    ),
    *_mutants(
        "motion/poses.py",
        "motion/test_hinges.py",
        ("a few sites are a whole body", "_MOST = 0.75", "_MOST = 0.05"),
    ),
    *_mutants(
        "motion/cautions.py",
        "motion/test_superposition.py",
        ("noise shows how a rod is turned", "_UNSURE = 0.1 ", "_UNSURE = 100.0 "),
        ("every rod is a line", "_UNSURE = 0.1 ", "_UNSURE = 0.001 "),
    ),
    *_mutants(
        "motion/counting.py",
        "motion/test_domains.py",
        (
            "what bends smoothly is cut",
            "cutting = max(cutting, known[members.tobytes()])",
            "cutting = max(cutting, 0.0)",
        ),
        (
            "bending is told by less than a clear slope",
            "SHARP = 0.7",
            "SHARP = 1.0",
        ),
    ),
    *_mutants(
        "motion/sharpness.py",
        "motion/test_domains.py",
        ("a slope is free", "return smooth / max(", "return 0.5 * smooth / max("),
        ("degrees of freedom do not count", "/ free) if free", ") if free"),
    ),
    *_mutants(
        "motion/domains.py",
        "motion/test_domains.py",
        (
            "sites beside a wide hinge follow nothing",
            "kept, base = _take_back(snapshots, kept, base)",
            "kept, base = kept, base",
        ),
        (
            "many bodies are never looked at",
            "or number == asked or following >= SOFT * last",
            "or number == asked",
        ),
        (
            "a wish for many bodies is not heard",
            "number == asked or following",
            "following",
        ),
    ),
    *_mutants(
        "motion/lagged.py",
        "motion/test_correlations.py",
        (
            "blocks are shorter than the lag",
            "max(1, min(most, n // lag))",
            "min(most, n)",
        ),
        ("two blocks tell an error", "FEWEST = 6", "FEWEST = 2"),
        (
            "what neighbouring blocks share is forgotten",
            "wide = own.sum() / np.trace(left @ own @ left.T)",
            "wide = len(own) / (len(own) - 1)",
        ),
    ),
    *_mutants(
        "motion/correlations.py",
        "motion/test_correlations.py",
        (
            "particles move from one replica to another",
            "if ensemble.runs is None:",
            "if True:",
        ),
        (
            "displacements count alike, whatever snapshots weigh",
            "shares = np.ones(len(positions)) if ensemble.weights is None else ensemble.weights",
            "shares = np.ones(len(positions))",
        ),
    ),
    *_mutants(
        "motion/gaps.py",
        "motion/test_gaps.py",
        ("a gap is filled from any snapshot", "best = int(rests.argmin())", "best = 0"),
        ("what is seldom seen is filled in", "_MOSTLY = 0.75", "_MOSTLY = 0.1"),
    ),
    *_mutants(
        "motion/variance.py",
        "motion/test_variance.py",
        (
            "what was learned from is told as held out",
            "learned, test = snapshots[train], snapshots[~train]",
            "learned, test = snapshots[train], snapshots[train]",
        ),
    ),
    *_mutants(
        "motion/slow_noise.py",
        "motion/test_slow_noise.py",
        (
            "slow noise is told as white",
            "slow = bool(odds[0] < _DOUBT)",
            "slow = False",
        ),
        (
            "halves that contradict each other are passed over",
            "if long else 1.0",
            "if False else 1.0",
        ),
    ),
    *_mutants(
        "readers/__init__.py",
        "readers/test_unwrapping.py",
        (
            "skipped snapshots are not followed",
            "choose_through(course, kept) if unwrap",
            "choose_through(course, kept) if 0",
        ),
        ("sites alone are anywhere", "together=unwrap", "together=False"),
    ),
    *_mutants(
        "system/followed.py",
        "readers/test_unwrapping.py",
        ("a run goes on from another", "anew = not pace.steps[first]", "anew = not first"),
        ("holes are steps like others", "elif pace.steps[first] > 1:", "elif False:"),
    ),
    *_mutants(
        "system/pace.py",
        "readers/test_unwrapping.py",
        ("holes in time are one step", "np.clip(counts, 1, _MOST)", "np.clip(counts, 1, 1)"),
        ("time goes back at once", "lengths = np.abs(intervals)", "lengths = intervals"),
        ("large times hide holes", "not np.array_equal(single, known)", "False"),
    ),
    *_mutants(
        "system/pace.py",
        "system/test_pace.py",
        ("steps count before times", "if frames.time(0) is None:", "if True:"),
    ),
    *_mutants(
        "readers/trajectories.py",
        "readers/test_repeats.py",
        (
            "stamps are of all frames",
            "rows_of(np.concatenate(found), self.chosen)",
            "np.concatenate(found)",
        ),
    ),
    *_mutants(
        "readers/snapshots.py",
        "readers/test_unwrapping.py",
        ("cut runs begin where they are cut", "first < begin <= last for", "False for"),
    ),
    *_mutants(
        "readers/replicas.py",
        "readers/test_unwrapping.py",
        ("runs without times go on in a box", "return first < _NEARER * last", "return False"),
        ("continued runs begin anew", "joint.why in {_AGAIN, _BY_PLACES}", "joint.why"),
    ),
    *_mutants(
        "readers/walls.py",
        "readers/test_unwrapping.py",
        (
            "images of the file do not count",
            "unfold() is None:\n            frames = follow(",
            "unfold() or True:\n            frames = follow(",
        ),
        ("molecules see images by their sites", "[0, numbers]", "[0, numbers] * 0 + points[0]"),
    ),
    *_mutants(
        "readers/replicas.py",
        "readers/test_replicas.py",
        ("times that overlap go on", "if begin < last - slack:", "if begin < first - slack:"),
        ("other intervals go on", "same = any(", "same = True or any("),
        ("files without times are one run", "return _step(", "return 0 * _step("),
    ),
    *_mutants(
        "readers/snapshots.py",
        "readers/test_times.py readers/test_arrays.py readers/test_replicas.py",
        (
            "the end is ignored",
            "range(course.n_snapshots)[first:end]",
            "range(course.n_snapshots)[first:]",
        ),
        ("times of all runs are those of the first", "clock(first + number)", "clock(number)"),
    ),
    *_mutants(
        "settings/texts.py",
        "readers/test_times.py",
        ("a nanosecond is shorter", '"ns": 1e3', '"ns": 1e2'),
    ),
    *_mutants(
        "order.py",
        "test_order.py output/test_colours.py",
        ("others take the colour of the core", "colour[family] = chosen + 1", "colour[family] = 0"),
    ),
    # ---- objects, pairs, σ ---------------------------------------------------------------------
    *_mutants(
        "objects/collection.py",
        "objects/test_objects.py",
        (
            "centres of mass are those of geometry",
            "np.ones(len(flat)) if masses is None else masses[flat]",
            "np.ones(len(flat))",
        ),
    ),
    *_mutants(
        "objects/centres.py",
        "objects/test_objects.py",
        (
            "molecules are torn at the wall of the box",
            "around = Boxes.of(boxes, n_frames, n_dimensions, self.images)",
            "around = Boxes.of(None, n_frames, n_dimensions)",
        ),
        (
            "a group with an unseen member is seen",
            "[np.isnan(walk)] = np.nan",
            "[np.isnan(walk)] = 0",
        ),
    ),
    *_mutants(
        "system/residues.py",
        "system/test_residues.py objects/test_objects.py",
        (
            "residues differ in no insertion code",
            "for field in (atoms.chains, atoms.resids, atoms.icodes, atoms.resnames):",
            "for field in (atoms.chains, atoms.resids, atoms.resnames):",
        ),
        (
            "scattered residues differ in no insertion code",
            "columns = (atoms.chains, atoms.resids, atoms.icodes, atoms.resnames)",
            "columns = (atoms.chains, atoms.resids, atoms.chains, atoms.resnames)",
        ),
    ),
    *_mutants(
        "objects/elementary.py",
        "objects/test_objects.py",
        ("links count as they stretch", "rigid=frozen(np.sort(ends, axis=1))", "rigid=made.rigid"),
        (
            "bodies reach one bond more",
            "site_bonds(ensemble), n_sites, reach)",
            "site_bonds(ensemble), n_sites, reach + 1)",
        ),
    ),
    *_mutants(
        "pairs/choices.py",
        "pairs/test_choices.py",
        ("pairs are kept one bond later", "min_bonds - 1)", "min_bonds)"),
        (
            "sequence neighbours are across chains",
            "chains[index[:, 0]] == chains[index[:, 1]]",
            "chains[index[:, 0]] == chains[index[:, 0]]",
        ),
        ("links at one joint are left out", "membership.T, 1)", "membership.T, 2)"),
    ),
    *_mutants(
        "pairs/nearest.py",
        "pairs/test_choices.py",
        ("there is one nearest more", "place < count", "place <= count"),
        ("nearest on average is nearest at last", "measured.mean[seen]", "measured.m2[seen]"),
    ),
    *_mutants(
        "pairs/lists.py",
        "pairs/test_choices.py",
        ("pairs left out are measured", "index[barred[there] != keys]", "index"),
    ),
    *_mutants(
        "fluctuations/measuring.py",
        "fluctuations/test_measuring.py",
        ("one snapshot more in common is needed", "common >= overlap", "common > overlap"),
        (
            "σ that is not finite counts",
            "            refuse_beyond_limits(ensemble, index, sigma)\n",
            "",
        ),
    ),
    *_mutants(
        "fluctuations/overlap.py",
        "fluctuations/test_overlap.py fluctuations/test_measuring.py",
        ("half of the snapshots is rounded down", "math.ceil(n_snapshots / 2)", "n_snapshots // 2"),
        (
            "who shares just enough is left out early",
            "(common >= overlap)",
            "(common > overlap)",
        ),
    ),
    *_mutants(
        "fluctuations/limits.py",
        "fluctuations/test_measuring.py",
        ("squares may vanish", "if 0 < extent < _SMALLEST:", "if False:"),
    ),
    *_mutants(
        "fluctuations/crossing.py",
        "fluctuations/test_measuring.py objects/test_objects.py",
        ("max is rms", 'largest=self.objects.reduction == "max"', "largest=False"),
        ("stretching of links counts", "if len(self.objects.rigid):", "if False:"),
    ),
    # ---- hierarchy, statistics, theory ---------------------------------------------------------
    *_mutants(
        "hierarchy/labels.py",
        "hierarchy/test_labels.py",
        (
            "of equal clusters the last is first",
            "rank[np.lexsort((lowest, -sizes))]",
            "rank[np.lexsort((-lowest, -sizes))]",
        ),
    ),
    *_mutants(
        "hierarchy/tree.py",
        "hierarchy/test_tree.py",
        ("pairs at the cutoff are apart", "self.gaps > min(cutoff", "self.gaps >= min(cutoff"),
        (
            "the smaller part comes first",
            "ranked = np.lexsort((lowest, -sizes))",
            "ranked = np.lexsort((lowest, sizes))",
        ),
        ("shown sites join too early", "np.maximum.reduceat", "np.minimum.reduceat"),
        ("branches of a Newick tree have no root", "[self.parents] - height", "[self.parents]"),
        (
            "a tree of any shape is taken",
            "        _refuse_bad_tree(self.parents, self.heights)\n",
            "",
        ),
    ),
    *_mutants(
        "hierarchy/clustering.py",
        "hierarchy/test_clustering.py",
        (
            "pairs are looked for where all are alike",
            "_share_of_frames(order, gaps, *sample) > _MOST_FRAMES",
            "_share_of_frames(order, gaps, *sample) > 2.0",
        ),
        (
            "pairs that pass their bound at once are taken for slow ones",
            "(bounds / sigma[far]) ** 2, 1.0)",
            "1.0, 1.0)",
        ),
    ),
    *_mutants(
        "_kernels/stretches.py",
        "hierarchy/test_clustering.py",
        (
            "means of distances are taken for distances of means",
            "(error * nearest + swing)",
            "(error * nearest)",
        ),
        (
            "so they are in short stretches",
            "swing = (swings[a] + swings[b]) / nearest",
            "swing = _NONE",
        ),
        ("short stretches end where long ones do", "end = ends[1, frame]", "end = ends[0, frame]"),
        (
            "squares are taken to differ by no more than distances",
            "limit, low, nothing = limit + limit,",
            "limit, low, nothing = limit,",
        ),
    ),
    *_mutants(
        "hierarchy/stretches.py",
        "hierarchy/test_clustering.py",
        (
            "frames are not superposed",
            "(left @ right).transpose(1, 2, 0)",
            "(left * 0 + np.eye(3)).transpose(1, 2, 0)",
        ),
    ),
    *_mutants(
        "hierarchy/pruning.py",
        "hierarchy/test_clustering.py",
        ("pairs that matter are given up", "_MARGIN = 1 + 2e-3", "_MARGIN = 0.5"),
        (
            "coordinates are not rounded to single precision",
            "rounding = (9 + n_dimensions) * _UNIT",
            "rounding = 0.0 * _UNIT",
        ),
    ),
    *_mutants(
        "statistics.py",
        "test_statistics.py",
        ("clusters of R are not large", "size * (size >= large)", "size * (size > large)"),
        ("⟨r⟩ is no mean over sites", "total(size**2) / n_sites", "total(size) / n_sites"),
        (
            "a level begins after its cutoff",
            'levels, places, side="right"',
            'levels, places, side="left"',
        ),
        ("a suggestion is where clusters form", "float(low + high) / 2", "float(low)"),
        ("the inflection is the flattest place", "slope.argmax()", "slope.argmin()"),
        ("Silverman's quartiles are not scaled", "(high - low) / 1.34", "(high - low) / 1.0"),
        ("Silverman's power", "effective**-0.2", "effective**-0.1"),
        (
            "long-lived are the short-lived",
            "ranges[:, 0] - ranges[:, 1], kind",
            "ranges[:, 1] - ranges[:, 0], kind",
        ),
    ),
    *_mutants(
        "theory.py",
        "test_theory.py",
        ("p of the chain", "(8 - 6 * x + x**3)", "(8 - 6 * x + x**2)"),
        ("variance of σ²", "28 / 405", "28 / 450"),
        ("⟨σ²⟩ of N snapshots", "2 / 9 * a**2 * (1 - 1 / n)", "2 / 9 * a**2"),
        ("P(r ≥ R)", "p ** (size - 1) * (size", "p**size * (size"),
    ),
    *_mutants(
        "order.py",
        "test_order.py",
        (
            "the largest part has another colour than its parent",
            "number[np.lexsort((np.arange(n_sites), -hierarchy.sizes[top]))]",
            "number[np.lexsort((np.arange(n_sites), hierarchy.sizes[top]))]",
        ),
        (
            "neighbours have one colour",
            "np.lexsort((used, late, alike, last))",
            "np.lexsort((used, late, last))",
        ),
        ("dark blue is handed on", "colour[0] = 0", "colour[-1] = 0"),
        ("small clusters are stripes", "hierarchy.sizes >= min_size", "hierarchy.sizes >= 1"),
    ),
    # ---- comparison ----------------------------------------------------------------------------
    *_mutants(
        "compare/clusters.py",
        "compare/test_clusters.py",
        ("two clusters have one partner", " and row not in taken:", ":"),
        ("Jaccard counts shared sites twice", "sizes[1] - shared)", "sizes[1])"),
    ),
    *_mutants(
        "compare/cutoffs.py",
        "compare/test_cutoffs.py",
        (
            "one cluster of all is the best",
            "telling &= n_sites - side.largest > outside * n_sites",
            "telling &= True",
        ),
        ("a twentieth outside is a fifth", "OUTSIDE = 0.25, 0.05", "OUTSIDE = 0.25, 0.2"),
    ),
    *_mutants(
        "compare/sites.py",
        "compare/test_sites.py",
        (
            "insertion codes are not compared",
            "atoms.icodes.tolist(), names",
            "atoms.names.tolist(), names",
        ),
    ),
    *_mutants(
        "output/matched_colours.py",
        "output/test_comparison.py",
        ("partners have two colours", "= held[partners[matched]]", "= own[matched]"),
        ("lines that differ share a colour", "jaccard[ranked] > _SAME_LINE", "jaccard[ranked] > 0"),
        ("colours of the first are taken", "spared=of_first[drawn]", "spared=()"),
    ),
    *_mutants(
        "output/motion.py",
        "output/test_motion.py",
        ("a table of angles is empty", "    if not part.found.hinges:", "    if False:"),
        ("a table of motions is empty", "    if not rows:", "    if False:"),
    ),
    *_mutants(
        "output/layout.py",
        "output/test_layout.py",
        ("titles lie on their numbers", "(reach + axis.labelpad) / _POINTS", "reach / _POINTS / 2"),
        ("what is beside a plot is cut off", "yield from _measure(child, renderer)", "pass"),
        ("legends are cut off", "yield from _measure_beside(axes, renderer)", "pass"),
    ),
    *_mutants(
        "output/lettering.py",
        "output/test_printing.py",
        ("upright texts lie flat", ".rotate_deg(angle)", ".rotate_deg(0)"),
        ("texts of any size are as large", "size = prop.get_size_in_points() /", "size = 12.0 /"),
    ),
    *_mutants(
        "output/printing.py",
        "output/test_printing.py",
        ("nothing shines through", "if pixels[..., 3].min() == 255 else 4", "if True else 4"),
    ),
    *_mutants(
        "engine/threads.py",
        "engine/test_threads.py",
        ("reading waits for work", "Future.result, ahead=1)", "Future.result, ahead=0)"),
    ),
    *_mutants(
        "workflow/folder.py",
        "cli/test_bad_input.py",
        ("what cannot be written is refused late", "    _refuse_unwritable(target)\n", ""),
    ),
    *_mutants(
        "cli/console.py",
        "cli/test_bad_input.py",
        (
            "an interrupt within a kernel is an error",
            "isinstance(error.__cause__, KeyboardInterrupt)",
            "False",
        ),
    ),
    *_mutants(
        "cli/console.py",
        "cli/test_console.py",
        (
            "every phase is silent for a second",
            "_PATIENCE - (now - begun)",
            "_PATIENCE",
        ),
    ),
    # ---- rigidity ------------------------------------------------------------------------------
    *_mutants(
        "rigidity/network.py",
        "rigidity/test_published_numbers.py",
        ("tethers are three bars", "TETHER: 2}", "TETHER: 3}"),
        ("peptide bonds turn", "LOCKED: 6", "LOCKED: 5"),
        ("hydrogen bonds are four bars", "HYDROGEN_BOND: 5", "HYDROGEN_BOND: 4"),
        ("salt bridges are four bars", "SALT_BRIDGE: 5", "SALT_BRIDGE: 4"),
        ("covalent bonds are four bars", "{COVALENT: 5", "{COVALENT: 4"),
        ("tethers are longer", "_TETHER_GAP = 0.5", "_TETHER_GAP = 0.6"),
        ("sulphur is as small as carbon", '"S": 1.8}', '"S": 1.7}'),
        ("metals hold what is farther", "_COORDINATION_GAP = 0.4", "_COORDINATION_GAP = 0.6"),
    ),
    *_mutants(
        "rigidity/chemistry.py",
        "rigidity/test_chemistry.py",
        ("flat bonds are locked to 40 degrees", "np.deg2rad(30.0)", "np.deg2rad(40.0)"),
        ("longer esters are locked", "_ESTER = 1.40", "_ESTER = 1.42"),
        ("longer bonds are nitriles", "_NITRILE = 1.25", "_NITRILE = 1.30"),
        ("less flat is flat", "_FLAT = 0.4", "_FLAT = 0.5"),
        ("longer amides are locked", '("C", "N"): 1.39', '("C", "N"): 1.41'),
    ),
    *_mutants(
        "rigidity/energies.py",
        "rigidity/test_network.py",
        ("the order of atoms decides on a plane", "table.names[atoms], ", ""),
    ),
    *_mutants(
        "workflow/comparison.py",
        "workflow/test_comparison.py",
        (
            "one cluster of nearly all is no reason",
            "if count - largest <= OUTSIDE",
            "if count < OUTSIDE",
        ),
    ),
    *_mutants(
        "output/matrices.py",
        "output/test_matrices.py",
        ("some pixels are empty", "return_index=True)[1]", "return_index=True)[1] // 2 * 2"),
    ),
    *_mutants(
        "rigidity/energies.py",
        "rigidity/test_published_numbers.py rigidity/test_energies.py",
        ("hydrogen bonds are weaker", "8.0 * _twelve_ten(2.8", "7.0 * _twelve_ten(2.8"),
        ("hydrogen bonds are longer", "_twelve_ten(2.8", "_twelve_ten(2.9"),
        ("salt bridges are weaker", "10.0 * _twelve_ten", "9.0 * _twelve_ten"),
        ("salt bridges are not shifted", "distances + 0.375", "distances + 0.0"),
        (
            "hydrogen and acceptor end at 3.9 Å",
            "HYDROGEN_ACCEPTOR = 4.0",
            "HYDROGEN_ACCEPTOR = 3.9",
        ),
        ("donor and acceptor end at 4.95 Å", "DONOR_ACCEPTOR = 5.0", "DONOR_ACCEPTOR = 4.95"),
        ("bonds are straighter", "SMALLEST_ANGLE = 100.0", "SMALLEST_ANGLE = 101.0"),
        ("bonds are more bent", "SMALLEST_ANGLE = 100.0", "SMALLEST_ANGLE = 99.0"),
        ("atoms four bonds apart are near", "NEAR_BONDS = 3", "NEAR_BONDS = 4"),
        ("the angle at an sp3 acceptor", "np.deg2rad(109.5)", "np.deg2rad(120.0)"),
        (
            "bonds at exactly 100 degrees are none",
            ">= np.deg2rad(SMALLEST_ANGLE)",
            "> np.deg2rad(SMALLEST_ANGLE)",
        ),
    ),
    *_mutants(
        "rigidity/decomposition.py",
        "rigidity/test_decomposition.py",
        (
            "bonds at the cutoff are left out",
            "network.energies <= cutoff",
            "network.energies < cutoff",
        ),
        ("a region has one freedom more", "minlength=n_blocks) + 6", "minlength=n_blocks) + 5"),
    ),
    # ---- readers -------------------------------------------------------------------------------
    *_mutants(
        "readers/trajectory_files.py",
        "readers/test_trajectories.py",
        ("XTC is read in nanometres", "_NM = 10.0", "_NM = 1.0"),
    ),
    *_mutants(
        "readers/trajectories.py",
        "readers/test_trajectories.py",
        (
            "the box of a trajectory is ignored",
            "periodic = any(probe.box is not None and probe.box.any() for probe in found)",
            "periodic = False",
        ),
        ("files of other atoms are taken", "file.n_atoms != expected:", "file.n_atoms == -1:"),
        ("a selection reads other sites", "self.sites[sites]", "sites"),
    ),
    *_mutants(
        "readers/trajectory_files.py",
        "readers/test_integrity.py",
        ("truncated files are taken", "if not allow_truncated:", "if False:"),
    ),
    *_mutants(
        "readers/dlpoly.py",
        "readers/test_boundaries.py",
        ("a slab has walls along z", "boundary not in {0, _SLAB}", "boundary != 0"),
        (
            "half a last frame counts",
            "return whole and _three_numbers(lines[-1]) is not None",
            "return True",
        ),
    ),
    *_mutants(
        "readers/boundaries.py",
        "readers/test_boundaries.py",
        (
            "cells of DL_POLY are turned in a Universe",
            "if formats <= _DLPOLY and _is_as_written(reader):",
            "if False:",
        ),
        ("a Universe forgets what is open", "else header.periodic", "else np.ones(3, np.bool_)"),
    ),
    *_mutants(
        "readers/amber.py",
        "readers/test_line_formats.py",
        ("half a number counts", "if len(line.rstrip()) != width:", "if not line.rstrip():"),
    ),
    *_mutants(
        "readers/tinker.py",
        "readers/test_line_formats.py",
        ("half a number counts", "else _PLACED + 1", "else _PLACED"),
    ),
    *_mutants(
        "readers/columns.py",
        "readers/test_program_tables.py",
        ("units are mixed", " > 1 and units & _LENGTHS:", " > 9:"),
    ),
    *_mutants(
        "readers/columns.py",
        "readers/test_track_tables.py",
        ("exact names come last", "for read_as in _READINGS:", "for read_as in _READINGS[::-1]:"),
        (
            "the last of several columns is taken",
            "in reversed(header)} | written",
            "in header} | written",
        ),
        ("a choice of columns goes unsaid", "    if not others:", "    if True:"),
        ("a row of numbers goes unsaid", "for start in (0, 1):", "for start in ():"),
    ),
    *_mutants(
        "readers/text_tables.py",
        "readers/test_track_tables.py",
        ("short rows count", "uneven = found != width", "uneven = found > width"),
    ),
    *_mutants(
        "readers/tables.py",
        "readers/test_track_tables.py",
        ("frames far from zero are merged", "if n_merged and len(", "if not n_merged and len("),
    ),
    *_mutants(
        "readers/dcd.py",
        "readers/test_integrity.py readers/test_binaries.py readers/test_box_kinds.py",
        ("other frames than announced go unsaid", "header.announced != whole:", "False:"),
        ("half a frame of DCD counts", "1 + left // header.rest", "1 - -left // header.rest"),
        ("angles of a cell are in another order", "cell[[4, 3, 1]]", "cell[[1, 3, 4]]"),
        ("cosines are taken for angles", "angles = 90.0 - np.degrees(np.arcsin(angles))", "pass"),
        ("a placeholder is a time step", " and delta != 1.0", ""),
    ),
    *_mutants(
        "readers/dcd.py",
        "readers/test_cells.py",
        ("any matrix is one of CHARMM", "np.linalg.eigvalsh(matrix)[0] <= 0", "False"),
    ),
    *_mutants(
        "readers/netcdf.py",
        "readers/test_integrity.py readers/test_binaries.py readers/test_box_kinds.py",
        (
            "records are not filled up to four bytes",
            "sum(-(-size // 4) * 4 for size in sizes)",
            "sum(sizes)",
        ),
        ("the scale of coordinates is not taken", "places = places * self._scale", "pass"),
    ),
    *_mutants(
        "readers/pdb.py",
        "readers/test_structures.py",
        ("signs stand anywhere in a number", "~begun & (blank | sign)", "blank | sign"),
    ),
    *_mutants(
        "readers/pdb.py",
        "readers/test_pdb_models.py",
        ("models end with the first END", "*(found.end() for found in _END.finditer(data))", ""),
        ("models are not closed", "_number_models(_close_models(data))", "_number_models(data)"),
        ("lines are counted anew after END", 'line += text.count(b"\\n")', "pass"),
    ),
    *_mutants(
        "readers/pdb_frames.py",
        "readers/test_pdb_models.py",
        ("frames do not end with END", '([b"END"], [b"MODEL"])', '([b"MODEL"],)'),
        ("the first cell is that of all", "cell = place", "cell = place if cell < 0 else cell"),
        ("half a line is an atom", "_refuse_part(line)\n                count", "count"),
    ),
    *_mutants(
        "readers/naming.py",
        "readers/test_naming.py",
        (
            "numbers must be the same",
            "ours, theirs = numbers - numbers.min(), others - others.min()",
            "ours, theirs = numbers, others - 1",
        ),
        ("other names are another order", "if 2 * (here & there).total() <=", "if 0 >"),
        ("no names are another order", "if 2 * (here & there).total() <=", "if 0 <="),
        ("hydrogens are numbered alike", "        if is_light\n", "        if False\n"),
        ("hydrogens are all alike", "for kind_of in (~light, light):", "for kind_of in (~light,):"),
        ("like atoms are told apart", "_CLASSES.get((resname, name))", "None"),
        ("elements are not compared", "moved = _moved(atoms.elements, elements, known)", "pass"),
    ),
    *_mutants(
        "readers/tinker.py",
        "readers/test_naming.py",
        ("later frames have any names", "and named != names", "and False"),
    ),
    *_mutants(
        "cli/interrupts.py",
        "cli/test_commands.py",
        ("imports are interrupted by a traceback", "signal.signal(signal.SIGINT, end)", "None"),
    ),
    *_mutants(
        "readers/xdr.py",
        "readers/test_integrity.py readers/test_binaries.py readers/test_trajectories.py",
        (
            "frames without positions count as snapshots",
            "kept = np.flatnonzero(has_positions[:count])",
            "kept = np.arange(count)",
        ),
        (
            "damaged coordinates are believed",
            "if not (np.array_equal(lowest, least) and np.array_equal(highest, most)):",
            "if False:",
        ),
    ),
    *_mutants(
        "_kernels/xtc.py",
        "readers/test_binaries.py",
        ("small differences never get larger", "small += change", "small += 0"),
        (
            "the first difference keeps its place",
            "atom if k == 0 else atom + 1 + k",
            "atom + 1 + k",
        ),
        ("the last byte is filled up", "& ((_ONE << left) - _ONE)", "& ((_ONE << _BYTE) - _ONE)"),
    ),
    *_mutants(
        "readers/gro.py",
        "readers/test_gro.py",
        ("GRO is read in nanometres", "_NM = 10.0", "_NM = 1.0"),
        ("a tilted GRO box is straight", "if len(numbers) == 9:", "if False:"),
    ),
    *_mutants(
        "readers/dumps.py",
        "readers/test_lammps.py",
        ("scaled coordinates are lengths", '"s" in names[0]', "False"),
    ),
    *_mutants(
        "readers/dumps.py",
        "readers/test_box_kinds.py",
        (
            "places are wrapped where others are not",
            '(("u", ""), ("su", "s"))',
            '(("", "u"), ("s", "su"))',
        ),
        ("walls that nobody counted are known", "known or not wall for", "True for"),
    ),
    *_mutants(
        "readers/snapshots.py",
        "readers/test_repeats.py",
        (
            "atoms are followed through repeats",
            "_leave_out(course.doubled, range(first, last + 1))",
            "range(first, last + 1)",
        ),
    ),
    *_mutants(
        "readers/repeats.py",
        "readers/test_repeats.py",
        ("runs of one file are one", "stop]) < 0)", "stop]) < -1e9)"),
        ("times in any order are runs", "_SHORTEST = 3", "_SHORTEST = 1"),
        ("frames of one time all count", "flatnonzero(steps == 0)", "flatnonzero(steps < 0)"),
        ("nobody knows times", "if len(found) < len(steps) else []", ""),
        ("replicas that overlap are one run", "_NEAR = 0.5", "_NEAR = 5.0"),
        ("what was computed again counts twice", "_NEAR = 0.5", "_NEAR = 0.0"),
        ("the first version counts", "return [], here if goes_on", "return [], there if goes_on"),
        ("frames of one time are the same", "    if same:\n", "    if True:\n"),
        ("files in any order go on", "if same and late[0] < early[0] - slack", "if False"),
        ("a frozen run repeats itself", "if stamps[frame - 1] < stamps[frame] or not", "if not"),
        ("copies are others", "filecmp.cmp(path, other, shallow=False)", "False"),
    ),
    *_mutants(
        "readers/snapshots.py",
        "readers/test_repeats.py readers/test_times.py",
        ("times of what is left out count", "self._times[list(course.doubled)] = np.nan", "pass"),
    ),
    *_mutants(
        "readers/orders.py",
        "readers/test_orders.py",
        ("numbers of a topology are no ids", "by_ids = serials if", "by_ids = first.ids if"),
        ("any order is near", "_NEAR = 0.2", "_NEAR = 5.0"),
        ("no order is near", "_NEAR = 0.2", "_NEAR = 0.0"),
        ("corners of boxes count", "places + (here[0] - places[0])", "places"),
        ("walls do not count", "None if frame.box is None else frame.box[None]", "None"),
    ),
    *_mutants(
        "readers/identity.py",
        "readers/test_identity.py",
        (
            "atoms are taken as they come",
            "positions=found.positions[order]",
            "positions=found.positions",
        ),
        ("names in another order are taken", "np.flatnonzero(names != first)", "np.zeros(0)"),
    ),
    *_mutants(
        "readers/trajectories.py",
        "readers/test_precision.py",
        ("texts are in single precision", "if positions.dtype.itemsize >", "if 0 >"),
    ),
    *_mutants(
        "readers/integrity.py",
        "readers/test_integrity.py",
        ("a number that is cut off is whole", "_decimals(words[-1]) >= min(", "0 <= min("),
    ),
    *_mutants(
        "readers/topologies.py",
        "output/test_groups.py",
        ("ids of a data file are lost", "if kind(path) not in LAMMPS_DATA:", "if True:"),
    ),
    *_mutants(
        "readers/wanted.py",
        "readers/test_arrays.py readers/test_trajectories.py",
        (
            "weights are those of the first snapshots",
            "array[np.asarray(kept)]",
            "array[: len(kept)]",
        ),
    ),
    *_mutants(
        "readers/soundness.py",
        "readers/test_mistakes.py",
        ("copies are never told", "if n_copies == n_steps:", "if False:"),
        ("half are most", "elif 2 * n_copies > n_steps:", "elif 2 * n_copies >= n_steps:"),
        ("boxes may change", "boxes is None or np.array", "True or np.array"),
    ),
    *_mutants(
        "readers/libraries.py",
        "readers/test_mistakes.py",
        ("whatever has a length is an array", "if not _is_array(source):", "if source is None:"),
        ("tables in a list are arrays", "if is_table(item) or not (", "if not ("),
        ("a list may hold anything", "if is_table(item) or not (", "if is_table(item) and not ("),
    ),
    *_mutants(
        "readers/wanted.py",
        "readers/test_given_boxes.py",
        (
            "boxes are those of the first snapshots",
            "dimensions)[np.asarray(kept)]",
            "dimensions)[: len(kept)]",
        ),
    ),
    *_mutants(
        "readers/numbering.py",
        "readers/test_numbering.py",
        ("the fifth digit is lost", "10 * resids + last", "resids"),
        ("small letters are large ones", "shift, width = 16 if", "shift, width = -10 if"),
        ("numbers of atoms are believed", "if _tell_apart(fields, models):", "if True:"),
    ),
    *_mutants(
        "readers/alternatives.py",
        "readers/test_alternatives.py",
        ("the least occupied location is taken", "(-round(", "(round("),
        ("a large kind of residue wins by its size", "found[version] *= most /", "most /"),
        ("neighbours choose for themselves", "neighbours[one].add(other)", "pass"),
    ),
    *_mutants(
        "readers/matching.py",
        "readers/test_matching.py readers/test_structures.py",
        (
            "atoms are matched by place",
            "np.array([table[key] for key in shared]",
            "np.array(list(table.values())",
        ),
    ),
    *_mutants(
        "readers/links.py",
        "readers/test_structures.py",
        ("links through half the molecule are bonds", "_MAX_LINK = 3.5", "_MAX_LINK = 35.0"),
    ),
    *_mutants(
        "readers/structures.py",
        "readers/test_structures.py",
        ("insertion codes are lost", "icodes=first.icodes[kept]", "icodes=first.altlocs[kept]"),
    ),
    *_mutants(
        "readers/bonds.py",
        "readers/test_bonds.py",
        ("waters are bonded", "bonded &= same | ~(waters[first] | waters[second])", "pass"),
    ),
    *_mutants(
        "readers/tables.py",
        "readers/test_tables.py",
        ("a particle may be in two places", "    if len(twice):", "    if False:"),
    ),
    *_mutants(
        "readers/tables.py",
        "readers/test_track_tables.py",
        ("particles 1_1 and 11 are one", "_WHOLE.fullmatch(name) is not None", "True"),
        (
            "every time that is rounded is a frame of its own",
            "times == np.floor(times)",
            "times == times",
        ),
    ),
    # ---- output --------------------------------------------------------------------------------
    *_mutants(
        "output/colours.py",
        "output/test_colours.py",
        ("the smallest clusters are grey", "sizes >= min_size", "sizes > min_size"),
    ),
    *_mutants(
        "output/tables.py",
        "output/test_tables.py",
        (
            "clusters count from 0",
            "labels_of_objects(analysis, cutoff) + 1",
            "labels_of_objects(analysis, cutoff)",
        ),
        (
            "columns are named wrongly",
            '"cluster", "size", "objects"',
            '"cluster", "objects", "size"',
        ),
        ("cutoffs are multiplied by a", "counted.cutoffs / length", "counted.cutoffs * length"),
        (
            "a column is named wrongly",
            '"mean size": counted.mean_size',
            '"mean size": counted.largest',
        ),
        ("runs go over gaps", "in {0, 1}", "in {0, 1, 2}"),
    ),
    *_mutants(
        "output/scripts.py",
        "output/test_scripts.py",
        ("PyMOL selects too much", "timme and b={label}", "timme and b>{label}"),
        (
            "ChimeraX selects another cluster",
            "timme & @@bfactor={label}",
            "timme & @@bfactor={label - 1}",
        ),
        ("VMD joins other particles", "{a - 1} {b - 1}", "{a} {b}"),
    ),
    *_mutants(
        "output/script_words.py",
        "output/test_scripts.py",
        ("colours are of 256", "16) / 255", "16) / 256"),
    ),
    *_mutants(
        "output/structures.py",
        "output/test_structures.py",
        ("the B-factor is no cluster", "b_iso = float(clusters[place])", "b_iso = float(place)"),
    ),
    *_mutants(
        "output/scene.py",
        "output/test_scene.py",
        (
            "nanometres are drawn as ångström",
            '10.0 if analysis.system.unit == "nm"',
            "1.0 if True",
        ),
        ("names end the script", r'.replace("<", "\\u003c")', ""),
        (
            "who is away is drawn",
            'pack(np.flatnonzero(absent), "i4")',
            'pack(np.flatnonzero(absent[:0]), "i4")',
        ),
    ),
    *_mutants(
        "store.py",
        "test_store.py",
        ("results of two systems are one", "    _refuse_misfits(system, hierarchy)\n", ""),
        ("other formats are read", ' and text["format"] == FORMAT:', ":"),
    ),
    # ---- numbers -------------------------------------------------------------------------------
    *_mutants(
        "system/ensemble.py",
        "test_numbers.py",
        ("few snapshots are summed in single precision", "SINGLE_FROM = 64", "SINGLE_FROM = 2"),
    ),
    *_mutants(
        "fluctuations/measuring.py",
        "test_numbers.py",
        ("nobody hears of half the box", "_NEAR_HALF_BOX = 0.9", "_NEAR_HALF_BOX = 0.999"),
    ),
    *_mutants(
        "settings/values.py",
        "test_numbers.py",
        ("R is 9", "LARGE = 10 ", "LARGE = 9 "),
    ),
    *_mutants(
        "system/units.py",
        "test_numbers.py",
        ("a bohr is half an ångström", "0.529177210903", "0.5"),
    ),
    *_mutants(
        "readers/bonds.py",
        "test_numbers.py",
        ("second neighbours are bonded", "    0.4  # Å beyond", "    1.2  # Å beyond"),
        ("stretched bonds are lost", "    0.4  # Å beyond", "    0.1  # Å beyond"),
    ),
    *_mutants(
        "output/colours.py",
        "test_numbers.py",
        ("the core is not dark blue", '"#00008b"', '"#8b0000"'),
    ),
    *_mutants(
        "workflow/remarks.py",
        "workflow/test_recipe.py",
        ("no pair is told to share fewer", "if few == 0:", "if few < 0:"),
    ),
    *_mutants(
        "output/confidence.py",
        "analysis/test_judged.py",
        ("many sites are told as one", "if name.isascii() and name.islower()", "if False"),
    ),
    *_mutants(
        "output/scene.py",
        "test_numbers.py",
        ("the palettes are one", '"safe": list(SAFE)', '"safe": list(WIDE)'),
    ),
    *_mutants(
        "settings/values.py",
        "test_numbers.py",
        ("clusters of two are drawn", "MIN_SIZE = 3 ", "MIN_SIZE = 2 "),
    ),
    # ---- choices -------------------------------------------------------------------------------
    *_mutants(
        "settings/values.py",
        "settings/test_usual.py workflow/test_recipe.py",
        ("third neighbours are compared", "MIN_BONDS = 4 ", "MIN_BONDS = 3 "),
        ("contacts are within 9 Å", "RADIUS = 10.0 ", "RADIUS = 9.0 "),
        ("all pairs of any number of particles", "ALL_PAIRS = 20_000 ", "ALL_PAIRS = 2_000_000 "),
        ("8 nearest are compared", "NEAREST = 12 ", "NEAREST = 8 "),
        ("a centre is that of mass", 'CENTRE: Final = "geometry"', 'CENTRE: Final = "mass"'),
        (
            "links count by the mean",
            'LINK_REDUCTION: Final = "max"',
            'LINK_REDUCTION: Final = "rms"',
        ),
        ("the C–C bond", "\nBOND = 1.54 ", "\nBOND = 1.5 "),
        ("the O–H bond", "WATER_BOND = 0.96 ", "WATER_BOND = 1.0 "),
    ),
    *_mutants(
        "objects/grouping.py",
        "settings/test_usual.py",
        (
            "residues have centres of mass",
            "reduction: Reduction = REDUCTION, centre: Centre = CENTRE\n",
            "reduction: Reduction = REDUCTION, centre: Centre = MOLECULE_CENTRE\n",
        ),
    ),
    *_mutants(
        "workflow/defaults.py",
        "workflow/test_recipe.py",
        ("a nanometre is an ångström", '"nm": 0.1', '"nm": 1.0'),
        ("own groups are thinned", '{"links", "molecules", "groups"}', '{"links", "molecules"}'),
        ("own pairs are thinned", "listed = pairs not in PAIRS", "listed = False"),
    ),
    *_mutants(
        "workflow/budget.py",
        "workflow/test_recipe.py test_memory.py cli/test_commands.py",
        (
            "too little memory is enough",
            "raise ValueError(_refusal(compared, fixed + least, limit))",
            "pass",
        ),
    ),
    # ---- server --------------------------------------------------------------------------------
    *_mutants(
        "web/guard.py",
        "web/test_guard.py",
        ("servers on two ports share a cookie", 'f"timme-{port}"', '"timme"'),
        ("any token opens", " and self._keys.fits(key.strip()):", ":"),
        (
            "any cookie opens",
            'return self._keys.fits(cookies.get(self._cookie, ""))',
            "return bool(cookies)",
        ),
        (
            "other pages may ask",
            'return _problem(403, "requests from other pages are not taken")',
            "pass",
        ),
        (
            "other names of the computer are answered",
            'return _problem(403, "this server answers to 127.0.0.1 and localhost only")',
            "pass",
        ),
        ("other pages send the cookie", 'samesite="strict"', 'samesite="none"'),
        ("scripts read the cookie", "httponly=True", "httponly=False"),
    ),
    *_mutants(
        "web/uploads.py",
        "web/test_uploads.py",
        ("uploads have no limit", "if self.taken > self.limit:", "if False:"),
        ("files choose their place", 'f"{len(self._files) + 1}{suffix}"', "given"),
        ("half a compressed file is taken", " and not self._unpacker.eof:", " and False:"),
        ("half a form is taken", "        if not self._complete:", "        if False:"),
    ),
    *_mutants(
        "web/downloads.py",
        "web/test_guard.py",
        ("files of results run scripts", '{"Content-Security-Policy": FILE_POLICY}', "{}"),
    ),
]
