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

/// The nearest number, of two the one with an even mantissa; NaN for what rounds
/// to more than the largest one. Not for numbers below zero.
uint8_t encode(double value);

double decode(uint8_t bits);

/// As MLIR prints floating-point numbers; NaN by its bits.
std::string format(uint8_t bits);

} // namespace cuda_tile::f8e5m3

#endif // CUDA_TILE_F8E5M3_H
