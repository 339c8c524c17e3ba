// Which rounds a program may have.
#include <algorithm>

#include "tests/crossed/generate.h"
#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

bool fits(const Round& round, const Program& program) {
  const Setup& setup = program.setup;
  const bool of_executable = round.how >= How::run;
  const bool either = round.before == Between::nothing || round.before == Between::abandoned ||
                      round.before == Between::trim;
  if (!either && (round.before >= Between::fork) != setup.executable) {
    return false;
  }
  if ((round.given == Given::memory && !program.uses(Leaf::memory)) ||
      (round.given == Given::table && (!program.uses(Leaf::table) || !setup.executable)) ||
      (round.given != Given::nothing && round.how == How::prepared) ||
      (round.given == Given::table && round.iterations > 1)) {
    return false;
  }
  if (of_executable != setup.executable || (round.iterations > 1 && !runs_iterations(round.how))) {
    return false;
  }
  if (round.how == How::direct && round.iterations > 1 && writes_an_input(program)) {
    return false;
  }
  if ((round.how == How::loaded || round.how == How::pooled) && program.has(OpKind::host_step)) {
    return false;
  }
  // A prefix ends where passes left the last node.
  const bool whole = setup.passes == Passes::none || setup.passes == Passes::in_place;
  if (round.how == How::prefix && (!whole || program.max_iterations() > 1 || program.fed >= 0 ||
                                   setup.stops || round.rows == 0)) {
    return false;
  }
  if (round.how == How::submitted && (setup.stops || round.rows == 0)) {
    return false;
  }
  // A verification compares outputs, which a stopped run does not have.
  if (round.before == Between::verify && program.looks_at_stop()) {
    return false;
  }
  return round.rows > 0 || round.before == Between::nothing || round.before >= Between::trim;
}

}  // namespace

bool runs_iterations(How how) {
  return how == How::launched || how == How::async || how == How::cached || how == How::keyed ||
         how == How::loaded || how == How::rebound || how == How::pooled || how == How::direct ||
         how == How::run || how == How::submit || how == How::prepared || how == How::pipelined;
}

bool swaps(const Program& program) {
  return program.setup.executable && program.fed >= 0 && program.setup.feed == Feed::swap;
}

namespace {

/// Whose misses are served by host steps.
bool misses_on_the_cpu(const Program& program) {
  return program.setup.cpu_misses && program.has(OpKind::experts);
}

}  // namespace

bool rounds_fit(const Program& program) {
  if (program.rounds.empty() || (program.fed >= 0 && !program.uses(Leaf::memory))) {
    return false;
  }
  const bool again = program.max_iterations() > 1;
  if (again && (program.has(OpKind::host_step) || swaps(program) ||
                (program.fed >= 0 && !program.setup.executable) || misses_on_the_cpu(program))) {
    return false;
  }
  if (swaps(program) && program.setup.stops) {
    return false;
  }
  // What is set is read back once something ran.
  return program.rounds.front().rows > 0 &&
         std::ranges::all_of(program.rounds,
                             [&](const Round& round) { return fits(round, program); });
}

}  // namespace reprise::crossed
