// StateExchange: what one slot sends to a state block and gets back from it. It has the first bytes
// of the slot's staging buffers.
#pragma once
#include "framework/session/device/staging.h"
#include "framework/session/state/extents.h"
#include "framework/session/state/state_memory.h"

namespace reprise {

/// Used by one thread at a time, as its slot is; the block is shared.
class StateExchange {
 public:
  /// An empty block: nothing is exchanged.
  StateExchange(const Device& device, StateBlock state);

  std::uint64_t upload_bytes() const { return upload_bytes_; }
  std::uint64_t download_bytes() const { return download_bytes_; }
  void add_uploads(std::vector<StagedCopy>& copies) const;
  void add_downloads(std::vector<StagedCopy>& copies) const;

  /// Before a submission: puts what the host set into the upload memory, once no field can leave
  /// its range; waits for what is in flight where that decides it. Throws invalid_argument if one
  /// would, or an extent is outside of its limits. The lock is held until it is submitted, so that
  /// nothing is set in between. Encodings of patches of arrays go after the first of `list`.
  std::unique_lock<std::mutex> send(const Staging& staging, std::vector<EncodingRef>& list,
                                    std::span<const ExtentLimit> limits);
  /// That lock alone: nothing is sent.
  std::unique_lock<std::mutex> hold();
  /// Under that lock: it was submitted, or failed. Patches of one that failed go with the next one.
  void submitted(std::uint64_t submission, std::span<const StateGrowth> growths,
                 std::uint32_t iterations, bool exact);
  void failed();
  /// The submission is complete.
  void receive(const Staging& staging, std::uint64_t submission);

  /// The block after the last complete submission, then its arrays; empty without state.
  std::span<const std::uint32_t> words() const { return words_; }
  /// Of them, those of the block.
  std::size_t block_words() const { return state_ ? state_.layout().words() : 0; }
  /// Where a field lies in it. Errors: unknown_name, dtype_mismatch.
  std::uint32_t word_of(std::string_view field, DType dtype) const;

 private:
  std::uint64_t patch_offset() const;
  std::uint64_t array_bytes() const;
  /// Encodes what the pending patches of arrays need for the first time.
  void encode_patches(const Staging& staging);
  void write_arrays(std::byte* upload, std::vector<EncodingRef>& list);

  Device device_;
  StateBlock state_;
  std::uint64_t upload_bytes_ = 0, download_bytes_ = 0;
  std::vector<std::uint32_t> words_;
  std::uint32_t sent_patches_ = 0;
  struct ArrayPatch {
    EncodingRef encoding;
    bool sent = false;
  };
  std::vector<ArrayPatch> array_patches_;          // by array
  std::uint64_t arrays_up_ = 0, arrays_down_ = 0;  // offsets of the buffer of all arrays
};

}  // namespace reprise
