// Handles: the tensors of an executable graph that stay between its runs, and what feeds them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/session/executable/executable_plans.h"

namespace reprise {

/// The first rows of a handle's memory: all of them for a fixed shape, those of a bucket for an
/// extent.
Tensor rows_for(const Tensor& handle, const TensorSpec& port, std::int64_t bucket);

/// Threads: one.
class Handles {
 public:
  struct Entry {
    Handle info;
    Tensor tensor;
    Tensor next{};          // swap: where the next run puts the output
    bool borrowed = false;  // `tensor` is the caller's
    std::string output{};   // what feeds it; empty: nothing
    FeedOptions feed{};
    /// How many rows it has, if these are an extent: what it was bound to, or the last run left.
    std::optional<std::int64_t> rows{};

    const std::string& name() const { return info.name; }
    bool swaps() const { return static_cast<bool>(next); }
    Tensor live() const;  // these rows
  };

  /// Lifetime: the plans outlive this.
  explicit Handles(const ExecutablePlans& plans) : plans_(plans) {}
  /// Those of another with the same feeds, over memory of their own.
  void add_like(const Handles& other);

  const std::vector<Entry>& all() const { return entries_; }
  /// kNoIndex: there is none.
  std::uint32_t find(std::string_view name) const;
  /// Errors: unknown_name.
  const Entry& require(std::string_view name) const;
  /// No run brings it to the host.
  bool feeds_alone(std::string_view output) const;

  // See ExecutableGraph.
  void create(const Handle& handle);
  void bind(std::string_view name, std::span<const std::byte> bytes, DType dtype);
  void bind(std::string_view name, const Tensor& tensor);
  void feed(std::string_view name, std::string_view output, const FeedOptions& options);

  /// After a run of some rows.
  void ran(std::int64_t rows);
  /// As every other run finds them.
  void swap();
  /// An odd number of times.
  bool swapped() const { return swapped_; }

 private:
  Tensor allocate(const Handle& handle) const;
  Entry& entry_of(std::string_view name);

  const ExecutablePlans& plans_;
  std::vector<Entry> entries_;
  bool swapped_ = false;
};

}  // namespace reprise
