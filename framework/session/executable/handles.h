// Handles: the tensors of an executable graph that stay between its runs, and what feeds them.
#pragma once
#include <string>
#include <vector>

#include "framework/session/executable/executable_plans.h"

namespace reprise {

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

    bool swaps() const { return static_cast<bool>(next); }
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
  void bind(std::string_view name, std::span<const std::byte> bytes, DType dtype) const;
  void bind(std::string_view name, const Tensor& tensor);
  void feed(std::string_view name, std::string_view output, const FeedOptions& options);

  /// After a run of some rows.
  void swap();
  /// An odd number of times.
  bool swapped() const { return swapped_; }

 private:
  Tensor allocate(const Handle& handle) const;

  const ExecutablePlans& plans_;
  std::vector<Entry> entries_;
  bool swapped_ = false;
};

}  // namespace reprise
