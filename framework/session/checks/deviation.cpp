#include <cmath>
#include <limits>

#include "framework/session/device/value_text.h"
#include "reprise/session/numerics.h"

namespace reprise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Of two values; infinite if one is not finite and the other is not the same.
double apart(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) {
    return 0;
  }
  double distance = std::abs(a - b);
  if (std::isnan(distance)) {
    distance = kInfinity;
  }
  return distance;
}

}  // namespace

Deviation deviation_of(DType dtype, std::span<const std::byte> actual,
                       std::span<const std::byte> reference, double tolerance) {
  if (actual.size() != reference.size()) {
    throw_invalid_argument("Tensors of (", actual.size(), ") and (", reference.size(),
                           ") bytes are compared; they must be as long.");
  }
  const std::size_t size = element_bytes(dtype);
  const std::size_t count = actual.size() / size;
  const auto value = [&](std::span<const std::byte> of, std::size_t i) {
    return value_of_element(dtype, of.subspan(i * size, size));
  };
  double squares = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double r = value(reference, i);
    squares += std::isfinite(r) ? r * r : 0;
    finite += std::isfinite(r) ? 1U : 0U;
  }
  const double rms = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
  Deviation deviation;
  double distances = 0;
  double product = 0;
  double actual_squares = 0;
  double reference_squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double a = value(actual, i);
    const double r = value(reference, i);
    const double distance = apart(a, r);
    const double scale = std::isfinite(r) ? std::max(std::abs(r), rms) : 1;
    const double relative = distance == 0 ? 0 : scale == 0 ? kInfinity : distance / scale;
    deviation.max_abs = std::max(deviation.max_abs, distance);
    deviation.max_rel = std::max(deviation.max_rel, relative);
    distances += distance * distance;
    if (relative > tolerance && !deviation.first_bad) {
      deviation.first_bad = i;
    }
    if (std::isfinite(a) && std::isfinite(r)) {
      product += a * r;
      actual_squares += a * a;
      reference_squares += r * r;
    }
  }
  deviation.rmse = count == 0 ? 0 : std::sqrt(distances / static_cast<double>(count));
  const double lengths = std::sqrt(actual_squares) * std::sqrt(reference_squares);
  deviation.cosine = lengths > 0 ? product / lengths : actual_squares == reference_squares ? 1 : 0;
  return deviation;
}

}  // namespace reprise
