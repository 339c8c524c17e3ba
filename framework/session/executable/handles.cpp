#include "framework/session/executable/handles.h"

#include <algorithm>

#include "framework/core/known_names.h"
#include "framework/core/tensor_slab.h"

namespace reprise {
namespace {

/// Handles have the rows of the largest bucket where what they feed, or what feeds them, has an
/// extent.
void require_spec(const std::string& what, const TensorSpec& is, const TensorSpec& wanted) {
  const bool fits =
      is.shape.with_extent(Extent::kFixed) == wanted.shape.with_extent(Extent::kFixed);
  if (!fits || is.dtype != wanted.dtype) {
    throw_error(!fits ? ErrorCode::shape_mismatch : ErrorCode::dtype_mismatch, what, " is ",
                to_string(is), ", but (", to_string(wanted), ") is needed.");
  }
}

std::optional<std::int64_t> rows_of(const TensorSpec& spec) {
  return spec.shape.fixed() ? std::nullopt : std::optional(spec.shape.dim(0));
}

Tensor first_rows(const Tensor& tensor, const Shape& shape) {
  const TensorRef ref(tensor);
  return persistent_tensor(ref->buffer, TensorSpec(shape, ref.dtype()), ref->offset, ref->name);
}

}  // namespace

Tensor rows_for(const Tensor& handle, const TensorSpec& port, std::int64_t bucket) {
  return port.shape.fixed()
             ? handle
             : first_rows(handle,
                          port.shape.with_front(bucket).with_extent(port.shape.extent_word()));
}

Tensor Handles::Entry::live() const {
  return rows ? first_rows(tensor, tensor.shape().with_front(*rows)) : tensor;
}

Tensor Handles::allocate(const Handle& handle) const {
  const Device& device = plans_.core()->device();
  if (handle.residency == HandleResidency::device) {
    return device.zeros(handle.shape, handle.dtype, handle.name);
  }
  const TensorSpec spec(handle.shape, handle.dtype);
  auto buffer = device.backend().allocate(handle.name, spec.bytes(), BufferKind::download);
  std::fill_n(buffer->mapped(), spec.bytes(), std::byte{0});
  return Tensor::over(std::move(buffer), spec, 0, handle.name);
}

void Handles::add_like(const Handles& other) {
  for (const Entry& entry : other.entries_) {
    Entry& own = entries_.emplace_back(entry);
    own.borrowed = false;
    own.tensor = allocate(entry.info);
    own.next = entry.swaps() ? allocate(entry.info) : Tensor();
    own.rows = entry.rows ? std::optional(entry.info.shape.dim(0)) : std::nullopt;
  }
}

std::uint32_t Handles::find(std::string_view name) const {
  return index_named(entries_, name, &Entry::name);
}

const Handles::Entry& Handles::require(std::string_view name) const {
  return require_named(entries_, plans_.what(), "handle", name, &Entry::name);
}

Handles::Entry& Handles::entry_of(std::string_view name) {
  return require_named(entries_, plans_.what(), "handle", name, &Entry::name);
}

bool Handles::feeds_alone(std::string_view output) const {
  return std::ranges::any_of(entries_, [&](const Entry& handle) {
    return handle.output == output && !handle.feed.to_host;
  });
}

void Handles::ran(std::int64_t rows) {
  for (Entry& handle : entries_) {
    if (handle.rows && !handle.output.empty()) {
      handle.rows = rows;
    }
  }
  swap();
}

void Handles::swap() {
  bool any = false;
  for (Entry& handle : entries_) {
    if (handle.swaps()) {
      std::swap(handle.tensor, handle.next);
      any = true;
    }
  }
  swapped_ = swapped_ != any;
}

void Handles::create(const Handle& handle) {
  if (find(handle.name) != kNoIndex) {
    throw_invalid_argument(plans_.what(), " has a handle '", handle.name, "' already.");
  }
  const std::vector<Port>& inputs = plans_.inputs();
  const auto input = std::ranges::find(inputs, handle.name, &Port::name);
  std::optional<std::int64_t> rows;
  if (input != inputs.end()) {
    require_spec("The handle '" + handle.name + "'", TensorSpec(handle.shape, handle.dtype),
                 input->spec);
    rows = rows_of(input->spec);
  }
  entries_.push_back({.info = handle, .tensor = allocate(handle), .rows = rows});
}

void Handles::bind(std::string_view name, std::span<const std::byte> bytes, DType dtype) {
  Entry& handle = entry_of(name);
  const TensorRef tensor(handle.tensor);
  const std::string is = "The handle '" + handle.info.name + "' is " + to_string(tensor.spec());
  if (dtype != tensor.dtype()) {
    throw_error(ErrorCode::dtype_mismatch, is, ", but was bound to (", name_of(dtype), ") values.");
  }
  const std::uint64_t all = tensor.spec().bytes();
  const std::uint64_t row =
      handle.rows ? all / static_cast<std::uint64_t>(tensor.shape().dim(0)) : all;
  if (bytes.empty() || bytes.size() > all || bytes.size() % row != 0) {
    throw_error(ErrorCode::size_mismatch, is, " (", all, " bytes",
                (handle.rows ? ", " + std::to_string(row) + " a row" : ""), "), but was bound to (",
                bytes.size(), ") bytes.");
  }
  plans_.core()->device().write(tensor->buffer, tensor->offset, bytes);
  if (handle.rows) {
    handle.rows = static_cast<std::int64_t>(bytes.size() / row);
  }
}

void Handles::bind(std::string_view name, const Tensor& tensor) {
  Entry& entry = entry_of(name);
  const TensorRef ref(tensor);
  if (!ref || ref->buffer == nullptr || !ref.spec().contiguous()) {
    throw_invalid_argument("The handle '", entry.info.name,
                           "' takes a contiguous persistent tensor, but this one is ",
                           (!ref                     ? "empty."
                            : ref->buffer == nullptr ? "a session's transient."
                                                     : "strided."));
  }
  if (entry.next) {
    throw_invalid_argument("The handle '", entry.info.name,
                           "' swaps its memory with every run, so it takes none of the caller's.");
  }
  require_spec("The tensor '" + ref->name + "'", ref.spec(),
               TensorSpec(entry.info.shape, entry.info.dtype));
  ref->buffer->require_alive();
  entry.tensor = tensor;
  entry.borrowed = true;
  if (entry.rows) {
    entry.rows = tensor.shape().dim(0);
  }
}

void Handles::feed(std::string_view name, std::string_view output, const FeedOptions& options) {
  Entry& entry = entry_of(name);
  const std::string quoted = "'" + entry.info.name + "'";
  const std::string what = "The output '" + std::string(output) + "'";
  const TensorSpec& spec = plans_.output(output).spec;
  require_spec(what, spec, TensorSpec(entry.info.shape, entry.info.dtype));
  const bool is_input = std::ranges::count(plans_.inputs(), name, &Port::name) != 0;
  if (is_input && entry.rows.has_value() == spec.shape.fixed()) {
    throw_error(ErrorCode::shape_mismatch, what, " (", to_string(spec), ") cannot feed the input ",
                quoted, ": only one of them has an extent of the state.");
  }
  if (!spec.shape.fixed() && plans_.layout().stop_word()) {
    throw_error(ErrorCode::unsupported, what, " (", to_string(spec), ") cannot feed the handle ",
                quoted,
                ": the state may stop a run on the device, and the host would count its rows "
                "all the same.");
  }
  if (options.mode == FeedMode::copy && spec.dtype == DType::i64) {
    throw_error(ErrorCode::unsupported, what, " (", to_string(spec), ") cannot feed the handle ",
                quoted, " by copy: copy() takes no i64.");
  }
  const auto fed = std::ranges::find(entries_, output, &Entry::output);
  if (!entry.output.empty() || fed != entries_.end()) {
    const Entry& has = entry.output.empty() ? *fed : entry;
    throw_invalid_argument(what, " cannot feed the handle ", quoted, ": '", has.output, "' feeds '",
                           has.info.name, "' already.");
  }
  if (options.mode == FeedMode::swap) {
    if (entry.borrowed) {
      throw_invalid_argument("The handle ", quoted,
                             " has memory of the caller's, so it cannot swap it.");
    }
    if (plans_.options().max_iterations > 1) {
      throw_error(ErrorCode::unsupported, "The handle (", entry.info.name,
                  ") cannot swap: a run runs its pass up to (", plans_.options().max_iterations,
                  ") times, and the host would swap once. Feed it by copy.");
    }
    if (plans_.layout().stop_word()) {
      throw_error(ErrorCode::unsupported, "The handle ", quoted,
                  " cannot swap: its state may stop a run on the device, and the host would "
                  "swap all the same. Feed it by copy.");
    }
    entry.next = allocate(entry.info);
  }
  entry.output = output;
  entry.feed = options;
  entry.rows = rows_of(spec);
}

}  // namespace reprise
