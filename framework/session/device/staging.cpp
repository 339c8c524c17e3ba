#include "framework/session/device/staging.h"

namespace reprise {

void grow(const Device& device, std::shared_ptr<Buffer>& buffer, const char* name,
          std::uint64_t bytes, BufferKind kind, MemoryPurpose purpose) {
  if (bytes > 0 && (buffer == nullptr || buffer->bytes() < bytes)) {
    buffer = device.backend().allocate(name, bytes, kind, purpose);
  }
}

namespace {

void encode_copies(Encoder& encoder, const std::shared_ptr<Buffer>& staging,
                   const std::vector<StagedCopy>& copies, bool upload) {
  std::vector<std::shared_ptr<Buffer>> pools{staging};
  StepList steps;
  for (const StagedCopy& copy : copies) {
    if (copy.bytes == 0) {
      continue;
    }
    const auto pool = static_cast<std::uint32_t>(pools.size());
    pools.push_back(copy.buffer);
    Binding host{0, Access::read, BindingType::storage, copy.staging_offset, copy.bytes};
    Binding device{pool, Access::read, BindingType::storage, copy.buffer_offset, copy.bytes};
    (upload ? device : host).access = Access::write;
    steps.copy(StepList::kNoNode, upload ? host : device, upload ? device : host);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    encoder.step(steps, i, pools);
  }
}

}  // namespace

void encode_downloads(Encoder& encoder, const std::shared_ptr<Buffer>& staging,
                      const std::vector<StagedCopy>& copies) {
  encode_copies(encoder, staging, copies, false);
}

void encode_uploads(Encoder& encoder, const std::shared_ptr<Buffer>& staging,
                    const std::vector<StagedCopy>& copies) {
  encode_copies(encoder, staging, copies, true);
}

EncodingRef encode_prologue(Backend& backend, const Staging& staging,
                            const std::vector<StagedCopy>& copies,
                            const std::shared_ptr<Timestamps>& first) {
  const auto encoder = backend.encoder({.name = "prologue", .reusable = backend.traits().replays});
  encode_uploads(*encoder, staging.upload, copies);
  if (first != nullptr) {
    encoder->reset(first);
    encoder->stamp(first, 0);
  }
  return encoder->finish();
}

}  // namespace reprise
