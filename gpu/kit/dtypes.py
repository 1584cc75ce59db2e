"""Element types: their storage in NumPy, the values of their bits, and poison for memory.

NumPy lacks bf16 and 8-bit floats; they are stored as unsigned integers of their size.
"""
from __future__ import annotations

import numpy as np

STORAGE: dict[str, type] = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
    "e4m3": np.uint8, "e5m2": np.uint8, "e8m0": np.uint8,
}

FLOATS = ("f16", "bf16", "f32", "f64", "e4m3", "e5m2", "e8m0")


def size(dtype: str) -> int:
    return np.dtype(STORAGE[dtype]).itemsize


def _small_float(exponent: int, mantissa: int) -> np.ndarray:
    """The values of all 256 bit patterns of an 8-bit float."""
    bits = np.arange(256)
    bias = (1 << (exponent - 1)) - 1
    e, m = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
    fraction = m / (1 << mantissa)
    values = np.where(e == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (e - bias))
    if mantissa == 2:
        values = np.where(e == (1 << exponent) - 1, np.where(m == 0, np.inf, np.nan), values)
    else:
        # This format has one NaN pattern and no infinities.
        values = np.where(bits & 127 == 127, np.nan, values)
    return np.where(bits >> 7 == 1, -values, values)


E4M3, E5M2 = _small_float(4, 3), _small_float(5, 2)


def decode(dtype: str, storage: np.ndarray) -> np.ndarray:
    """The numbers: float64, or the integers themselves."""
    if dtype == "bf16":
        return (storage.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "e4m3":
        return E4M3[storage]
    if dtype == "e5m2":
        return E5M2[storage]
    if dtype == "e8m0":
        return np.where(storage == 255, np.nan, 2.0 ** (storage.astype(np.float64) - 127))
    return storage.astype(np.float64) if dtype in FLOATS else storage


def encode(dtype: str, values: np.ndarray) -> np.ndarray:
    """Converts finite numbers in range to storage, rounding to nearest even. For bf16 and NumPy's own types."""
    if dtype == "bf16":
        bits = np.asarray(values, np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    if dtype in ("e4m3", "e5m2", "e8m0"):
        raise ValueError(f"no conversion to {dtype}")
    return np.asarray(values).astype(STORAGE[dtype])


def scalar(dtype: str, value: int | float | str) -> bytes:
    """The bytes of a scalar: a number, or a string with a number or with its bits after `0x`."""
    if isinstance(value, str) and value.startswith("0x"):
        return int(value, 16).to_bytes(size(dtype), "little")
    if dtype in FLOATS:
        return encode(dtype, np.array(float(value))).tobytes()
    return (int(value) % (1 << 8 * size(dtype))).to_bytes(size(dtype), "little")


def poison_byte(dtype: str) -> int:
    """A byte that makes every float a NaN, and every integer an unlikely number."""
    return 0xFF if dtype in FLOATS else 0xA5


def poisoned(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    raw = np.full(int(np.prod(shape, dtype=np.int64)) * size(dtype), poison_byte(dtype), np.uint8)
    return raw.view(STORAGE[dtype]).reshape(shape)
