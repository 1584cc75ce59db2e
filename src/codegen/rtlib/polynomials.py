#!/usr/bin/env python3
"""Computes every polynomial and constant table of the device library and writes `c/polynomials.h`.

Each entry is a function g(u) on an interval with a weight w(u), so that |p(u) - g(u)| * w(u) is the error of the
final result in units of its own size. The exchange algorithm (Remez) gives the best polynomial with real
coefficients; then the coefficients are rounded to the target format one by one, lowest first, and the rest is fitted
again after each, which keeps the rounding of one coefficient from spoiling the fit.

Run it with mpmath installed:  python3 polynomials.py > c/polynomials.h
"""

from itertools import zip_longest

from mpmath import (atan, atanh, cos, cosh, exp, floor, frexp, inf, ldexp, log, lu_solve, matrix, mp, mpf, nint, pi,
                    sin, sinh, sqrt, tan, tanh)

mp.prec = 300


def round_to(value, bits):
    """Rounds to `bits` of precision, to nearest even (no subnormals occur among the coefficients)."""
    if value == 0:
        return mpf(0)
    mantissa, exponent = frexp(value)
    return ldexp(nint(ldexp(mantissa, bits)), exponent - bits)


def hexadecimal(value, bits):
    """The exact C spelling of a binary value."""
    if value == 0:
        return "0x0p+0"
    sign = "-" if value < 0 else ""
    mantissa, exponent = frexp(abs(value))
    digits = (bits + 2) // 4
    scaled = int(ldexp(mantissa, 1 + 4 * digits))
    text = f"{scaled - (1 << (4 * digits)):0{digits}x}".rstrip("0") or "0"
    return f"{sign}0x1.{text}p{int(exponent) - 1:+d}"


def chebyshev(low, high, count):
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * cos(pi * k / (count - 1)) for k in range(count)]


def remez(target, weight, low, high, start, degree):
    """Best polynomial u^start * (c_0 + ... + c_n u^n), n = degree - start; returns coefficients and error."""
    powers = list(range(start, degree + 1))
    points = chebyshev(low, high, len(powers) + 1)
    grid = chebyshev(low, high, 40 * (len(powers) + 2))
    values = [(u, target(u), weight(u)) for u in grid]
    coefficients, best = None, inf
    for _ in range(12):
        rows, right = [], []
        for index, u in enumerate(points):
            rows.append([u**k for k in powers] + [(-1) ** index / weight(u)])
            right.append(target(u))
        solution = lu_solve(matrix(rows), matrix(right))
        coefficients = [solution[i] for i in range(len(powers))]
        errors = []
        for u, value, scale in values:
            total = mpf(0)
            for c in reversed(coefficients):
                total = total * u + c
            errors.append((total * u**start - value) * scale)
        # One extremum for each run of equal sign.
        extrema = []
        for u, error in zip(grid, errors):
            if extrema and (error > 0) == (extrema[-1][1] > 0):
                if abs(error) > abs(extrema[-1][1]):
                    extrema[-1] = (u, error)
            else:
                extrema.append((u, error))
        while len(extrema) > len(points):
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        worst = max(abs(e) for e in errors)
        if len(extrema) < len(points):
            break
        points = [u for u, _ in extrema]
        if abs(worst - best) < worst / 1000:
            break
        best = worst
    return coefficients, max(abs(e) for e in errors)


def lawson(target, weight, low, high, start, degree):
    """The same for an interval around zero, where odd powers vanish inside and the exchange has no unique solution:
    least squares whose weights are multiplied by the error until the largest errors are level."""
    powers = list(range(start, degree + 1))
    grid = [u for u in chebyshev(low, high, 12 * (len(powers) + 2)) if u != 0]
    share = [mpf(1)] * len(grid)
    best, best_error = None, inf
    for _ in range(25):
        rows = matrix(len(powers), len(powers))
        right = matrix(len(powers), 1)
        for u, s in zip(grid, share):
            scale = s * weight(u) ** 2
            value = target(u)
            for i, a in enumerate(powers):
                right[i] += scale * value * u**a
                for j, b in enumerate(powers):
                    rows[i, j] += scale * u ** (a + b)
        solution = lu_solve(rows, right)
        errors = [abs((sum(solution[i] * u**k for i, k in enumerate(powers)) - target(u)) * weight(u)) for u in grid]
        if max(errors) < best_error:
            best, best_error = [solution[i] for i in range(len(powers))], max(errors)
        share = [s * e for s, e in zip(share, errors)]
        total = sum(share)
        share = [s / total for s in share]
    return best, best_error


def fit(target, weight, low, high, degree, bits):
    """Coefficients rounded to `bits`, constant term first, and the largest weighted error that remains."""
    fixed = []
    if low == 0:
        low = high * mpf("1e-4")

    def head(u):
        return sum((c * u**k for k, c in enumerate(fixed)), mpf(0))

    for start in range(degree + 1):
        solve = lawson if low < 0 else remez
        rest, _ = solve(lambda u: target(u) - head(u), weight, low, high, start, degree)
        fixed.append(round_to(rest[0], bits))
    error = max(abs((head(u) - target(u)) * weight(u)) for u in chebyshev(low, high, 2000))
    return fixed, error


F32, F64 = 24, 53
QUARTER = (pi / 4 + mpf("1e-4")) ** 2
HALF_LN2 = log(mpf(2)) / 2 * mpf("1.0005")
NEAR = mpf("1e-40")


def even(function):
    """g(u) with u = x^2, from an expression in x and u."""
    return lambda u: function(sqrt(max(u, NEAR)), max(u, NEAR))


def entries():
    # name, comment, g, weight, low, high, degree, precision
    near = lambda u: u if abs(u) > NEAR else NEAR
    yield ("exp_f32", "e^r = 1 + r + r^2 p(r)", lambda r: (exp(near(r)) - 1 - near(r)) / near(r)**2,
           lambda r: r * r, -HALF_LN2, HALF_LN2, 4, F32)
    yield ("exp_f64", "e^r = 1 + r + r^2 p(r)", lambda r: (exp(near(r)) - 1 - near(r)) / near(r)**2,
           lambda r: r * r, -HALF_LN2, HALF_LN2, 9, F64)
    yield ("tanh_f32", "tanh x = x + x u p(u), u = x^2, |x| <= 1",
           even(lambda x, u: (tanh(x) - x) / (x * u)), lambda u: u * sqrt(near(u)) / tanh(sqrt(near(u))), mpf(0), mpf(1), 6, F32)
    yield ("tanh_f64", "tanh x = x + x u p(u), u = x^2, |x| <= 0.55",
           even(lambda x, u: (tanh(x) - x) / (x * u)), lambda u: u, mpf(0), mpf("0.3026"), 10, F64)
    yield ("sinh_f32", "sinh x = x + x u p(u), u = x^2, |x| <= 1",
           even(lambda x, u: (sinh(x) - x) / (x * u)), lambda u: u, mpf(0), mpf(1), 3, F32)
    yield ("sinh_f64", "sinh x = x + x u p(u), u = x^2, |x| <= 1",
           even(lambda x, u: (sinh(x) - x) / (x * u)), lambda u: u, mpf(0), mpf(1), 7, F64)
    yield ("log_f32", "log(1 + f) = f + f^2 p(f), -1/3 <= f <= 1/3",
           lambda f: (log(1 + near(f)) - near(f)) / near(f)**2, lambda f: abs(near(f)**2 / log(1 + near(f))),
           mpf(-1) / 3, mpf(1) / 3, 8, F32)
    yield ("log_f64", "log(1 + f) = f - f^2/2 + s (f^2/2 + z p(z)), s = f/(2 + f), z = s^2",
           even(lambda s, z: (atanh(s) * 2 / s - 2) / z), lambda z: z,
           mpf(0), mpf("0.02945"), 7, F64)
    yield ("atanh_f32", "atanh s = s + s z (1/3 + z p(z)), z = s^2",
           even(lambda s, z: (atanh(s) / s - 1 - z / 3) / z**2), lambda z: z * z, mpf(0), mpf("0.02945"), 2, F32)
    yield ("atanh_f64", "atanh s = s + s z (1/3 + z p(z)), z = s^2",
           even(lambda s, z: (atanh(s) / s - 1 - z / 3) / z**2), lambda z: z * z, mpf(0), mpf("0.02945"), 6, F64)
    yield ("sin_f32", "sin r = r + r u p(u), u = r^2",
           even(lambda x, u: (sin(x) - x) / (x * u)), lambda u: u, mpf(0), QUARTER, 2, F32)
    yield ("cos_f32", "cos r = 1 + u p(u), u = r^2",
           even(lambda x, u: (cos(x) - 1) / u), lambda u: u, mpf(0), QUARTER, 3, F32)
    yield ("tan_f32", "tan r = r + r u p(u), u = r^2",
           even(lambda x, u: (tan(x) - x) / (x * u)), lambda u: u, mpf(0), QUARTER, 6, F32)
    yield ("sin_f64", "sin r = r + r u p(u), u = r^2",
           even(lambda x, u: (sin(x) - x) / (x * u)), lambda u: u, mpf(0), QUARTER, 5, F64)
    yield ("cos_f64", "cos r = 1 - u/2 + u^2 p(u), u = r^2",
           even(lambda x, u: (cos(x) - 1 + u / 2) / u**2), lambda u: u * u, mpf(0), QUARTER, 5, F64)
    yield ("atan_f32", "atan t = t + t u p(u), u = t^2, |t| <= 1",
           even(lambda x, u: (atan(x) - x) / (x * u)), lambda u: u * sqrt(near(u)) / atan(sqrt(near(u))), mpf(0), mpf(1), 8, F32)
    yield ("atan_f64", "atan t = t + t u p(u), u = t^2, |t| <= 1",
           even(lambda x, u: (atan(x) - x) / (x * u)), lambda u: u * sqrt(near(u)) / atan(sqrt(near(u))), mpf(0), mpf(1), 20, F64)


def constants():
    ln2, two_over_pi = log(mpf(2)), 2 / pi
    def split(name, value, bits, parts, comment, toward_zero=False):
        rest = value
        for index in range(parts):
            width = bits[index] if isinstance(bits, list) else bits
            part = round_to(rest, width)
            if toward_zero and abs(part) > abs(rest):
                part -= ldexp(mpf(1), frexp(part)[1] - width)
            rest -= part
            yield name + ("_HI", "_MID", "_LO")[index if parts == 3 else 2 * index], part, comment if index == 0 else None
    for suffix, bits in (("F32", 24), ("F64", 53)):
        yield from split(f"LOG2E_{suffix}", 1 / ln2, bits, 2, "log2(e) in two parts")
        yield from split(f"LN2_{suffix}", ln2, bits, 2, "log(2) in two full parts")
        yield from split(f"HALF_PI_{suffix}", pi / 2, bits, 3, "pi/2 in three parts, each rounded towards zero", True)
        yield from split(f"PI_{suffix}", pi, bits, 2, "pi in two parts")
        yield from split(f"THIRD_{suffix}", mpf(1) / 3, bits, 2, "1/3 in two parts")
        yield f"TWO_OVER_PI_{suffix}", round_to(two_over_pi, bits), "2/pi"
    # Products with exponents (at most 11 bits) must be exact.
    yield from split("LN2_SHORT_F64", ln2, [32, 53], 2, "log(2), high part with 21 trailing zeros so that k * hi is exact")
    yield from split("LN2_SHORT_F32", ln2, [15, 24], 2, "log(2), high part with 9 trailing zeros so that k * hi is exact")


def words(bits, count):
    scaled = int(floor(ldexp(2 / pi, bits * count)))
    return [(scaled >> (bits * (count - 1 - i))) & ((1 << bits) - 1) for i in range(count)]


# Polynomials of which a function needs one or the other: the coefficients are selected.
PAIRS = {"sin_or_cos_f32": ("sin_f32", "cos_f32")}
SELECTED = {name for pair in PAIRS.values() for name in pair}


def constant(value, bits):
    return hexadecimal(value, bits) + ("f" if bits == F32 else "")


def define(name, comment, parameters, coefficients, bits):
    """Prints a polynomial by Horner's rule; the coefficients are expressions, constant term first."""
    kind, call = ("float", "tl_fmaf") if bits == F32 else ("double", "tl_fma")
    print(f"// {comment}")
    print(f"TL_INLINE {kind} tl_poly_{name}({kind} u{parameters}) {{")
    print(f"  {kind} p = {coefficients[-1]};")
    for c in reversed(coefficients[:-1]):
        print(f"  p = {call}(p, u, {c});")
    print("  return p;\n}\n")


def main():
    mp.prec = 1600
    table32, table64 = [0] + words(32, 7), [0] + words(64, 19)
    mp.prec = 300
    print("// Polynomials, constants and tables of the device library. Written by polynomials.py; edit that instead.")
    print("#pragma once\n")
    for name, value, comment in constants():
        if comment:
            print(f"// {comment}.")
        suffix, bits = ("f", 24) if "F32" in name else ("", 53)
        print(f"#define {name} {hexadecimal(value, bits)}{suffix}")
    print()
    fitted = {}
    for name, comment, target, weight, low, high, degree, bits in entries():
        coefficients, error = fit(target, weight, low, high, degree, bits)
        fitted[name] = coefficients, bits
        comment = f"{comment}; largest error 2^{float(log(error, 2)):.1f} of the result"
        if name in SELECTED:
            print(f"// {comment}.")
        else:
            define(name, f"{comment}.", "", [constant(c, bits) for c in coefficients], bits)
        for pair, (first, second) in PAIRS.items():
            if name == second:
                # The shorter one starts with coefficients of zero, which change nothing.
                (odd, bits), (other, _) = fitted[second], fitted[first]
                rows = zip_longest(odd, other, fillvalue=mpf(0))
                choices = [f"second ? {constant(a, bits)} : {constant(b, bits)}" for a, b in rows]
                define(pair, "The second of these two polynomials or the first one.", ", int second", choices, bits)
    print("// A zero word, then the fraction bits of 2/pi, most significant word first.")
    print("TL_TABLE unsigned int tl_two_over_pi_words32[8] = {" + ", ".join(f"0x{w:08x}u" for w in table32) + "};")
    rows = [", ".join(f"0x{w:016x}ull" for w in table64[i:i + 4]) for i in range(0, 20, 4)]
    print("TL_TABLE unsigned long long tl_two_over_pi_words64[20] = {\n    " + ",\n    ".join(rows) + "};")


if __name__ == "__main__":
    main()
