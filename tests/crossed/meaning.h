// What each op means, in double precision.
#pragma once
#include <random>

#include "tests/crossed/array.h"

namespace reprise::crossed {

/// The fields of the state while a pass runs.
struct State {
  int rows = 1, number = 0, position = 0, token = 3, done = 0;
  int length = 0, last = 0;  // derived at the head of every run
  double factor = 0.5;
};

/// Disturbs results as a device's rounding might. How far outputs move says how far apart two
/// correct devices may be.
class Noise {
 public:
  explicit Noise(std::uint64_t seed = 0, bool on = false) : rng_(seed), on_(on) {}
  /// Between -1 and 1, or 0 if there is none.
  double next() { return on_ ? static_cast<double>(rng_() >> 11U) * 0x1p-52 - 1 : 0.0; }

 private:
  std::mt19937_64 rng_;
  bool on_;
};

/// Numbers of which the largest were chosen: a device that rounds otherwise may choose others.
struct Choice {
  std::vector<double> numbers;
  std::size_t chosen = 1;
};

/// What one op sees.
struct Call {
  const Op& op;
  const std::vector<Array>& values;  // leaves first
  State& state;
  bool stops = false;        // whether an end token sets `done`
  bool rounds_rows = false;  // Precision::fast: rows may be rounded to 8 bits
  Noise& noise;
  std::vector<Choice>& choices;
};

inline constexpr int kEndToken = 5;

/// Runs an op; returns its result, without memory if it has none.
Array run_op(const Call& call);

}  // namespace reprise::crossed
