//===- F8E5M3.h - Numbers of fnv8E5M3FNU ------------------------*- C++ -*-===//
//
// Five bits of exponent with bias 15, three of mantissa, no sign, no infinity.
//
//   0x00         zero
//   0x01..0x07   subnormal: mantissa * 2^-17
//   0x08..0xFE   (1 + mantissa / 8) * 2^(exponent - 15), at most 114688
//   0xFF         NaN
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_F8E5M3_H
#define CUDA_TILE_F8E5M3_H

#include <cstdint>
#include <string>

namespace cuda_tile::f8e5m3 {

inline constexpr uint8_t kNaN = 0xFF;

/// Returns the nearest number, with ties to even, or NaN if the value rounds to
/// more than the largest number. The value must not be negative.
uint8_t encode(double value);

double decode(uint8_t bits);

/// Formats the number like MLIR's floating-point numbers; NaN as its bits.
std::string format(uint8_t bits);

} // namespace cuda_tile::f8e5m3

#endif // CUDA_TILE_F8E5M3_H
