// Moves the tiles of a box: runs of neighbours, transposed blocks in registers, single units.
#include <hwy/cache_control.h>

#include "backends/cpu/box.h"
#include "backends/cpu/kernels/simd-inl.h"

#if defined(REPRISE_BOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef REPRISE_BOX_INL_H
#undef REPRISE_BOX_INL_H
#else
#define REPRISE_BOX_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {

/// Short runs in overlapping vectors: a call of memcpy would take longer than they do.
HWY_INLINE void move_run(const std::byte* from, std::byte* to, std::size_t bytes) {
  constexpr std::size_t kShort = 256;
  const hn::FixedTag<std::uint8_t, 16> d;
  if (bytes < 16 || bytes > kShort) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto* source = reinterpret_cast<const std::uint8_t*>(from);
  auto* target = reinterpret_cast<std::uint8_t*>(to);
  for (std::size_t i = 0; i + 16 <= bytes; i += 16) {
    hn::StoreU(hn::LoadU(d, source + i), d, target + i);
  }
  hn::StoreU(hn::LoadU(d, source + bytes - 16), d, target + bytes - 16);
}

/// One unit of type T; neither side needs to be aligned.
template <class T>
HWY_INLINE void move_unit(const std::byte* from, std::byte* to) {
  std::memcpy(to, from, sizeof(T));
}

/// A square of units as wide as a vector of 16 bytes, transposed by interleaving its halves.
template <class T>
HWY_INLINE void move_square(const std::byte* from, std::int64_t from_column, std::byte* to,
                            std::int64_t to_row) {
  constexpr std::size_t kSide = 16 / sizeof(T);
  const hn::FixedTag<T, kSide> d;
  hn::Vec<decltype(d)> v[kSide], w[kSide];
  for (std::size_t i = 0; i < kSide; ++i) {
    v[i] =
        hn::LoadU(d, reinterpret_cast<const T*>(from + static_cast<std::int64_t>(i) * from_column));
  }
#pragma GCC unroll 3
  for (std::size_t round = 1; round < kSide; round *= 2) {
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      w[2 * i] = hn::InterleaveLower(d, v[i], v[i + kSide / 2]);
      w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kSide / 2]);
    }
    std::copy(std::begin(w), std::end(w), std::begin(v));
  }
  for (std::size_t i = 0; i < kSide; ++i) {
    hn::StoreU(v[i], d, reinterpret_cast<T*>(to + static_cast<std::int64_t>(i) * to_row));
  }
}

/// Units of a line of the cache.
template <class T>
constexpr std::int64_t kLine = Box::kLineBytes / sizeof(T);

/// A part of a line. Two ways in one function would be joined: into stores that do not stream.
template <bool kStreams, class D>
HWY_INLINE void store(hn::Vec<D> v, D d, hn::TFromD<D>* to) {
  if constexpr (kStreams) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// 16 by 16 units of 4 bytes. Loads put pieces of four columns together, so that blocks of 16 bytes
/// are where they belong before any is transposed.
template <bool kStreams>
HWY_INLINE void move_block_of_words(const std::byte* from, std::int64_t from_column, std::byte* to,
                                    std::int64_t to_row) {
  const hn::ScalableTag<std::uint32_t> d;
  using V = hn::Vec<decltype(d)>;
  V v[4][4];  // by quarter of a line; of columns i, i + 4, i + 8, i + 12
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < 4; ++i) {
#pragma GCC unroll 4
    for (std::int64_t q = 0; q < 4; ++q) {
      const auto piece = [&](std::int64_t column) REPRISE_INLINED {
        return _mm_loadu_si128(
            reinterpret_cast<const __m128i*>(from + column * from_column + q * 16));
      };
      __m512i whole = _mm512_castsi128_si512(piece(i));
      whole = _mm512_inserti32x4(whole, piece(i + 4), 1);
      whole = _mm512_inserti32x4(whole, piece(i + 8), 2);
      v[q][i] = V{_mm512_inserti32x4(whole, piece(i + 12), 3)};
    }
  }
#pragma GCC unroll 4
  for (std::int64_t q = 0; q < 4; ++q) {
    transpose_blocks(d, v[q]);
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < 4; ++j) {
      store<kStreams>(v[q][j], d, reinterpret_cast<std::uint32_t*>(to + (4 * q + j) * to_row));
    }
  }
}
#endif

/// A block of whole lines on both sides, each of which is read or written once, and at once: where
/// rows are a power of two apart, few of their lines are in the cache at a time.
template <class T, bool kStreams>
HWY_INLINE void move_block(const std::byte* from, std::int64_t from_column, std::byte* to,
                           std::int64_t to_row) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(T) == 4) {
    move_block_of_words<kStreams>(from, from_column, to, to_row);
    return;
  }
#endif
  constexpr std::int64_t kSide = 16 / sizeof(T);
  alignas(64) T block[kLine<T>][kLine<T>];
  for (std::int64_t c = 0; c < kLine<T>; c += kSide) {
    for (std::int64_t r = 0; r < kLine<T>; r += kSide) {
      move_square<T>(from + c * from_column + r * std::int64_t{sizeof(T)}, from_column,
                     reinterpret_cast<std::byte*>(&block[r][c]), sizeof(block[0]));
    }
  }
  const hn::CappedTag<std::uint64_t, Box::kLineBytes / 8> d;
  for (std::int64_t r = 0; r < kLine<T>; ++r) {
    const auto* line = reinterpret_cast<const std::uint64_t*>(block[r]);
    for (std::size_t i = 0; i < Box::kLineBytes / 8; i += hn::Lanes(d)) {
      store<kStreams>(hn::Load(d, line + i), d,
                      reinterpret_cast<std::uint64_t*>(to + r * to_row) + i);
    }
  }
}

/// Units whose rows are neighbours in `from`, and whose columns are neighbours in `to`.
template <class T, bool kStreams>
void move_transposed(const Box& box, const std::byte* from, std::byte* to, std::int64_t rows,
                     std::int64_t columns) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  constexpr std::int64_t kUnit = sizeof(T);
  const std::int64_t from_column = box.column().from;
  const std::int64_t to_row = box.row().to;
  const std::int64_t whole_columns = columns / kLine<T> * kLine<T>;
  for (std::int64_t r = 0; r < rows;) {
    const bool whole = r + kLine<T> <= rows;
    std::int64_t c = 0;
    for (; whole && c < whole_columns; c += kLine<T>) {
      move_block<T, kStreams>(from + r * kUnit + c * from_column, from_column,
                              to + r * to_row + c * kUnit, to_row);
    }
    const std::int64_t end = whole ? r + kLine<T> : std::min(r + kSide, rows);
    for (; r + kSide <= end && c + kSide <= columns; c += kSide) {
      for (std::int64_t i = r; i < end; i += kSide) {
        move_square<T>(from + i * kUnit + c * from_column, from_column, to + i * to_row + c * kUnit,
                       to_row);
      }
    }
    for (; r < end; ++r) {
      for (std::int64_t j = c; j < columns; ++j) {
        move_unit<T>(from + r * kUnit + j * from_column, to + r * to_row + j * kUnit);
      }
    }
  }
}

template <class T>
void move_strided(const Box& box, const std::byte* from, std::byte* to, std::int64_t rows,
                  std::int64_t columns) {
  const BoxDim& row = box.row();
  const BoxDim& column = box.column();
  for (std::int64_t r = 0; r < rows; ++r, from += row.from, to += row.to) {
    if (column.from == 0 && column.to == sizeof(T)) {
      T value;
      std::memcpy(&value, from, sizeof(T));
      std::fill_n(reinterpret_cast<T*>(to), columns, value);
      continue;
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      move_unit<T>(from + c * column.from, to + c * column.to);
    }
  }
}

template <class T>
void move_units(const Box& box, std::int64_t first, std::int64_t end) {
  box.for_each_tile(
      first, end,
      [&](const std::byte* from, std::byte* to, std::int64_t rows, std::int64_t columns) {
        if (box.streams()) {
          move_transposed<T, true>(box, from, to, rows, columns);
        } else if (box.form() == TileForm::transposed) {
          move_transposed<T, false>(box, from, to, rows, columns);
        } else {
          move_strided<T>(box, from, to, rows, columns);
        }
      });
  if (box.streams()) {
    hwy::FlushStream();  // before another thread is told
  }
}

/// Moves the tiles [first, end).
inline void move(const Box& box, std::int64_t first, std::int64_t end) {
  if (box.form() == TileForm::runs) {
    box.for_each_tile(
        first, end,
        [&](const std::byte* from, std::byte* to, std::int64_t rows, std::int64_t columns)
            HWY_ATTR {
              for (std::int64_t r = 0; r < rows; ++r, from += box.row().from, to += box.row().to) {
                move_run(from, to, static_cast<std::size_t>(columns));
              }
            });
  } else if (box.unit_bytes() == 2) {
    move_units<std::uint16_t>(box, first, end);
  } else if (box.unit_bytes() == 4) {
    move_units<std::uint32_t>(box, first, end);
  } else {
    move_units<std::uint64_t>(box, first, end);
  }
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
