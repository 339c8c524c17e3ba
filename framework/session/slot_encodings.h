// The encodings around a body: the prologue copies state, patches and inputs to the device, the
// epilogue copies outputs, state and timestamps back.
#pragma once
#include <string>
#include <vector>

#include "reprise/session/state_block.h"

namespace reprise {

/// A named tensor that crosses between host and device, and where it lives there.
struct Exchange {
  std::string name;
  TensorSpec spec;  // contiguous
  std::shared_ptr<Buffer> buffer;
  std::uint64_t buffer_offset = 0;
  std::uint64_t staging_offset = 0;  // set by the slot
};

/// What a slot needs of the device; successive slots may share it.
struct Staging {
  std::shared_ptr<Buffer> upload, download;
  std::shared_ptr<Timestamps> stamps;  // around the body; null until used, or untimed
};

/// A piece of the staging buffers and its counterpart on the device.
struct StagedCopy {
  std::uint64_t staging_offset = 0;
  std::shared_ptr<Buffer> buffer;
  std::uint64_t buffer_offset = 0;
  std::uint64_t bytes = 0;
};

/// Where the next piece of a staging buffer may begin.
constexpr std::uint64_t staging_aligned(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }
/// The first bytes of a tensor.
inline StagedCopy copy_of(const TensorRef& tensor, std::uint64_t staging_offset,
                          std::uint64_t bytes) {
  return {staging_offset, tensor->buffer, tensor->offset, bytes};
}

/// Timestamps that an epilogue copies to the host.
struct ResolvedStamps {
  std::shared_ptr<Timestamps> stamps;  // null: none
  std::uint32_t count = 0;
  std::shared_ptr<Buffer> to;
  std::uint64_t offset = 0;
};

/// Copies from the device to the staging buffer.
void encode_downloads(Encoder& encoder, const std::shared_ptr<Buffer>& staging,
                      const std::vector<StagedCopy>& copies);

/// `first`: taken when everything is copied; the others may be taken afterwards. Null: none.
EncodingRef encode_prologue(Backend& backend, const Staging& staging,
                            const std::vector<StagedCopy>& copies,
                            const std::shared_ptr<Timestamps>& first);
/// `last`: the last one of `resolved` is taken before anything is copied.
EncodingRef encode_epilogue(Backend& backend, const Staging& staging,
                            const std::vector<StagedCopy>& copies, const ResolvedStamps& resolved,
                            bool last);
/// Between two bodies: takes a timestamp.
EncodingRef encode_stamp(Backend& backend, const std::shared_ptr<Timestamps>& stamps,
                         std::uint32_t index);
/// Between two bodies: copies timestamps that the next body takes again.
EncodingRef encode_resolve(Backend& backend, const ResolvedStamps& resolved);

}  // namespace reprise
