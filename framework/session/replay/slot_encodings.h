// The encodings around a body: the prologue copies state, patches and inputs to the device, the
// epilogue copies outputs, state and timestamps back.
#pragma once
#include <string>
#include <vector>

#include "framework/session/device/staging.h"

namespace reprise {

/// A named tensor that crosses between host and device, and where it lives there.
struct Exchange {
  std::string name;
  TensorSpec spec;  // contiguous
  std::shared_ptr<Buffer> buffer;
  std::uint64_t buffer_offset = 0;
  std::uint64_t staging_offset = 0;  // set by the slot
};

/// Timestamps that an epilogue copies to the host.
struct ResolvedStamps {
  std::shared_ptr<Timestamps> stamps;  // null: none
  std::uint32_t count = 0;
  std::shared_ptr<Buffer> to;
  std::uint64_t offset = 0;
};

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
