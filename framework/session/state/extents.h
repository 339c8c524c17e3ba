// Extents: fields of the state that count rows of a session's tensors, and what they may be when a
// launch begins.
#pragma once
#include "reprise/graph/compute_graph.h"
#include "reprise/session/session_options.h"

namespace reprise {

/// Where the extents that a session asks for lie in its state. Throws invalid_argument for fields
/// that are no i32 of the host, for a bucket below 1 or above 2^31 - 1, and for a field named
/// twice.
std::vector<GraphExtent> resolve_extents(std::span<const ExtentBucket> wanted,
                                         const StateBlock& state);
/// The same of a file.
void require_extents_of(const StateBlock& state, std::span<const GraphExtent> extents);

/// What the host's value of an extent may be when a launch begins.
struct ExtentLimit {
  enum class Cause : std::uint8_t {
    bucket,    // of the recording
    input,     // so many rows were given
    recorded,  // of a direct session, which ran its ops with that value
  };
  std::uint32_t word = 0;
  std::int64_t min = 0, max = 0;
  Cause cause = Cause::bucket;
  std::string input{};
};
/// Buckets.
std::vector<ExtentLimit> limits_of(std::span<const GraphExtent> extents);
/// Throws extent_out_of_range for the first limit that is not kept by `host`, the fields of the
/// host.
void require_limits(std::span<const ExtentLimit> limits, const StateLayout& layout,
                    std::span<const std::uint32_t> host);

/// Values of an input are all of it, or whole rows up to the bucket of one with an extent.
/// Errors: dtype_mismatch, size_mismatch, extent_out_of_range.
void require_values(std::string_view input, const TensorSpec& spec, DType dtype,
                    std::span<const std::byte> bytes);
/// A tensor as it is with that state block, of fixed shape.
TensorSpec settled(TensorSpec spec, std::span<const std::uint32_t> state);
/// Rows of an input with an extent that were given.
std::int64_t rows_given(const TensorSpec& spec, std::span<const std::byte> bytes);
/// At most as many.
ExtentLimit limit_of(std::string_view input, const TensorSpec& spec,
                     std::span<const std::byte> bytes);

}  // namespace reprise
