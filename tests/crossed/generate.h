// Makes programs of seeds.
#pragma once
#include "tests/crossed/program.h"

namespace reprise::crossed {

/// The program of a seed on that device; it may be run as it is.
Program generate(std::uint64_t seed, Where where);
/// Whether the rounds of a program can be run as they say: what generate() and the shrinker keep
/// to. Ops are the matter of types.h.
bool rounds_fit(const Program& program);

/// Whether one launch may run several iterations this way; direct sessions come one per iteration.
bool runs_iterations(How how);
/// Whether handles swap: they refuse a state that may stop a run on the device.
bool swaps(const Program& program);

}  // namespace reprise::crossed
