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
  // Half a step more than the largest number is a tie, and its mantissa is even.
  if (!(value <= 118784.0))
    return kNaN;
  // Below the smallest normal number steps are as wide as above it.
  int exponent = value > 0 ? std::ilogb(value) : kSmallestExponent;
  exponent = std::max(exponent, kSmallestExponent);
  // Between 0 and 16: what rounds to 16 carries into the exponent of the code.
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
  // A mantissa of three bits needs no more digits to be read back as itself.
  llvm::APFloat(decode(bits))
      .toString(text, /*FormatPrecision=*/6, /*FormatMaxPadding=*/0,
                /*TruncateZero=*/false);
  return text.str().str();
}
