// Passes that are no decoders, with random weights: what users of encoders and of convolutional
// networks run.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/graph_session.h"

namespace reprise::bench {

/// speech: two conv_1d over 3,000 frames of 80 bands, then 4 layers of 384 over 1,500 frames.
/// vision: 196 patches of 16 x 16 of 224 x 224 pixels, then 6 layers of 384.
/// residual: 224 x 224 pixels through a stem of 7 x 7 and blocks of 64, 128 and 256 channels.
/// padded: 4 layers of 256 over 8 sequences that a mask pads to 128, attention by single ops.
std::vector<std::string> network_names();

/// Records it and returns the bytes of its weights.
/// Errors: unknown_name.
std::uint64_t record_network(GraphSession& session, const Device& device, std::string_view name);

}  // namespace reprise::bench
