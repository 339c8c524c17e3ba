// Rows of host tensors as float64, for references whose time matters: the dtype is looked at once
// per row. Not for rows whose last stride is not 1.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "framework/core/op.h"
#include "reprise/backend/decode.h"

namespace reprise::ops {

/// Fills `out` with the elements from index `element` on; of block formats, whole blocks.
inline void load_row(const HostTensor& tensor, std::int64_t element, std::span<double> out) {
  const Decode decode = decoder_of(tensor.dtype());
  const std::byte* from =
      tensor.data + bytes_of(tensor.dtype(), static_cast<std::uint64_t>(element));
  std::array<float, 256> values{};
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t count = std::min(out.size() - done, values.size());
    decode(from, count, values.data());
    from += bytes_of(tensor.dtype(), count);
    std::copy_n(values.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += count;
  }
}

/// Four running sums, so that the additions overlap.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) {
      sums[j] += a[i + j] * b[i + j];
    }
  }
  for (; i < a.size(); ++i) {
    sums[0] += a[i] * b[i];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace reprise::ops
