#!/usr/bin/env python3
"""Writes tests/semantics/special.txt: the results of elementwise ops on special values, for every type that they support.

Expected results are computed here, from the definition of each op: with integers, with exact rational arithmetic that
is rounded once for floats, and with mpmath in high precision for mathematical functions. Neither the compiler nor the
reference interpreter is involved.

usage: python3 scripts/special_values.py > tests/semantics/special.txt      (needs mpmath)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Callable

import mpmath

# The largest f64 has 1024 bits before the binary point, and its sine depends on all of them.
mpmath.mp.prec = 1400


@dataclass(frozen=True)
class Format:
    exponent_bits: int
    mantissa_bits: int
    infinity: bool = True
    nan: bool = True
    signed: bool = True

    @property
    def width(self) -> int:
        return int(self.signed) + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def sign(self) -> int:
        """The sign bit, or zero for an unsigned format."""
        return 1 << (self.width - 1) if self.signed else 0

    @property
    def signs(self) -> tuple[int, ...]:
        return (0, self.sign) if self.signed else (0,)

    @property
    def largest(self) -> int:
        """The bits of the largest number: below infinity, below the only NaN, or the last code."""
        top = (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        return top - (1 << self.mantissa_bits) if self.infinity else top - int(self.nan)

    @property
    def lowest_exponent(self) -> int:
        """The exponent of the last bit of subnormal numbers."""
        return 1 - self.bias - self.mantissa_bits


FORMATS = {
    "f16": Format(5, 10),
    "bf16": Format(8, 7),
    "f32": Format(8, 23),
    "f64": Format(11, 52),
    "tf32": Format(8, 10),
    "e4m3": Format(4, 3, infinity=False),
    "e5m2": Format(5, 2),
    "e5m3": Format(5, 3, infinity=False, signed=False),
    "e2m1": Format(2, 1, infinity=False, nan=False),
}
# f8E8M0FNU holds powers of two, without sign and zero. It is handled separately.
SCALE = "e8m0"
BASE = ["f16", "bf16", "f32", "f64"]
INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

# A float is a fraction or one of these. Zeros are signed.
NAN, INF, NINF, NZERO = "nan", "inf", "-inf", "-0"
Real = Fraction | str
ZERO = Fraction(0)


def decode(bits: int, f: Format) -> Real:
    negative = bool(bits & f.sign)
    bits &= (1 << (f.exponent_bits + f.mantissa_bits)) - 1
    if bits > f.largest:
        is_infinity = f.infinity and bits == f.largest + 1
        return (NINF if negative else INF) if is_infinity else NAN
    exponent, mantissa = bits >> f.mantissa_bits, bits & ((1 << f.mantissa_bits) - 1)
    if exponent:
        mantissa |= 1 << f.mantissa_bits
    value = mantissa * Fraction(2) ** (max(exponent, 1) - 1 + f.lowest_exponent)
    if value == 0:
        return NZERO if negative else ZERO
    return -value if negative else value


def is_negative(x: Real) -> bool:
    return x in (NINF, NZERO) or (isinstance(x, Fraction) and x < 0)


def number(x: Real) -> Fraction:
    return ZERO if x == NZERO else x


def finite(x: Real) -> bool:
    return isinstance(x, Fraction) or x == NZERO


def nonzero(x: Real) -> bool:
    return number(x) != 0 if finite(x) else True


def floor_log2(x: Fraction) -> int:
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def encode(x: Real, f: Format, mode: str = "nearest_even") -> str:
    """The entry in the table: bits, or `nan`; `?` for negative numbers in an unsigned format."""
    if not f.signed and is_negative(x) and x != NZERO:
        return "?"
    bits = encoded(x, f, mode)
    return "nan" if bits is None else f"0x{bits:0{(f.width + 3) // 4}x}"


def encoded(x: Real, f: Format, mode: str) -> int | None:
    if x == NAN:
        return None
    sign = f.sign if is_negative(x) else 0
    # The result of overflow: infinity; NaN in formats without infinity; the largest number in formats with neither.
    beyond = f.largest + 1 | sign if f.infinity else None if f.nan else f.largest | sign
    if x in (INF, NINF):
        return beyond
    magnitude = abs(number(x))
    if magnitude == 0:
        return sign
    away = {"nearest_even": None, "zero": False, "positive_inf": not sign, "negative_inf": bool(sign)}[mode]
    unit = Fraction(2) ** (max(floor_log2(magnitude), 1 - f.bias) - f.mantissa_bits)
    units = magnitude / unit
    whole = units.numerator // units.denominator
    rest = units - whole
    half = Fraction(1, 2)
    up = (rest > half or (rest == half and whole % 2 == 1)) if away is None else (away and rest > 0)
    value = (whole + up) * unit
    largest = decode(f.largest, f)
    assert isinstance(largest, Fraction)
    if value > largest:
        if away is False:
            return f.largest | sign
        return beyond
    exponent = floor_log2(value) if value else 0
    if value < Fraction(2) ** (1 - f.bias):
        return int(value / Fraction(2) ** f.lowest_exponent) | sign
    mantissa = int(value / Fraction(2) ** (exponent - f.mantissa_bits)) - (1 << f.mantissa_bits)
    return (exponent + f.bias << f.mantissa_bits) | mantissa | sign


def decode_scale(bits: int) -> Real:
    return NAN if bits == 255 else Fraction(2) ** (bits - 127)


def encode_scale(x: Real, mode: str) -> str:
    if x in (NAN, INF):
        return "nan"
    if is_negative(x) or x == ZERO:
        # No power of two is close.
        return "?"
    assert isinstance(x, Fraction)
    e = floor_log2(x)
    if mode == "positive_inf" and x != Fraction(2) ** e:
        e += 1
    if e > 127:
        return "nan" if mode == "positive_inf" else word(254, 8)
    return word(max(e, -127) + 127, 8)


# === values ==================================================================


def specials(f: Format) -> list[int]:
    if not f.nan:
        return list(range(2 * f.sign))
    one = f.bias << f.mantissa_bits
    positive = [0, 1, (1 << f.mantissa_bits) - 1, 1 << f.mantissa_bits, f.largest, one, one + 1]
    if f.infinity:
        positive.append(f.largest + 1)
        nan = f.largest + 1 | 1 << (f.mantissa_bits - 1)
    else:
        nan = f.largest + 1
    # 0.5, 2.5 and 3.
    more = [encoded(Fraction(n, 2), f, "nearest_even") or 0 for n in (1, 5, 6)]
    return [b | s for b in positive + more for s in f.signs] + [nan]


def few(f: Format) -> list[int]:
    """Values to combine in all pairs."""
    one = f.bias << f.mantissa_bits
    positive = [0, 1, f.largest, one, one + 3 + (1 << f.mantissa_bits)]
    positive += [f.largest + 1] if f.infinity else []
    nan = f.largest + (1 | 1 << (f.mantissa_bits - 1))
    return [b | s for b in positive for s in f.signs] + [nan]


def fewest(f: Format) -> list[int]:
    """Values to combine in all triples."""
    nan, one = f.largest + (1 | 1 << (f.mantissa_bits - 1)), f.bias << f.mantissa_bits
    return [nan, 0, f.sign, 1, f.largest | f.sign, one, f.largest + 1, f.largest + 1 | f.sign]


def scales() -> list[int]:
    """Powers of two at the limits of other formats and of integers, and around one."""
    powers = {-127, -126, -125, 0, 125, 126, 127}
    for f in FORMATS.values():
        largest = decode(f.largest, f)
        assert isinstance(largest, Fraction)
        for e in (floor_log2(largest), f.lowest_exponent, 1 - f.bias):
            powers |= {e - 1, e, e + 1}
    for width in INTEGERS.values():
        powers |= {width - 2, width - 1, width}
    return [e + 127 for e in sorted(powers) if -127 <= e <= 127] + [255]


def word(bits: int, width: int) -> str:
    return f"0x{bits:0{(width + 3) // 4}x}"


def integers(width: int) -> list[int]:
    if width == 1:
        return [0, 1]
    top, mask = 1 << (width - 1), (1 << width) - 1
    return [0, 1, 2, 7, top - 1, top, top + 1, mask - 6, mask]


def extremes(width: int) -> list[int]:
    return [v for v in integers(width) if v.bit_count() in (0, 1, width - 1, width) and v != 2]


def signed(v: int, width: int) -> int:
    return v - (1 << width) if v >> (width - 1) else v


# === exact arithmetic ========================================================


def added(a: Real, b: Real, mode: str) -> Real:
    if NAN in (a, b) or {a, b} == {INF, NINF}:
        return NAN
    for x in (a, b):
        if not finite(x):
            return x
    total = number(a) + number(b)
    if total == 0:
        if a == b == NZERO or (mode == "negative_inf" and not a == b == ZERO):
            return NZERO
        return ZERO
    return total


def negated(a: Real) -> Real:
    table: dict[Real, Real] = {NAN: NAN, INF: NINF, NINF: INF, NZERO: ZERO}
    if a in table:
        return table[a]
    assert isinstance(a, Fraction)
    return NZERO if a == 0 else -a


def with_sign(magnitude: Real, negative: bool) -> Real:
    return negated(magnitude) if negative else magnitude


def multiplied(a: Real, b: Real, mode: str) -> Real:
    if NAN in (a, b):
        return NAN
    negative = is_negative(a) != is_negative(b)
    if not finite(a) or not finite(b):
        return with_sign(INF, negative) if nonzero(a) and nonzero(b) else NAN
    return with_sign(abs(number(a) * number(b)), negative)


def divided(a: Real, b: Real, mode: str) -> Real:
    if NAN in (a, b) or (not finite(a) and not finite(b)):
        return NAN
    negative = is_negative(a) != is_negative(b)
    if not finite(a):
        return with_sign(INF, negative)
    if not finite(b):
        return with_sign(ZERO, negative)
    if not nonzero(b):
        return with_sign(INF, negative) if nonzero(a) else NAN
    return with_sign(abs(number(a) / number(b)), negative)


def fused(a: Real, b: Real, c: Real, mode: str) -> Real:
    return added(multiplied(a, b, mode), c, mode)


def remainder(a: Real, b: Real, mode: str) -> Real:
    if NAN in (a, b) or not finite(a) or not nonzero(b):
        return NAN
    if not finite(b):
        return a
    return with_sign(abs(number(a)) % abs(number(b)), is_negative(a))


def order(x: Real) -> tuple[int, Fraction, int]:
    """A sort key: -0 before 0."""
    if x == INF:
        return (1, ZERO, 0)
    if x == NINF:
        return (-1, ZERO, 0)
    return (0, number(x), 0 if x == NZERO else 1)


def maximum(a: Real, b: Real, largest: bool, propagate: bool) -> Real:
    numbers = [x for x in (a, b) if x != NAN]
    if not numbers or (propagate and len(numbers) < 2):
        return NAN
    return max(numbers, key=order) if largest else min(numbers, key=order)


def whole(x: Real, up: bool) -> Real:
    if not isinstance(x, Fraction):
        return x
    n = -(-x.numerator // x.denominator) if up else x.numerator // x.denominator
    return NZERO if n == 0 and x < 0 else Fraction(n)


PREDICATES: dict[str, Callable[[int], bool]] = {
    "equal": lambda c: c == 0,
    "not_equal": lambda c: c != 0,
    "less_than": lambda c: c < 0,
    "less_than_or_equal": lambda c: c <= 0,
    "greater_than": lambda c: c > 0,
    "greater_than_or_equal": lambda c: c >= 0,
}


# === functions ===============================================================


def real(x: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if sign else value


def computed(f: Callable[..., mpmath.mpf], *xs: Real) -> Real:
    return real(f(*(mpmath.mpf(number(x).numerator) / number(x).denominator for x in xs)))


# Bounds beyond all formats. Values outside of them need no more precision.
HUGE = Fraction(2) ** 1100
TINY = Fraction(2) ** -1200


def exponential(x: Real, f: Callable[[mpmath.mpf], mpmath.mpf]) -> Real:
    if x in (NAN, INF):
        return x
    if x == NINF:
        return ZERO
    if abs(number(x)) > 2000:
        return HUGE if number(x) > 0 else TINY
    return computed(f, x)


def logarithm(x: Real, f: Callable[[mpmath.mpf], mpmath.mpf]) -> Real:
    if x in (NAN, INF):
        return x
    if not nonzero(x):
        return NINF
    return NAN if is_negative(x) else computed(f, x)


def circular(x: Real, f: Callable[[mpmath.mpf], mpmath.mpf]) -> Real:
    if not finite(x):
        return NAN
    return x if x == NZERO and f is not mpmath.cos else computed(f, x)


def hyperbolic(x: Real, name: str) -> Real:
    if x == NAN or (x == NZERO and name != "cosh"):
        return x
    negative = is_negative(x) and name != "cosh"
    if not finite(x) or abs(number(x)) > 2000:
        limit = Fraction(1) if name == "tanh" else INF if not finite(x) else HUGE
        return with_sign(limit, negative)
    return computed(getattr(mpmath, name), x)


def inverse_root(x: Real) -> Real:
    if x == NAN or (is_negative(x) and nonzero(x)):
        return NAN
    if x == INF:
        return ZERO
    if not nonzero(x):
        return with_sign(INF, x == NZERO)
    return computed(lambda v: 1 / mpmath.sqrt(v), x)


def power(x: Real, y: Real) -> Real:
    if (finite(y) and not nonzero(y)) or x == Fraction(1):
        return Fraction(1)
    if NAN in (x, y):
        return NAN
    is_whole = finite(y) and number(y).denominator == 1
    odd = is_whole and number(y).numerator % 2 == 1
    if not finite(y):
        if x == Fraction(-1):
            return Fraction(1)
        grows = (not finite(x) or abs(number(x)) > 1) == (y == INF)
        return INF if grows else ZERO
    if not finite(x) or not nonzero(x):
        grows = (not finite(x)) == (number(y) > 0)
        return with_sign(INF if grows else ZERO, is_negative(x) and odd)
    if is_negative(x) and not is_whole:
        return NAN
    magnitude = abs(number(x))
    log = mpmath.log(mpmath.mpf(magnitude.numerator) / magnitude.denominator, 2) * mpmath.mpf(
        number(y).numerator
    ) / number(y).denominator
    size = HUGE if log > 1100 else TINY if log < -1200 else real(mpmath.power(2, log))
    return with_sign(size, is_negative(x) and odd)


def angle(x: Real, y: Real) -> Real:
    """The arctangent of x/y."""
    if NAN in (x, y):
        return NAN
    pi = mpmath.pi
    if not finite(x):
        part = mpmath.mpf(1) / 2 if finite(y) else mpmath.mpf(3 if y == NINF else 1) / 4
        size = real(pi * part)
    elif not finite(y) or not nonzero(x):
        if is_negative(y):
            size = real(+pi)
        elif nonzero(x) or finite(y):
            size = ZERO
        else:
            size = ZERO
    elif not nonzero(y):
        size = real(pi / 2)
    else:
        size = abs(computed(mpmath.atan2, x, y))
    return with_sign(size, is_negative(x))


FUNCTIONS: dict[str, Callable[[Real], Real]] = {
    "exp": lambda x: exponential(x, mpmath.exp),
    "exp2": lambda x: exponential(x, lambda v: mpmath.power(2, v)),
    "log": lambda x: logarithm(x, mpmath.log),
    "log2": lambda x: logarithm(x, lambda v: mpmath.log(v, 2)),
    "sin": lambda x: circular(x, mpmath.sin),
    "cos": lambda x: circular(x, mpmath.cos),
    "tan": lambda x: circular(x, mpmath.tan),
    "sinh": lambda x: hyperbolic(x, "sinh"),
    "cosh": lambda x: hyperbolic(x, "cosh"),
    "tanh": lambda x: hyperbolic(x, "tanh"),
    "rsqrt": inverse_root,
}


# === tables ==================================================================


def block(types: str, op: str, rows: list[list[str]]) -> None:
    print(f"\n== {types} : {op}")
    for *operands, result in rows:
        print(*operands, "->", result)


MODES = ["nearest_even", "zero", "negative_inf", "positive_inf"]


def floats() -> None:
    for name in BASE:
        f = FORMATS[name]
        one, two = specials(f), list(product(few(f), repeat=2))
        ordering, three = list(product(fewest(f), repeat=2)), list(product(fewest(f), repeat=3))

        def show(values: tuple[int, ...] | list[int], result: str) -> list[str]:
            return [word(v, f.width) for v in values] + [result]

        def reals(values: tuple[int, ...]) -> list[Real]:
            return [decode(v, f) for v in values]

        near = "~1" if f.width == 16 else "~3"

        def approximate(x: Real) -> str:
            text = encode(x, f)
            return text if text == "nan" else text + near

        unary: dict[str, Callable[[Real], Real]] = {
            "absf": lambda x: negated(x) if is_negative(x) else x,
            "negf": negated,
            "ceil": lambda x: whole(x, True),
            "floor": lambda x: whole(x, False),
        }
        for op, g in unary.items():
            block(f"{name} -> {name}", f"{op} %a : R", [show([v], encode(g(decode(v, f)), f)) for v in one])
        for op, g in FUNCTIONS.items():
            block(f"{name} -> {name}", f"{op} %a : R", [show([v], approximate(g(decode(v, f)))) for v in one])
        for mode in MODES:
            suffix = "" if mode == "nearest_even" else f" rounding<{mode}>"
            binary: dict[str, Callable[..., Real]] = {
                "addf": added,
                "subf": lambda a, b, m: added(a, negated(b), m),
                "mulf": multiplied,
                "divf": divided,
            }
            for op, h in binary.items():
                rows = [show(v, encode(h(*reals(v), mode), f, mode)) for v in two]
                block(f"{name} {name} -> {name}", f"{op} %a, %b{suffix} : R", rows)
            rows = [show(v, encode(fused(*reals(v), mode), f, mode)) for v in three]
            block(f"{name} {name} {name} -> {name}", f"fma %a, %b, %c{suffix} : R", rows)
            rows = [show([v], root(decode(v, f), f, mode)) for v in one]
            block(f"{name} -> {name}", f"sqrt %a{suffix} : R", rows)
        pairs = f"{name} {name} -> {name}"
        block(pairs, "remf %a, %b : R", [show(v, encode(remainder(*reals(v), ""), f)) for v in two])
        block(pairs, "fpowf %a, %b : R", [show(v, approximate(power(*reals(v)))) for v in two])
        block(pairs, "atan2 %a, %b : R", [show(v, approximate(angle(*reals(v)))) for v in two])
        for op, propagate in product(["maxf", "minf"], [False, True]):
            rows = [show(v, encode(maximum(*reals(v), op == "maxf", propagate), f)) for v in ordering]
            block(pairs, f"{op} %a, %b{' propagate_nan' if propagate else ''} : R", rows)
        for (predicate, holds), ordered in product(PREDICATES.items(), [True, False]):

            def compared(v: tuple[int, ...]) -> str:
                a, b = reals(v)
                if NAN in (a, b):
                    return str(int(not ordered))
                a, b = order(a)[:2], order(b)[:2]
                return str(int(holds((a > b) - (a < b))))

            kind = "ordered" if ordered else "unordered"
            block(f"{name} {name} -> i1", f"cmpf {predicate} {kind} %a, %b : T0 -> R", [show(v, compared(v)) for v in ordering])
        rows = [["1" if v & 1 else "0"] + show([v, w], word(v if v & 1 else w, f.width)) for v, w in two]
        block(f"i1 {name} {name} -> {name}", "select %a, %b, %c : T0, R", rows)


def root(x: Real, f: Format, mode: str) -> str:
    return encode(square_root(x), f, mode)


def square_root(x: Real) -> Real:
    """The square root, precise enough for rounding."""
    if not isinstance(x, Fraction) or x <= 0:
        return NAN if is_negative(x) and x != NZERO else x
    # Far more digits than any tie needs, and a sticky bit for the rest.
    scale = Fraction(4) ** 1400
    scaled = x * scale
    n = scaled.numerator // scaled.denominator
    low = int(mpmath.libmp.isqrt(n))
    exact = Fraction(low) if low * low == scaled else Fraction(2 * low + 1, 2)
    return exact / Fraction(2) ** 1400


# === modes that only exist for f32 ===========================================

SINGLE = FORMATS["f32"]
NORMAL = Fraction(2) ** -126


def flushed(x: Real) -> Real:
    return with_sign(ZERO, is_negative(x)) if isinstance(x, Fraction) and 0 < abs(x) < NORMAL else x


def encode_flushed(x: Real, mode: str) -> str:
    """A result with subnormal values flushed to zero. Whether a value is subnormal may be decided before or after rounding."""
    text = encode(x, SINGLE, mode)
    if flushed(x) == x or text == "nan":
        return text
    grew = int(text, 16) & ~SINGLE.sign == 1 << SINGLE.mantissa_bits
    return "?" if grew else encode(flushed(x), SINGLE)


def within(x: Real, ulps: int, flush: bool = False) -> str:
    """A result that may differ from the exact one, rounded to nearest, by up to `ulps` units in the last place."""
    text = encode(x, SINGLE)
    if text == "nan":
        return text
    if flush and isinstance(x, Fraction) and x != 0:
        if abs(abs(x) / NORMAL - 1) < Fraction(ulps + 1, 1 << SINGLE.mantissa_bits):
            # The error decides whether the result is flushed.
            return "?"
        text = encode(flushed(x), SINGLE)
    return f"{text}~{ulps}"


def approximate_quotient(a: Real, b: Real, flush: bool) -> str:
    """The dividend times the reciprocal of the divisor, where the reciprocal is zero beyond 2^126."""
    if finite(b) and nonzero(b):
        magnitude = abs(number(b))
        if magnitude < NORMAL:
            return "?"
        if magnitude > Fraction(2) ** 126:
            return "nan" if a == NAN or not finite(a) else "0x00000000~0"
    return within(divided(a, b, ""), 3, flush)


def hyperbolic_bound(x: Real) -> int:
    """A relative error of 2^-10.98 in units in the last place of the result."""
    y = hyperbolic(x, "tanh")
    if not isinstance(y, Fraction) or y == 0:
        return 0
    ulp = Fraction(2) ** max(floor_log2(abs(y)) - SINGLE.mantissa_bits, SINGLE.lowest_exponent)
    return int(abs(y) / ulp * Fraction(507, 2**20)) + 1


def exponential_bound(x: Real) -> int:
    """The error bound of exp in units in the last place. The argument times log2(e) is rounded before the power of two: two
    errors of half a unit in 2^24, for the product and for the constant, times the slope ln(2). The power itself adds 2^-22.5."""
    power_of_two = min(abs(number(x)), Fraction(200)) * Fraction(3, 2) if finite(x) else ZERO
    return 4 + int(power_of_two * Fraction(7, 10) * 2) + 1


def single_modes() -> None:
    # Includes values around the smallest normal number, for results that are flushed and results that are just not.
    edge = [0x007FFFFF, 0x00800000, 0x00800001, 0x3F000000, 0x00FFFFFF, 0x7E800000, 0x7F000000]
    values = few(SINGLE) + edge + [v | SINGLE.sign for v in edge[:2]]
    one, two = sorted(set(specials(SINGLE) + values)), list(product(values, repeat=2))
    some = fewest(SINGLE) + edge[1:4]
    three = list(product(some, some, fewest(SINGLE)[:4] + [edge[0], edge[1] | SINGLE.sign]))

    def show(v: tuple[int, ...], result: str) -> list[str]:
        return [word(x, 32) for x in v] + [result]

    def reals(v: tuple[int, ...], flush: bool) -> list[Real]:
        return [flushed(decode(x, SINGLE)) if flush else decode(x, SINGLE) for x in v]

    def binary(op: str, values: list[tuple[int, ...]], flush: bool, f: Callable[..., str]) -> None:
        operands = ["%a", "%b", "%c"][: len(values[0])]
        name, _, suffix = op.partition(" ")
        types = " ".join(["f32"] * len(operands))
        text = f"{name} {', '.join(operands)} {suffix}".strip()
        block(f"{types} -> f32", f"{text} : R", [show(v, f(*reals(v, flush))) for v in values])

    singles = [(v,) for v in one]
    exact: dict[str, Callable[..., Real]] = {
        "addf": added,
        "subf": lambda a, b, m: added(a, negated(b), m),
        "mulf": multiplied,
        "divf": divided,
    }
    for mode in MODES:
        suffix = "flush_to_zero" if mode == "nearest_even" else f"rounding<{mode}> flush_to_zero"
        for op, g in exact.items():
            binary(f"{op} {suffix}", two, True, lambda a, b: encode_flushed(g(a, b, mode), mode))
        binary(f"fma {suffix}", three, True, lambda a, b, c: encode_flushed(fused(a, b, c, mode), mode))
        binary(f"sqrt {suffix}", singles, True, lambda a: encode_flushed(square_root(a), mode))
    for flush, end in [(False, ""), (True, " flush_to_zero")]:
        binary(f"divf rounding<approx>{end}", two, flush, lambda a, b: approximate_quotient(a, b, flush))
        binary(f"divf rounding<full>{end}", two, flush, lambda a, b: within(divided(a, b, ""), 3, flush))
        binary(f"sqrt rounding<approx>{end}", singles, flush, lambda a: within(square_root(a), 2, flush))
    binary("rsqrt flush_to_zero", singles, True, lambda a: within(inverse_root(a), 3, True))
    # Results at the limit, and below it.
    powers = [encoded(Fraction(n, 2), SINGLE, "nearest_even") or 0 for n in (-250, -251, -252, -253, -254, -296, -298, -300, 255, 256)]
    with_powers = singles + [(v,) for v in powers]
    binary("exp2 flush_to_zero", with_powers, True, lambda a: within(FUNCTIONS["exp2"](a), 3, True))
    binary("exp rounding<full>", with_powers, False, lambda a: within(FUNCTIONS["exp"](a), 3))
    binary("tanh rounding<full>", with_powers, False, lambda a: within(FUNCTIONS["tanh"](a), 3))
    rows = []
    for (v,) in with_powers:
        x = decode(v, SINGLE)
        rows.append(show((v,), within(FUNCTIONS["exp"](x), exponential_bound(x))))
    block("f32 -> f32", "exp %a rounding<approx> : R", rows)
    rows = [show(v, within(FUNCTIONS["tanh"](*reals(v, False)), hyperbolic_bound(*reals(v, False)))) for v in with_powers]
    block("f32 -> f32", "tanh %a rounding<approx> : R", rows)
    for op, propagate in product(["maxf", "minf"], [False, True]):
        suffix = "flush_to_zero propagate_nan" if propagate else "flush_to_zero"
        binary(f"{op} {suffix}", two, True, lambda a, b: encode(maximum(a, b, op == "maxf", propagate), SINGLE))


# Each flag asserts that the signed result fits, that the unsigned one fits, or both.
FLAGS = [("no_signed_wrap", True, False), ("no_unsigned_wrap", False, True), ("no_wrap", True, True)]


def integer_ops() -> None:
    for name, width in INTEGERS.items():
        mask = (1 << width) - 1
        one, two = integers(width), list(product(integers(width), repeat=2))

        def s(v: int) -> int:
            return signed(v, width)

        def rows(values: list[tuple[int, ...]], g: Callable[..., int | None]) -> list[list[str]]:
            out = []
            for v in values:
                result = g(*v)
                if result is not None:
                    out.append([word(x, width) for x in v] + [word(result & mask, width)])
            return out

        singles = [(v,) for v in one]
        block(f"{name} -> {name}", "absi %a : R", rows(singles, lambda a: abs(s(a))))
        block(f"{name} -> {name}", "negi %a : R", rows(singles, lambda a: -a))
        binary: dict[str, Callable[[int, int], int | None]] = {
            "addi %a, %b": lambda a, b: a + b,
            "subi %a, %b": lambda a, b: a - b,
            "muli %a, %b": lambda a, b: a * b,
            "mulhii %a, %b": lambda a, b: a * b >> width,
            "andi %a, %b": lambda a, b: a & b,
            "ori %a, %b": lambda a, b: a | b,
            "xori %a, %b": lambda a, b: a ^ b,
            "shli %a, %b": lambda a, b: a << b if b < width else 0,
            "shri %a, %b signed": lambda a, b: s(a) >> min(b, width),
            "shri %a, %b unsigned": lambda a, b: a >> min(b, width),
            "maxi %a, %b signed": lambda a, b: max(a, b, key=s),
            "maxi %a, %b unsigned": max,
            "mini %a, %b signed": lambda a, b: min(a, b, key=s),
            "mini %a, %b unsigned": min,
            "divi %a, %b unsigned": lambda a, b: a // b if b else None,
            "divi %a, %b unsigned rounding<positive_inf>": lambda a, b: -(-a // b) if b else None,
            "divi %a, %b signed": lambda a, b: quotient(s(a), s(b), "zero", width),
            "divi %a, %b signed rounding<negative_inf>": lambda a, b: quotient(s(a), s(b), "down", width),
            "divi %a, %b signed rounding<positive_inf>": lambda a, b: quotient(s(a), s(b), "up", width),
            "remi %a, %b unsigned": lambda a, b: a % b if b else None,
            # The remainder of the lowest integer by -1 is left to other tests.
            "remi %a, %b signed": lambda a, b: rest(s(a), s(b), width),
        }
        for op, g in binary.items():
            block(f"{name} {name} -> {name}", f"{op} : R", rows(two, g))
        low, high = -(1 << (width - 1)), 1 << (width - 1)
        whole: dict[str, Callable[[int, int], int]] = {
            "addi": lambda a, b: a + b,
            "subi": lambda a, b: a - b,
            "muli": lambda a, b: a * b,
        }
        for op, h in whole.items():
            for flag, is_signed, is_unsigned in FLAGS:
                # Only inputs that satisfy the assertion have a defined result.
                kept = [
                    (a, b)
                    for a, b in two
                    if (not is_signed or low <= h(s(a), s(b)) < high) and (not is_unsigned or 0 <= h(a, b) <= mask)
                ]
                block(f"{name} {name} -> {name}", f"{op} %a, %b overflow<{flag}> : R", rows(kept, h))
        for flag, is_signed, is_unsigned in FLAGS:
            kept = [
                (a, b)
                for a, b in product(sorted({*one, *(1 << i for i in range(width))}), sorted({0, 1, 2 % width, width // 2, width - 1}))
                if b < width and (not is_signed or low <= s(a) << b < high) and (not is_unsigned or a << b <= mask)
            ]
            block(f"{name} {name} -> {name}", f"shli %a, %b overflow<{flag}> : R", rows(kept, lambda a, b: a << b))
        for flag in ["no_signed_wrap", "no_wrap"]:
            kept = [v for v in singles if s(v[0]) != low]
            block(f"{name} -> {name}", f"negi %a overflow<{flag}> : R", rows(kept, lambda a: -a))
        for (predicate, holds), kind in product(PREDICATES.items(), ["signed", "unsigned"]):
            out = []
            for a, b in product(extremes(width), repeat=2):
                x, y = (s(a), s(b)) if kind == "signed" else (a, b)
                out.append([word(a, width), word(b, width), str(int(holds(x - y)))])
            block(f"{name} {name} -> i1", f"cmpi {predicate} %a, %b, {kind} : T0 -> R", out)
        out = [[str((a ^ b) & 1), word(a, width), word(b, width), word(a if (a ^ b) & 1 else b, width)] for a, b in product(extremes(width), repeat=2)]
        block(f"i1 {name} {name} -> {name}", "select %a, %b, %c : T0, R", out)


def quotient(a: int, b: int, to: str, width: int) -> int | None:
    if b == 0 or (b == -1 and a == -(1 << (width - 1))):
        return None
    exact = Fraction(a, b)
    down, up = a // b, -(-a // b)
    return {"down": down, "up": up, "zero": down if exact >= 0 else up}[to]


def rest(a: int, b: int, width: int) -> int | None:
    q = quotient(a, b, "zero", width)
    return None if q is None else a - q * b


def conversions() -> None:
    widths = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
    for (a, m), (b, n) in product(widths.items(), repeat=2):
        values = list(range(16)) if m == 4 else integers(m)
        if m < n:
            rows = [[word(v, m), word(signed(v, m) & ((1 << n) - 1), n)] for v in values]
            block(f"{a} -> {b}", "exti %a signed : T0 -> R", rows)
            block(f"{a} -> {b}", "exti %a unsigned : T0 -> R", [[word(v, m), word(v, n)] for v in values])
        if m > n:
            low = (1 << n) - 1
            rows = [[word(v, m), word(v & low, n)] for v in values]
            block(f"{a} -> {b}", "trunci %a : T0 -> R", rows)
            # Values that fit as signed and as unsigned integers.
            more = sorted({*values, *(v & ((1 << m) - 1) for v in range(-(1 << (n - 1)), 1 << n))}) if n < 8 else sorted(
                {*values, low, low >> 1, (low >> 1) + 1, *(((1 << m) - 1) ^ low | v for v in (low, (low >> 1) + 1))}
            )
            for flag, is_signed, is_unsigned in FLAGS:
                kept = [v for v in more if (not is_signed or signed(v & low, n) == signed(v, m)) and (not is_unsigned or v <= low)]
                block(f"{a} -> {b}", f"trunci %a overflow<{flag}> : T0 -> R", [[word(v, m), word(v & low, n)] for v in kept])
    for (a, m), (b, f) in product(INTEGERS.items(), FORMATS.items()):
        for kind in ["signed", "unsigned"]:
            rows = []
            for v in integers(m) + integer_ties(m, f):
                value = Fraction(signed(v, m) if kind == "signed" else v)
                rows.append([word(v, m), encode(value, f)])
            block(f"{a} -> {b}", f"itof %a {kind} : T0 -> R", rows)
    block("i32 -> f32", "itof %a signed rounding<nearest_even> : T0 -> R", [["0x01000001", "0x4b800000"], ["0xfefffffd", "0xcb800002"]])
    for a, (b, n) in product([*FORMATS, SCALE], INTEGERS.items()):
        for kind in ["signed", "unsigned"]:
            low, high = (-(1 << (n - 1)), 1 << (n - 1)) if kind == "signed" else (0, 1 << n)
            rows = []
            for v, x in reals_of(a):
                value = int(number(x)) if finite(x) else None
                fits = value is not None and low <= value < high
                if n == 1:
                    # The result tells whether the value is nonzero or not a number.
                    rows.append([word(v, width_of(a)), word(int(not finite(x) or number(x) != 0), n)])
                    continue
                rows.append([word(v, width_of(a)), word(value & ((1 << n) - 1), n) if fits and value is not None else "?"])
            block(f"{a} -> {b}", f"ftoi %a {kind} : T0 -> R", rows)
    block("f32 -> i32", "ftoi %a signed rounding<nearest_int_to_zero> : T0 -> R", [["0xbfffffff", "0xffffffff"], ["0x3fffffff", "0x00000001"]])
    for (a, f), (b, g) in product(FORMATS.items(), repeat=2):
        if a != b:
            values = specials(f) + ties(f, g)
            # The conversion of NaN to a format without NaN is undefined.
            rows = [[word(v, f.width), "?" if not g.nan and decode(v, f) == NAN else encode(decode(v, f), g)] for v in values]
            block(f"{a} -> {b}", "ftof %a : T0 -> R", rows)
    block("f32 -> f16", "ftof %a rounding<nearest_even> : T0 -> R", [["0x3f801000", "0x3c00"], ["0x3f803000", "0x3c02"]])
    for a, f in FORMATS.items():
        for mode in ["zero", "positive_inf"]:
            values = specials(f) + [b for b in (encoded(Fraction(n, 8), f, "zero") for n in range(1, 34)) if b is not None]
            if f.exponent_bits == 11:
                # Powers of two at both limits, and their neighbors.
                ends = [encoded(Fraction(2) ** e, f, "zero") or 0 for e in (-150, -128, -127, -126, 126, 127, 128)]
                values += [v + d for v in ends for d in (-1, 0, 1)]
            rows = [[word(v, f.width), encode_scale(decode(v, f), mode)] for v in dict.fromkeys(values)]
            block(f"{a} -> {SCALE}", f"ftof %a rounding<{mode}> : T0 -> R", rows)
        rows = [[word(v, 8), "?" if not f.nan and x == NAN else encode(x, f)] for v, x in reals_of(SCALE)]
        block(f"{SCALE} -> {a}", "ftof %a : T0 -> R", rows)
    classes = [["i8", "e4m3", "e5m2", "e5m3", SCALE], ["i16", "f16", "bf16"], ["i32", "f32"], ["i64", "f64"]]
    for names in classes:
        for a, b in product(names, repeat=2):
            width = INTEGERS[names[0]]
            values = integers(width) if a in INTEGERS else [v for v, _ in reals_of(a)]
            if a != b:
                # The NaN of a float keeps its bits.
                block(f"{a} -> {b}", "bitcast %a : T0 -> R", [[word(v, width)] * 2 for v in values])
    for name in ["tf32", "e4m3", "e5m2", "e5m3", SCALE]:
        width = width_of(name)
        values = [v for v, _ in reals_of(name)]
        rows = [[str(i % 2), word(v, width), word(values[-1 - i], width), word(v if i % 2 else values[-1 - i], width)] for i, v in enumerate(values)]
        block(f"i1 {name} {name} -> {name}", "select %a, %b, %c : T0, R", rows)


def width_of(name: str) -> int:
    return 8 if name == SCALE else FORMATS[name].width


def reals_of(name: str) -> list[tuple[int, Real]]:
    """Special values and their meanings."""
    if name == SCALE:
        return [(v, decode_scale(v)) for v in scales()]
    return [(v, decode(v, FORMATS[name])) for v in specials(FORMATS[name])]


def integer_ties(width: int, f: Format) -> list[int]:
    """Integers halfway between two numbers of a format, and their neighbors."""
    out = []
    for step in (f.mantissa_bits + 1, f.mantissa_bits + 3):
        # Numbers here are twice `half` apart.
        half = 1 << (step - f.mantissa_bits - 1)
        for tie in ((1 << step) + half, (1 << step) + 3 * half):
            if tie + 1 < 1 << (width - 1):
                out += [v & ((1 << width) - 1) for v in (tie - 1, tie, tie + 1, 1 - tie, -tie, -tie - 1)]
    return out


def ties(f: Format, g: Format) -> list[int]:
    """Numbers of `f` halfway between two numbers of `g`, and their neighbors."""
    if f.mantissa_bits <= g.mantissa_bits + 1:
        return []
    out = []
    half = 1 << (f.mantissa_bits - g.mantissa_bits - 1)
    for odd in (0, 2):
        for sign in f.signs:
            tie = (f.bias << f.mantissa_bits) + half * (1 + odd) | sign
            out += [tie - 1, tie, tie + 1]
    largest = decode(g.largest, g)
    lowest = Fraction(2) ** g.lowest_exponent
    for k in range(1, 16 if g.exponent_bits == 2 else 6):
        # In the subnormal range of `g`, or over the whole range of the smallest format.
        bits = encoded(lowest * k / 2, f, "zero")
        if bits is not None and decode(bits, f) == lowest * k / 2:
            out += [bits - 1, bits, bits + 1, *(bits | s for s in f.signs[1:])]
    if isinstance(largest, Fraction):
        # Rounding up would exceed the largest number of `g`.
        step = Fraction(2) ** (floor_log2(largest) - g.mantissa_bits)
        for x in (largest + step / 2, largest + step / 4):
            bits = encoded(x, f, "zero")
            out += [bits] if bits is not None and decode(bits, f) == x else []
    return out


if __name__ == "__main__":
    print("# Special values on all types; written by scripts/special_values.py. See README.md for the form.")
    floats()
    single_modes()
    integer_ops()
    conversions()
