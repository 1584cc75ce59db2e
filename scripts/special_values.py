#!/usr/bin/env python3
"""Writes tests/semantics/special.txt: what elementwise ops make of special values, on every type they take.

Expectations are computed here, from the definition of each op: on integers as such, on floats in exact rational
arithmetic that is rounded once, and for mathematical functions with mpmath in many digits. Neither the compiler nor
the reference interpreter has a part in them.

usage: python3 scripts/special_values.py > tests/semantics/special.txt      (needs mpmath)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Callable

import mpmath

# The largest f64 has 1024 bits before the point, and its sine takes all of them.
mpmath.mp.prec = 1400


@dataclass(frozen=True)
class Format:
    exponent_bits: int
    mantissa_bits: int
    infinity: bool = True

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def largest(self) -> int:
        """Bits of the largest number: below infinity, or below the only NaN."""
        top = (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        return top - (1 << self.mantissa_bits) if self.infinity else top - 1

    @property
    def lowest_exponent(self) -> int:
        """Of the last bit of subnormal numbers."""
        return 1 - self.bias - self.mantissa_bits


FORMATS = {
    "f16": Format(5, 10),
    "bf16": Format(8, 7),
    "f32": Format(8, 23),
    "f64": Format(11, 52),
    "tf32": Format(8, 10),
    "e4m3": Format(4, 3, infinity=False),
    "e5m2": Format(5, 2),
}
BASE = ["f16", "bf16", "f32", "f64"]
INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

# A float is a fraction, or one of these; zeros have signs.
NAN, INF, NINF, NZERO = "nan", "inf", "-inf", "-0"
Real = Fraction | str
ZERO = Fraction(0)


def decode(bits: int, f: Format) -> Real:
    negative = bool(bits & f.sign)
    bits &= f.sign - 1
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
    """The word of the table: bits, or `nan`."""
    bits = encoded(x, f, mode)
    return "nan" if bits is None else f"0x{bits:0{(f.width + 3) // 4}x}"


def encoded(x: Real, f: Format, mode: str) -> int | None:
    if x == NAN:
        return None
    sign = f.sign if is_negative(x) else 0
    if x in (INF, NINF):
        return f.largest + 1 | sign if f.infinity else None
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
        return f.largest + 1 | sign if f.infinity else None
    exponent = floor_log2(value) if value else 0
    if value < Fraction(2) ** (1 - f.bias):
        return int(value / Fraction(2) ** f.lowest_exponent) | sign
    mantissa = int(value / Fraction(2) ** (exponent - f.mantissa_bits)) - (1 << f.mantissa_bits)
    return (exponent + f.bias << f.mantissa_bits) | mantissa | sign


# === values ==================================================================


def specials(f: Format) -> list[int]:
    one = f.bias << f.mantissa_bits
    positive = [0, 1, (1 << f.mantissa_bits) - 1, 1 << f.mantissa_bits, f.largest, one, one + 1]
    if f.infinity:
        positive.append(f.largest + 1)
        nan = f.largest + 1 | 1 << (f.mantissa_bits - 1)
    else:
        nan = f.largest + 1
    # 0.5, 2.5 and 3.
    more = [encoded(Fraction(n, 2), f, "nearest_even") or 0 for n in (1, 5, 6)]
    return [b | s for b in positive + more for s in (0, f.sign)] + [nan]


def few(f: Format) -> list[int]:
    """For all pairs."""
    one = f.bias << f.mantissa_bits
    positive = [0, 1, f.largest, one, one + 3 + (1 << f.mantissa_bits)]
    positive += [f.largest + 1] if f.infinity else []
    nan = f.largest + (1 | 1 << (f.mantissa_bits - 1))
    return [b | s for b in positive for s in (0, f.sign)] + [nan]


def fewest(f: Format) -> list[int]:
    """For all triples."""
    nan, one = f.largest + (1 | 1 << (f.mantissa_bits - 1)), f.bias << f.mantissa_bits
    return [nan, 0, f.sign, 1, f.largest | f.sign, one, f.largest + 1, f.largest + 1 | f.sign]


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
    """A key to sort by: -0 before 0."""
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


# What is beyond all formats, for which nobody needs more digits than that.
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
    """The arc tangent of x/y."""
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
        for mode in ["nearest_even", "zero", "negative_inf", "positive_inf"]:
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
            if mode != "zero":
                rows = [show(v, encode(fused(*reals(v), mode), f, mode)) for v in three]
                block(f"{name} {name} {name} -> {name}", f"fma %a, %b, %c{suffix} : R", rows)
            rows = [show([v], root(decode(v, f), f, mode)) for v in one]
            block(f"{name} -> {name}", f"sqrt %a{suffix} : R", rows)
        pairs = f"{name} {name} -> {name}"
        block(pairs, "remf %a, %b : R", [show(v, encode(remainder(*reals(v), ""), f)) for v in two])
        block(pairs, "pow %a, %b : R", [show(v, approximate(power(*reals(v)))) for v in two])
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
    if not isinstance(x, Fraction) or x <= 0:
        return encode(NAN if is_negative(x) and x != NZERO else x, f)
    # Far more digits than any tie needs, and a bit that says whether there are others.
    scale = Fraction(4) ** 1400
    scaled = x * scale
    n = scaled.numerator // scaled.denominator
    low = int(mpmath.libmp.isqrt(n))
    exact = Fraction(low) if low * low == scaled else Fraction(2 * low + 1, 2)
    return encode(exact / Fraction(2) ** 1400, f, mode)


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
            # What the lowest integer leaves by -1 is left to other tests.
            "remi %a, %b signed": lambda a, b: rest(s(a), s(b), width),
        }
        for op, g in binary.items():
            block(f"{name} {name} -> {name}", f"{op} : R", rows(two, g))
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
    for (a, m), (b, n) in product(INTEGERS.items(), repeat=2):
        values = integers(m)
        if m < n:
            rows = [[word(v, m), word(signed(v, m) & ((1 << n) - 1), n)] for v in values]
            block(f"{a} -> {b}", "exti %a signed : T0 -> R", rows)
            block(f"{a} -> {b}", "exti %a unsigned : T0 -> R", [[word(v, m), word(v, n)] for v in values])
        if m > n:
            rows = [[word(v, m), word(v & ((1 << n) - 1), n)] for v in values]
            block(f"{a} -> {b}", "trunci %a : T0 -> R", rows)
    for (a, m), (b, f) in product(INTEGERS.items(), FORMATS.items()):
        for kind in ["signed", "unsigned"]:
            rows = []
            for v in integers(m):
                value = Fraction(signed(v, m) if kind == "signed" else v)
                rows.append([word(v, m), encode(value, f)])
            block(f"{a} -> {b}", f"itof %a {kind} : T0 -> R", rows)
    for (a, f), (b, n) in product(FORMATS.items(), INTEGERS.items()):
        for kind in ["signed", "unsigned"]:
            low, high = (-(1 << (n - 1)), 1 << (n - 1)) if kind == "signed" else (0, 1 << n)
            rows = []
            for v in specials(f):
                x = decode(v, f)
                value = int(number(x)) if finite(x) else None
                fits = value is not None and low <= value < high
                if n == 1:
                    # Whether it is a number other than zero, or none.
                    rows.append([word(v, f.width), word(int(not finite(x) or number(x) != 0), n)])
                    continue
                rows.append([word(v, f.width), word(value & ((1 << n) - 1), n) if fits and value is not None else "?"])
            block(f"{a} -> {b}", f"ftoi %a {kind} : T0 -> R", rows)
    for (a, f), (b, g) in product(FORMATS.items(), repeat=2):
        if a != b:
            values = specials(f) + ties(f, g)
            block(f"{a} -> {b}", "ftof %a : T0 -> R", [[word(v, f.width), encode(decode(v, f), g)] for v in values])
    classes = [["i8", "e4m3", "e5m2"], ["i16", "f16", "bf16"], ["i32", "f32"], ["i64", "f64"]]
    for names in classes:
        for a, b in product(names, repeat=2):
            width = INTEGERS[names[0]]
            values = specials(FORMATS[a]) if a in FORMATS else integers(width)
            if a != b:
                # A float's NaN keeps its bits.
                block(f"{a} -> {b}", "bitcast %a : T0 -> R", [[word(v, width)] * 2 for v in values])


def ties(f: Format, g: Format) -> list[int]:
    """Halfway between two numbers of `g`, and next to that on both sides, where `f` has such numbers."""
    if f.mantissa_bits <= g.mantissa_bits + 1:
        return []
    out = []
    half = 1 << (f.mantissa_bits - g.mantissa_bits - 1)
    for odd in (0, 2):
        for sign in (0, f.sign):
            tie = (f.bias << f.mantissa_bits) + half * (1 + odd) | sign
            out += [tie - 1, tie, tie + 1]
    largest = decode(g.largest, g)
    if isinstance(largest, Fraction):
        # Where rounding up would leave the numbers of `g`.
        step = Fraction(2) ** (floor_log2(largest) - g.mantissa_bits)
        for x in (largest + step / 2, largest + step / 4):
            bits = encoded(x, f, "zero")
            out += [bits] if bits is not None and decode(bits, f) == x else []
    return out


if __name__ == "__main__":
    print("# Special values on all types; written by scripts/special_values.py. See README.md for the form.")
    floats()
    integer_ops()
    conversions()
