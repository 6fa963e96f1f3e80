"""Vectors of numbers that loops hold by name: what adds up in which order is said, not guessed.

A compiler that makes vectors of a loop by itself chooses how long they are, what becomes of the
rest, and in which order to add up, and adds up each sum alone. Sums over a hundred frames are so
short that this takes as long as the loop. Here a vector holds 64 bytes of consecutive numbers,
whatever the machine (where registers are shorter it fills several), so that sums are added up in
the same order everywhere, and those of eight vectors together.

Without compilation a vector is an array, and functions do what they say. Compiled, ``+``, ``-``,
``*``, ``/`` and ``np.sqrt`` are an instruction or a few; a product that is added at once is not
rounded.
"""

from __future__ import annotations

import operator
from itertools import chain
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

_BYTES = 64
_FLAGS = ("contract", "nsz")
_INLINED: Any = {"forceinline": True}


def numbers_of(array):
    """Return the numbers of an array one after another.

    To loops that is where they are, and nothing else.
    """
    return array.reshape(-1)


def borrow(array):
    """Return an array that someone else holds, for as long as it is used.

    Who holds an array is counted wherever it is handed on, which takes longer than short loops do.
    What was handed to a kernel is held by its caller.
    """
    return array


def lanes_of(numbers):
    """How many of them a vector holds."""
    return _BYTES // numbers.itemsize


def load(numbers, at, count):
    """Vector of so many consecutive numbers, and 0 in other lanes."""
    return np.pad(numbers[at : at + count], (0, lanes_of(numbers) - count))


def keep(vector, count):
    """The first lanes of a vector, and 0 in others."""
    return np.where(np.arange(len(vector)) < count, vector, vector.dtype.type(0.0))


def spread(vector):
    """Vector of which all lanes are the first of another."""
    return np.full_like(vector, vector[0])


def first_lane(vector):
    """Return the number in the first lane."""
    return vector[0]


def splat(number):
    """Vector of which all lanes are one number."""
    return number


def higher(one, other):
    """The higher of two numbers in each lane."""
    return np.maximum(one, other)


def lower(one, other):
    """The lower of two numbers in each lane."""
    return np.minimum(one, other)


def bits_above(one, other):
    """Lanes in which a number is above another, as bits of one number; none that is no number."""
    return sum(1 << int(k) for k in np.flatnonzero(one > other))


def total(vector):
    """Sum over the lanes: the upper half is added to the lower one, and so on."""
    while len(vector) > 1:
        vector = vector[: len(vector) // 2] + vector[len(vector) // 2 :]
    return vector[0]


def store_first(numbers, at, vectors):
    """Store the first lanes of some vectors."""
    for k, vector in enumerate(vectors):
        numbers[at + k] = vector[0]


def store_sums(numbers, places, ones, others):
    """Store the totals of four vectors from one place on, and of four others from another."""
    for place, vectors in zip(places, (ones, others), strict=True):
        for k, vector in enumerate(vectors):
            numbers[place + k] = total(vector)


class _Lanes(types.Type):
    """What a vector is to numba."""

    def __init__(self, dtype):
        self.dtype, self.count = dtype, _BYTES * 8 // dtype.bitwidth
        super().__init__(f"Lanes({dtype})")

    def named(self, name):
        """Name LLVM's function for such vectors."""
        return f"llvm.{name}.v{self.count}f{self.dtype.bitwidth}"


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        number = manager.lookup(lanes.dtype).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(number, lanes.count))


@overload(numbers_of, jit_options=_INLINED)
def _numbers_of(array):
    return lambda array: _point_at(array)


@overload(borrow, jit_options=_INLINED)
def _borrow(array):
    return lambda array: carray(_point_at(array), array.shape)


@overload(lanes_of, jit_options=_INLINED)
def _lanes_of(numbers):
    count = _Lanes(numbers.dtype).count
    return lambda numbers: count


@overload(load, jit_options=_INLINED)
def _load(numbers, at, count):
    return lambda numbers, at, count: _load_lanes(numbers, at, count)


@overload(keep, jit_options=_INLINED)
def _keep(vector, count):
    return lambda vector, count: _keep_lanes(vector, count)


@overload(spread, jit_options=_INLINED)
def _spread(vector):
    return lambda vector: _spread_lane(vector)


@overload(first_lane, jit_options=_INLINED)
def _first_lane(vector):
    return lambda vector: _extract_lane(vector)


@overload(splat, jit_options=_INLINED)
def _splat(number):
    return lambda number: _splat_number(number)


@overload(higher, jit_options=_INLINED)
def _higher(one, other):
    return lambda one, other: _choose_higher(one, other)


@overload(lower, jit_options=_INLINED)
def _lower(one, other):
    return lambda one, other: _choose_lower(one, other)


@overload(bits_above, jit_options=_INLINED)
def _bits_above(one, other):
    return lambda one, other: _compare_lanes(one, other)


@overload(total, jit_options=_INLINED)
def _total(vector):
    return lambda vector: _add_lanes(vector)


@overload(store_first, jit_options=_INLINED)
def _store_first(numbers, at, vectors):
    return lambda numbers, at, vectors: _store_lanes(numbers, at, vectors)


@overload(store_sums, jit_options=_INLINED)
def _store_sums(numbers, places, ones, others):
    return lambda numbers, places, ones, others: _store_eight(numbers, places, ones, others)


@overload(np.sqrt, jit_options=_INLINED)
def _sqrt(vector):
    return (lambda vector: _take_roots(vector)) if isinstance(vector, _Lanes) else None


@intrinsic
def _point_at(_, array):
    def generate(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def _load_lanes(_, numbers, at, count):
    lanes = _Lanes(numbers.dtype)

    def generate(context, builder, signature, arguments):
        vector = context.get_value_type(lanes)
        where, size = _place(builder, arguments[0], arguments[1], vector), _number(_size(lanes))
        mask = _mask(builder, lanes.count, arguments[2])
        function = ir.FunctionType(vector, [where.type, size.type, mask.type, vector])
        name = lanes.named("masked.load") + ".p0"
        masked = cgutils.get_or_insert_function(builder.module, function, name)
        return builder.call(masked, [where, size, mask, _zeros(vector)])

    return lanes(numbers, types.intp, types.intp), generate


@intrinsic
def _keep_lanes(_, vector, count):
    def generate(context, builder, signature, arguments):
        mask = _mask(builder, vector.count, arguments[1])
        return builder.select(mask, arguments[0], _zeros(arguments[0].type))

    return vector(vector, types.intp), generate


@intrinsic
def _spread_lane(_, vector):
    def generate(context, builder, signature, arguments):
        return _shuffle(builder, arguments[0], arguments[0], [0] * vector.count)

    return vector(vector), generate


@intrinsic
def _extract_lane(_, vector):
    def generate(context, builder, signature, arguments):
        return builder.extract_element(arguments[0], _number(0))

    return vector.dtype(vector), generate


@intrinsic
def _splat_number(_, number):
    lanes = _Lanes(number)

    def generate(context, builder, signature, arguments):
        vector = ir.Constant(context.get_value_type(lanes), ir.Undefined)
        vector = builder.insert_element(vector, arguments[0], _number(0))
        return _shuffle(builder, vector, vector, [0] * lanes.count)

    return lanes(number), generate


@intrinsic
def _choose_higher(_, one, other):
    def generate(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return one(one, other), generate


@intrinsic
def _choose_lower(_, one, other):
    def generate(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

    return one(one, other), generate


@intrinsic
def _compare_lanes(_, one, other):
    def generate(context, builder, signature, arguments):
        above = builder.fcmp_ordered(">", *arguments)
        bits = builder.bitcast(above, ir.IntType(one.count))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(one, other), generate


@intrinsic
def _take_roots(_, vector):
    def generate(context, builder, signature, arguments):
        kind = arguments[0].type
        function = ir.FunctionType(kind, [kind])
        root = cgutils.get_or_insert_function(builder.module, function, vector.named("sqrt"))
        return builder.call(root, arguments)

    return vector(vector), generate


@intrinsic
def _add_lanes(_, vector):
    def generate(context, builder, signature, arguments):
        sums = _fold(builder, arguments[0], vector.count)
        return builder.extract_element(sums, _number(0))

    return vector.dtype(vector), generate


@intrinsic
def _store_lanes(_, numbers, at, vectors):
    def generate(context, builder, signature, arguments):
        for k, vector in enumerate(cgutils.unpack_tuple(builder, arguments[2])):
            where = cgutils.gep(builder, arguments[0], builder.add(arguments[1], _index(k)))
            builder.store(builder.extract_element(vector, _number(0)), where)
        return context.get_dummy_value()

    return types.void(numbers, types.intp, vectors), generate


@intrinsic
def _store_eight(_, numbers, places, ones, others):
    def generate(context, builder, signature, arguments):
        vectors = list(chain(*(cgutils.unpack_tuple(builder, four) for four in arguments[2:])))
        width = vectors[0].type.count
        while len(vectors) > 1:  # each holds sums that are under way, of so many lanes each
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [_add_halves(builder, one, other, width) for one, other in pairs]
            width //= 2
        sums = _fold(builder, vectors[0], width)
        for k, place in enumerate(cgutils.unpack_tuple(builder, arguments[1])):
            four = _shuffle(builder, sums, sums, range(4 * k, 4 * k + 4))
            where = _place(builder, arguments[0], place, four.type)
            builder.store(four, where, align=_size(ones.dtype))
        return context.get_dummy_value()

    return types.void(numbers, places, ones, others), generate


def _fold(builder, vector, width):
    """Add up runs of so many lanes."""
    while width > 1:
        vector, width = _add_halves(builder, vector, None, width), width // 2
    return vector


def _add_halves(builder, one, other, width):
    """Add upper halves of runs of lanes to lower ones, of two vectors if there is another."""
    count = one.type.count if other is None else 2 * one.type.count
    lower = [run + k for run in range(0, count, width) for k in range(width // 2)]
    upper = [lane + width // 2 for lane in lower]
    second = one if other is None else other
    low, high = _shuffle(builder, one, second, lower), _shuffle(builder, one, second, upper)
    return builder.fadd(low, high, flags=_FLAGS)


def _place(builder, numbers, at, vector):
    """Pointer to a vector at a place."""
    return builder.bitcast(cgutils.gep(builder, numbers, at), vector.as_pointer())


def _size(lanes):
    """Bytes of a number."""
    return lanes.dtype.bitwidth // 8


def _mask(builder, count, wanted):
    """Which of so many lanes are wanted; known before it runs if that is."""
    one = ir.VectorType(wanted.type, count)
    wide = builder.insert_element(ir.Constant(one, ir.Undefined), wanted, _number(0))
    numbers = ir.Constant(one, list(range(count)))
    return builder.icmp_signed("<", numbers, _shuffle(builder, wide, wide, [0] * count))


def _shuffle(builder, one, other, lanes):
    lanes = list(lanes)
    chosen = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(one, other, chosen)


def _number(k):
    return ir.Constant(ir.IntType(32), k)


def _index(k):
    return ir.Constant(cgutils.intp_t, k)


def _zeros(vector):
    return ir.Constant(vector, [0.0] * vector.count)


def _declare(symbol, instruction):
    """Let an operator between vectors be an instruction."""

    @intrinsic
    def combine(_, one, other):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments, flags=_FLAGS)

        return one(one, other), generate

    @overload(symbol, jit_options=_INLINED)
    def _operator(one, other):
        if isinstance(one, _Lanes) and isinstance(other, _Lanes):
            return lambda one, other: combine(one, other)
        return None


_declare(operator.add, "fadd")
_declare(operator.sub, "fsub")
_declare(operator.mul, "fmul")
_declare(operator.truediv, "fdiv")
