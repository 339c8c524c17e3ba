// The rules by which passes fuse ops of the library.
#pragma once
#include "framework/core/fusion.h"

namespace reprise {

/// In the order in which they are tried: what one takes is not there for the next. Always valid.
FusionRules fusion_rules();

}  // namespace reprise
