#include "tests/crossed/data.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "tests/crossed/rounding.h"

namespace reprise::crossed {
namespace {

bool is_of_a_round(Leaf leaf) {
  return leaf <= Leaf::mask || leaf == Leaf::gains || leaf == Leaf::picks;
}

double rounded(Kind kind, double value) {
  return kind == Kind::f16 ? rounded_to_half(value)
                           : static_cast<double>(static_cast<float>(value));
}

std::vector<double> blocks(const std::vector<double>& values) {
  std::vector<double> rounded;
  for (std::size_t at = 0; at < values.size(); at += 32) {
    const Block block = block_of(std::span(values).subspan(at, 32));
    for (const std::int8_t integer : block.integers) {
      rounded.push_back(block.scale * integer);
    }
  }
  return rounded;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* const raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

template <class T>
T element(const std::vector<std::byte>& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

Array given_data(Leaf leaf, const Program& program, const Round& round) {
  Program other = program;
  other.seed = round.seed + 7;
  // The memory of feeds begins with zeros; given, it is a row of anything.
  const Array data = data_of(leaf == Leaf::memory ? Leaf::norm : leaf, other, round);
  return {data.kind, leaf == Leaf::memory ? std::vector<std::int64_t>{1, kColumns} : data.dims,
          data.flat()};
}

Array data_of(Leaf leaf, const Program& program, const Round& round) {
  const Type type = type_of(leaf, program.setup);
  std::vector<std::int64_t> dims(type.dims.begin(),
                                 type.dims.begin() + static_cast<std::ptrdiff_t>(type.rank));
  if (type.extent) {
    dims[0] = round.rows;
  }
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    count *= dim;
  }
  const bool versions = leaf >= Leaf::norm && leaf <= Leaf::embedding_half;
  const std::uint64_t version = versions ? static_cast<std::uint64_t>(round.weights) : 0;
  const std::uint64_t seed = is_of_a_round(leaf) ? round.seed : program.seed + 1000 * version;
  std::mt19937_64 rng(seed * 31 + static_cast<std::uint64_t>(id_of(leaf)));
  std::vector<double> values;
  if (type.kind == Kind::i32) {
    std::vector<double> rows(kTable);
    std::iota(rows.begin(), rows.end(), 0.0);
    std::ranges::shuffle(rows, rng);
    rows.resize(static_cast<std::size_t>(count));
    return {type.kind, dims, rows};
  }
  const double reach = leaf >= Leaf::w && leaf <= Leaf::w_blocks ? 0.3 : 1.0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double uniform = static_cast<double>(rng() >> 11U) * 0x1p-53;
    double value = reach * (2 * uniform - 1);
    if (leaf == Leaf::norm) {
      value = 0.5 + uniform;
    } else if (leaf == Leaf::memory) {
      value = 0;
    } else if (leaf == Leaf::mask && uniform < 0.2) {
      values.push_back(-INFINITY);
      continue;
    } else if (leaf == Leaf::experts) {
      value *= 0.3;
    }
    values.push_back(rounded(type.kind, value));
  }
  return {type.kind, dims, type.kind == Kind::q8_0 ? blocks(values) : values};
}

std::vector<std::byte> bytes_of(Kind kind, const std::vector<double>& values) {
  std::vector<std::byte> bytes;
  if (kind == Kind::q8_0) {
    for (std::size_t at = 0; at < values.size(); at += 32) {
      const Block block = block_of(std::span(values).subspan(at, 32));
      append(bytes, half_bits(block.scale));
      for (std::size_t i = 0; i < 32; ++i) {
        const double integer = block.scale == 0 ? 0.0 : values[at + i] / block.scale;
        append(bytes, static_cast<std::int8_t>(std::round(integer)));
      }
    }
    return bytes;
  }
  for (const double value : values) {
    switch (kind) {
      case Kind::f16:
        append(bytes, half_bits(value));
        break;
      case Kind::i32:
        append(bytes, static_cast<std::int32_t>(value));
        break;
      default:
        append(bytes, static_cast<float>(value));
    }
  }
  return bytes;
}

std::vector<double> values_of(Kind kind, const std::vector<std::byte>& bytes) {
  std::vector<double> values;
  switch (kind) {
    case Kind::f32:
      for (std::size_t at = 0; at < bytes.size(); at += 4) {
        values.push_back(static_cast<double>(element<float>(bytes, at)));
      }
      break;
    case Kind::i32:
      for (std::size_t at = 0; at < bytes.size(); at += 4) {
        values.push_back(element<std::int32_t>(bytes, at));
      }
      break;
    case Kind::f16:
      for (std::size_t at = 0; at < bytes.size(); at += 2) {
        values.push_back(half_value(element<std::uint16_t>(bytes, at)));
      }
      break;
    default:
      for (std::size_t at = 0; at + 34 <= bytes.size(); at += 34) {
        const double scale = half_value(element<std::uint16_t>(bytes, at));
        for (std::size_t i = 0; i < 32; ++i) {
          values.push_back(scale * element<std::int8_t>(bytes, at + 2 + i));
        }
      }
  }
  return values;
}

}  // namespace reprise::crossed
