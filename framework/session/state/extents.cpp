#include "framework/session/state/extents.h"

#include <limits>

namespace reprise {
namespace {

void require_bucket(const StateFieldInfo* info, std::string_view name, std::int64_t max,
                    const StateBlock& state) {
  if (info == nullptr || info->owner != StateOwner::host || info->dtype != DType::i32) {
    throw_invalid_argument(
        "An extent is an i32 field of the host in the state block, but (", name, ") is ",
        (info == nullptr
             ? "no field; its fields are: " + (state ? state.layout().names() : std::string("none"))
             : std::string(name_of(info->owner)) + " " + std::string(name_of(info->dtype))),
        ".");
  }
  if (max < 1 || max > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("The extent '", name, "' has a bucket of (", max,
                           "); buckets are 1 to 2^31 - 1.");
  }
}

std::int64_t row_bytes(const TensorSpec& spec) {
  return static_cast<std::int64_t>(spec.bytes()) / std::max<std::int64_t>(spec.shape.dim(0), 1);
}

}  // namespace

std::vector<GraphExtent> resolve_extents(std::span<const ExtentBucket> wanted,
                                         const StateBlock& state) {
  std::vector<GraphExtent> extents;
  for (const ExtentBucket& bucket : wanted) {
    const StateFieldInfo* info = state ? state.layout().find(bucket.field) : nullptr;
    require_bucket(info, bucket.field, bucket.max, state);
    for (const GraphExtent& known : extents) {
      if (known.word == info->word) {
        throw_invalid_argument("The extent '", bucket.field, "' is named twice, with the buckets (",
                               known.max, ") and ", bucket.max, ".");
      }
    }
    extents.push_back({info->word, bucket.max});
  }
  return extents;
}

void require_extents_of(const StateBlock& state, std::span<const GraphExtent> extents) {
  const auto fields = state ? state.layout().fields() : std::vector<StateFieldInfo>();
  std::vector<ExtentBucket> buckets;
  for (const GraphExtent& extent : extents) {
    buckets.push_back({extent.word < fields.size() ? fields[extent.word].name
                                                   : "word " + std::to_string(extent.word),
                       extent.max});
  }
  resolve_extents(buckets, state);
}

std::vector<ExtentLimit> limits_of(std::span<const GraphExtent> extents) {
  std::vector<ExtentLimit> limits;
  for (const GraphExtent& extent : extents) {
    limits.push_back({extent.word, 0, extent.max});
  }
  return limits;
}

void require_limits(std::span<const ExtentLimit> limits, const StateLayout& layout,
                    std::span<const std::uint32_t> host) {
  for (const ExtentLimit& limit : limits) {
    const auto value = static_cast<std::int32_t>(host[limit.word]);
    if (limit.min <= value && value <= limit.max) {
      continue;
    }
    const std::string max = std::to_string(limit.max);
    std::string why;
    switch (limit.cause) {
      case ExtentLimit::Cause::bucket:
        why = "the graph was recorded for 0 to " + max + " rows.";
        break;
      case ExtentLimit::Cause::input:
        why = "its input '" + limit.input + "' was given " + max + " rows.";
        break;
      case ExtentLimit::Cause::recorded:
        why = "the session was recorded while it was " + max + ".";
        break;
    }
    throw_error(ErrorCode::extent_out_of_range, "The extent '", layout.fields()[limit.word].name,
                "' is (", value, "), but ", why);
  }
}

void require_values(std::string_view input, const TensorSpec& spec, DType dtype,
                    std::span<const std::byte> bytes) {
  const auto fail = [&](ErrorCode code, const std::string& text) {
    throw_error(code, "The input '", input, "' is ", to_string(spec), text);
  };
  if (spec.dtype != dtype) {
    fail(ErrorCode::dtype_mismatch,
         ", but was given (" + std::string(name_of(dtype)) + ") values.");
  }
  const bool fixed = spec.shape.fixed();
  const std::uint64_t unit = fixed ? spec.bytes() : static_cast<std::uint64_t>(row_bytes(spec));
  if (fixed || unit == 0 ? bytes.size() != unit : bytes.size() % unit != 0) {
    fail(ErrorCode::size_mismatch, " (" + std::to_string(unit) +
                                       (fixed ? " bytes)" : " bytes a row)") + ", but was given (" +
                                       std::to_string(bytes.size()) + ") bytes.");
  }
  if (bytes.size() > spec.bytes()) {
    fail(ErrorCode::extent_out_of_range, " and takes 0 to " + std::to_string(spec.bytes() / unit) +
                                             " rows, but was given (" +
                                             std::to_string(bytes.size() / unit) + ").");
  }
}

TensorSpec settled(TensorSpec spec, std::span<const std::uint32_t> state) {
  if (!spec.shape.fixed()) {
    spec.shape = spec.shape.with_front(state[spec.shape.extent_word()]);
  }
  return spec;
}

std::int64_t rows_given(const TensorSpec& spec, std::span<const std::byte> bytes) {
  const std::int64_t row = row_bytes(spec);
  return row == 0 ? spec.shape.dim(0) : static_cast<std::int64_t>(bytes.size()) / row;
}

ExtentLimit limit_of(std::string_view input, const TensorSpec& spec,
                     std::span<const std::byte> bytes) {
  return {.word = spec.shape.extent_word(),
          .min = 0,
          .max = rows_given(spec, bytes),
          .cause = ExtentLimit::Cause::input,
          .input = std::string(input)};
}

}  // namespace reprise
