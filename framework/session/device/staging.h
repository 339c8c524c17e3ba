// Memory of the host that values cross over in, and what crosses.
#pragma once
#include <memory>
#include <vector>

#include "reprise/backend/backend.h"
#include "reprise/session/device.h"

namespace reprise {

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

/// Shared by host steps of which one runs at a time: the next one's function runs after the copies
/// of the one before. Grows; what was laid out before keeps its buffers.
struct HostStaging {
  std::shared_ptr<Buffer> download, upload;
};

/// Allocates where the buffer is smaller than that.
void grow(const Device& device, std::shared_ptr<Buffer>& buffer, const char* name,
          std::uint64_t bytes, BufferKind kind, MemoryPurpose purpose);

/// Copies from the device to the staging buffer. Each has its own place there, so they need no
/// barriers between them.
void encode_downloads(Encoder& encoder, const std::shared_ptr<Buffer>& staging,
                      const std::vector<StagedCopy>& copies);
/// Copies from the staging buffer to the device, likewise.
void encode_uploads(Encoder& encoder, const std::shared_ptr<Buffer>& staging,
                    const std::vector<StagedCopy>& copies);

/// `first`: taken when everything is copied; the others may be taken afterwards. Null: none.
EncodingRef encode_prologue(Backend& backend, const Staging& staging,
                            const std::vector<StagedCopy>& copies,
                            const std::shared_ptr<Timestamps>& first);

}  // namespace reprise
