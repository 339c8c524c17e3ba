// StateMemory: what a StateBlock is made of: the memory on the device, and the host's side of it.
#pragma once
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "framework/session/state/extents.h"
#include "framework/session/state/state_bound.h"
#include "reprise/session/state_block.h"

namespace reprise {

/// Memory of an array of the state.
struct StateArray {
  StateFieldInfo info;
  Tensor tensor;
  std::uint64_t offset = 0;           // in the buffer of all arrays
  std::vector<std::uint32_t> values;  // what the host set last
  bool pending = false;               // carried: set since the last launch
};

/// What the host knows of a block and last set in it.
struct StateValues {
  explicit StateValues(const StateLayout& layout);

  std::vector<std::uint32_t> host;      // values of the host fields
  std::uint32_t patch_mask = 0;         // carried fields set since the last launch
  std::vector<std::uint32_t> patches;   // their values
  std::vector<std::uint32_t> returned;  // block and arrays after the last completed launch
  std::uint64_t returned_by = 0;        // its submission
  StateBound bound;
  std::vector<StateArray> arrays;  // of the host, then carried ones, in one buffer
};

/// Threads: any. The mutex guards what is not const.
class StateMemory : public StateValues {
 public:
  StateMemory(const Device& device, StateLayout with);

  /// Errors: unknown_name, dtype_mismatch.
  const StateFieldInfo& info_of(std::string_view field, DType dtype) const;
  const StateArray& array_of(std::string_view array) const;
  /// See StateBlock::set.
  void set(std::span<const StateValue> values);
  /// Of a field or an array, what the last completed launch left.
  void read(const StateFieldInfo& info, std::span<std::byte> bytes) const;
  std::vector<std::shared_ptr<Buffer>> buffers() const;

  /// Locks before a submission, once no field can leave its range; waits for what is in flight
  /// where that decides it.
  /// Errors: invalid_argument if a field would leave its range; extent_out_of_range.
  std::unique_lock<std::mutex> lock_to_send(std::span<const ExtentLimit> limits);
  /// The block and the arrays after a submission that is complete.
  void receive(std::uint64_t submission, std::span<const std::uint32_t> words);

  const StateLayout layout;
  Tensor block, patch, table;  // i32 [1024], [33], [row_count or more, 12]
  std::int32_t row_count = 0;
  std::shared_ptr<Buffer> array_buffer;
  mutable std::mutex mutex;

 private:
  void allocate_arrays();
  void require(const StateValue& value) const;
  void assign(const StateValue& value);
  /// Waits for a submission and tells the bound what the fields are then.
  void settle(std::uint64_t submission);

  Device device_;
};

/// Errors: dtype_mismatch.
void require_dtype(const StateFieldInfo& info, DType dtype);

}  // namespace reprise
