//===- F8E5M3.cpp - Numbers of fnv8E5M3FNU --------------------------------===//
#include "cuda_tile/F8E5M3.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace cuda_tile;

static constexpr int kMantissaBits = 3, kSmallestExponent = -14;

uint8_t f8e5m3::encode(double value) {
  // The largest number plus half a step is a tie, which rounds to the even
  // mantissa.
  if (!(value <= 118784.0))
    return kNaN;
  // Below the smallest normal number, steps are as wide as just above it.
  int exponent = value > 0 ? std::ilogb(value) : kSmallestExponent;
  exponent = std::max(exponent, kSmallestExponent);
  // Between 0 and 16: a value that rounds to 16 carries into the exponent of the
  // encoding.
  double steps = std::nearbyint(std::ldexp(value, kMantissaBits - exponent));
  return static_cast<uint8_t>(steps + 8 * (exponent - kSmallestExponent));
}

double f8e5m3::decode(uint8_t bits) {
  if (bits == kNaN)
    return std::numeric_limits<double>::quiet_NaN();
  int exponent = bits >> kMantissaBits, mantissa = bits & 7;
  if (exponent == 0)
    return std::ldexp(mantissa, kSmallestExponent - kMantissaBits);
  return std::ldexp(8 + mantissa,
                    exponent - 1 + kSmallestExponent - kMantissaBits);
}

std::string f8e5m3::format(uint8_t bits) {
  if (bits == kNaN)
    return "0xFF";
  llvm::SmallString<16> text;
  // Three mantissa bits need no more digits to round-trip.
  llvm::APFloat(decode(bits))
      .toString(text, /*FormatPrecision=*/6, /*FormatMaxPadding=*/0,
                /*TruncateZero=*/false);
  return text.str().str();
}
