#include "tests/crossed/common.h"

#include "tests/crossed/types.h"

namespace reprise::crossed {

ExecutorOptions executor_options(const Program& program, const std::string& folder,
                                 std::size_t slots) {
  const Setup& setup = program.setup;
  ExecutorOptions options;
  options.precision = setup.fast ? Precision::fast : Precision::exact;
  options.serialize = setup.serialize;
  if (setup.tiny_arena) {
    options.arenas.first_chunk_bytes = 256;
  }
  options.timing = static_cast<TimingMode>(setup.timing);
  options.graphs.finish = {.passes = pass_options(setup), .slots = slots};
  if (setup.profiled && !folder.empty()) {
    options.profile = folder + "/profile.db";
  }
  if (setup.watched && !folder.empty()) {
    options.watches = {{.every = 2, .not_finite = true, .rows_outside = true}};
  }
  return options;
}

PassOptions pass_options(const Setup& setup) {
  PassOptions passes;
  passes.dead_nodes = setup.passes == Passes::dead_nodes;
  passes.reorder = setup.passes == Passes::reorder;
  passes.in_place = setup.passes == Passes::in_place;
  passes.fuse = setup.passes == Passes::fuse;
  return setup.passes == Passes::exact ? PassOptions::exact() : passes;
}

std::vector<std::byte> bytes_of(Leaf leaf, const Program& program, const Round& round) {
  const Array data = data_of(leaf, program, round);
  return bytes_of(data.kind, data.flat());
}

void set_state(const StateBlock& state, const Program& program, const Round& round, bool rows) {
  const Array gains = data_of(Leaf::gains, program, round);
  const Array picks = data_of(Leaf::picks, program, round);
  std::vector<float> floats;
  for (const double gain : gains.flat()) {
    floats.push_back(static_cast<float>(gain));
  }
  std::vector<std::int32_t> places;
  for (const double pick : picks.flat()) {
    places.push_back(static_cast<std::int32_t>(pick));
  }
  state.set({{"number", round.number},
             {"factor", round.factor / 8.0},
             {"gains", std::span<const float>(floats)},
             {"picks", std::span<const std::int32_t>(places)}});
  if (rows) {
    state.set("rows", round.rows);
  }
  if (round.position >= 0) {
    state.set({{"pos", round.position}, {"done", 0}});
  }
}

std::vector<std::byte> padded_bytes_of(Leaf leaf, const Program& program, const Round& round,
                                       std::int64_t max) {
  const Array data = data_of(leaf, program, round);
  std::vector<double> values = data.flat();
  if (program.setup.padded && program.setup.extent) {
    const std::int64_t per_row = type_of(leaf, program.setup).elements() / program.setup.bucket;
    const double filler = leaf == Leaf::ids ? 0 : 1e30;
    values.resize(static_cast<std::size_t>(max * per_row), filler);
  }
  return bytes_of(data.kind, values);
}

std::vector<std::byte> given_bytes_of(Leaf leaf, const Program& program, const Round& round) {
  const Array data = given_data(leaf, program, round);
  return bytes_of(data.kind, data.flat());
}

void set_notes(const StateBlock& state, const Program& program) {
  std::vector<float> floats;
  for (const double note : data_of(Leaf::notes, program, program.rounds.front()).flat()) {
    floats.push_back(static_cast<float>(note));
  }
  state.set("notes", std::span<const float>(floats));
}

void read_state(const StateBlock& state, const Program& program, Outcome& outcome) {
  for (const char* const field : {"pos", "token", "done"}) {
    outcome.fields[field] = state.get(field);
  }
  if (program.uses(Leaf::notes)) {
    const std::vector<float> notes = state.values<float>("notes");
    outcome.left["notes"] = numbers_of(DType::f32, std::as_bytes(std::span(notes)));
  }
}

Numbers numbers_of(DType dtype, std::span<const std::byte> bytes) {
  return {kind_of(dtype), {bytes.begin(), bytes.end()}, {}};
}

bool kept_of_each(int output, const Program& program) {
  const Type type = types_of(program).value().at(static_cast<std::size_t>(output));
  return !type.extent && (type.kind == Kind::f32 || type.kind == Kind::i32) &&
         type.elements() * 4 <= static_cast<std::int64_t>(kRowOutputBytes);
}

template <class Run>
static RoundOutcome outcome_of_run(const Run& run, const Program& program) {
  RoundOutcome outcome;
  const std::uint32_t iterations = run.iterations();
  outcome.iterations = static_cast<int>(iterations);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    Outputs& outputs = outcome.outputs.emplace_back();
    for (const int output : program.outputs) {
      if (i + 1 == iterations || kept_of_each(output, program)) {
        const std::string name = name_of_value(output);
        const OutputView view =
            i + 1 == iterations && program.seed % 2 == 0 ? run.output(name) : run.output(name, i);
        outputs[name] = numbers_of(view.spec.dtype, view.bytes);
      }
    }
  }
  return outcome;
}

RoundOutcome outcome_of(const Ticket& ticket, const Program& program) {
  return outcome_of_run(ticket, program);
}
RoundOutcome outcome_of(const CapturedGraph& graph, const Program& program) {
  return outcome_of_run(graph, program);
}

}  // namespace reprise::crossed
