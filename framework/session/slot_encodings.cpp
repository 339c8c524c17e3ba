#include "framework/session/slot_encodings.h"

namespace reprise {
namespace {

/// Every copy has its own place, so they need no barriers between them.
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

EncodingRef encode_prologue(Backend& backend, const Staging& staging,
                            const std::vector<StagedCopy>& copies,
                            const std::shared_ptr<Timestamps>& first) {
  const auto encoder = backend.encoder({.name = "prologue", .reusable = backend.traits().replays});
  encode_copies(*encoder, staging.upload, copies, true);
  if (first != nullptr) {
    encoder->reset(first);
    encoder->stamp(first, 0);
  }
  return encoder->finish();
}

EncodingRef encode_epilogue(Backend& backend, const Staging& staging,
                            const std::vector<StagedCopy>& copies, const ResolvedStamps& resolved,
                            bool last) {
  const auto encoder = backend.encoder(
      {.name = "epilogue", .reusable = backend.traits().replays, .ends_at_host = true});
  if (last) {
    encoder->stamp(resolved.stamps, resolved.count - 1);
  }
  if (resolved.stamps != nullptr) {
    encoder->resolve(resolved.stamps, resolved.count, resolved.to, resolved.offset);
  }
  encode_downloads(*encoder, staging.download, copies);
  return encoder->finish();
}

EncodingRef encode_stamp(Backend& backend, const std::shared_ptr<Timestamps>& stamps,
                         std::uint32_t index) {
  const auto encoder = backend.encoder({.name = "iteration", .reusable = backend.traits().replays});
  encoder->stamp(stamps, index);
  return encoder->finish();
}

EncodingRef encode_resolve(Backend& backend, const ResolvedStamps& resolved) {
  const auto encoder =
      backend.encoder({.name = "iteration times", .reusable = backend.traits().replays});
  encoder->resolve(resolved.stamps, resolved.count, resolved.to, resolved.offset);
  return encoder->finish();
}

}  // namespace reprise
