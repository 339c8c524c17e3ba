#include "framework/session/replay/slot_encodings.h"

namespace reprise {
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
