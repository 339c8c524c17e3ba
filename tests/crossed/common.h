// What sessions and executable graphs do alike: executors, inputs, state, outputs of tickets.
#pragma once
#include "tests/crossed/data.h"
#include "tests/crossed/record.h"
#include "tests/crossed/ways.h"

namespace reprise::crossed {

/// Without a folder nothing is profiled.
ExecutorOptions executor_options(const Program& program, const std::string& folder,
                                 std::size_t slots);
PassOptions pass_options(const Setup& setup);
std::vector<std::byte> bytes_of(Leaf leaf, const Program& program, const Round& round);
/// Of an input; where programs pad them, with more rows than the run has, up to `most`.
std::vector<std::byte> padded_bytes_of(Leaf leaf, const Program& program, const Round& round,
                                       std::int64_t max);
std::vector<std::byte> given_bytes_of(Leaf leaf, const Program& program, const Round& round);
/// What a launch finds in the fields and host arrays of the state. `rows`: the number of rows too.
void set_state(const StateBlock& state, const Program& program, const Round& round, bool rows);
void set_notes(const StateBlock& state, const Program& program);
void read_state(const StateBlock& state, const Program& program, Outcome& outcome);
Numbers numbers_of(DType dtype, std::span<const std::byte> bytes);
/// Of all iterations that ran; those that are not kept are left out.
RoundOutcome outcome_of(const Ticket& ticket, const Program& program);
RoundOutcome outcome_of(const CapturedGraph& graph, const Program& program);
/// Whether a value is kept of every iteration.
bool kept_of_each(int output, const Program& program);

}  // namespace reprise::crossed
