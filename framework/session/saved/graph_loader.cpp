#include "framework/session/saved/graph_loader.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "framework/core/new_file.h"
#include "framework/graph/plan_fingerprint.h"
#include "framework/graph/structure_hash.h"
#include "framework/ops/fusions.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/record/plan_pass.h"
#include "framework/session/saved/graph_rebuilder.h"
#include "framework/session/saved/graph_saver.h"
#include "framework/session/state/extents.h"
#include "framework/session/state/state_bound.h"

namespace reprise {
namespace {

[[noreturn]] void io_error(std::string_view what, const std::filesystem::path& path) {
  throw_error(ErrorCode::io, "The graph file '", path.string(), "' cannot be ", what, ".");
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {  // a pipe would wait for a writer
    io_error("read: there is no regular file", path);
  }
  std::ifstream file(path, std::ios::binary);
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!file || error || size > kMaxGraphFileBytes) {
    io_error(size > kMaxGraphFileBytes ? "read: it is larger than any" : "opened", path);
  }
  std::vector<std::byte> bytes(size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) {
    io_error("read to its end", path);
  }
  return bytes;
}

std::string text_of(const StateFieldInfo& f) {
  return "word " + std::to_string(f.word) + " '" + f.name + "' " + std::string(name_of(f.owner)) +
         " " + std::string(name_of(f.dtype)) +
         (f.count == 1 ? "" : " x " + std::to_string(f.count)) +
         (f.expression.empty() ? "" : " = " + f.expression) +
         (f.range.limits() ? ", " + to_string(f.range) : "");
}

/// Initial values may differ: a block has moved on from them anyway.
void require_state(const SavedGraph& saved, const StateBlock& state) {
  std::vector<StateFieldInfo> here;
  std::uint32_t stop = kNoIndex;
  if (state) {
    here = state.layout().fields();
    std::ranges::copy(state.layout().arrays(), std::back_inserter(here));
    stop = state.layout().stop_word().value_or(kNoIndex);
  }
  if (saved.has_state != static_cast<bool>(state)) {
    throw_invalid_argument(
        saved.has_state ? "The graph needs a state block, which was not given; give one with "
                          "its fields in LoadOptions::state."
                        : "The graph has no state, but a state block was given.");
  }
  for (std::size_t i = 0; i < std::max(here.size(), saved.state_fields.size()); ++i) {
    const std::string a = i < saved.state_fields.size() ? text_of(saved.state_fields[i]) : "none";
    const std::string b = i < here.size() ? text_of(here[i]) : "none";
    if (a != b) {
      throw_invalid_argument("The state block differs from that of the file: field ", i, " is (", b,
                             "), but ", a, " in the file.");
    }
  }
  if (stop != saved.stop_word) {
    throw_invalid_argument("The state block stops iterations at word (", stop, "), but at ",
                           saved.stop_word, " in the file (", kNoIndex, ": never).");
  }
}

void require_different_names(const std::vector<SavedPort>& ports) {
  std::set<std::string_view> names;
  for (const SavedPort& port : ports) {
    if (!names.insert(port.name).second) {
      throw_invalid_argument("The file has two inputs or outputs of the name (", port.name, ").");
    }
  }
}

/// Those of tensors are among those of the graph.
void require_extents(const SavedGraph& saved) {
  for (const SavedTensor& tensor : saved.tensors) {
    const Shape& shape = tensor.spec.shape;
    const bool known =
        shape.fixed() || std::ranges::any_of(saved.extents, [&](const GraphExtent& extent) {
          return extent.word == shape.extent_word() && extent.max == shape.dim(0);
        });
    if (!known) {
      throw_invalid_argument("The tensor ", to_string(tensor.spec), " has the extent of word (",
                             shape.extent_word(), "), which the graph does not have.");
    }
  }
}

/// What the iterations of a launch leave.
IterationRows rows_for(const SavedGraph& saved, const StateBlock& state) {
  IterationRows rows;
  rows.capacity = saved.max_iterations;
  if (saved.max_iterations < 1 || saved.max_iterations > kMaxIterations ||
      (saved.max_iterations > 1 && !saved.has_state)) {
    throw_invalid_argument("The graph runs (", saved.max_iterations,
                           ") iterations per launch; 1 to ", kMaxIterations,
                           " are possible, and 1 without state.");
  }
  if (saved.max_iterations > 1 || !saved.extents.empty()) {
    std::vector<TensorSpec> outputs;
    for (const SavedPort& port : saved.outputs) {
      outputs.push_back(saved.tensors[port.tensor].spec);
    }
    rows.iteration = make_iteration();
    make_rows(state.layout().words(), outputs, rows);
  }
  return rows;
}

/// The grids that steps read on the device, and what the host is told ran, come from nowhere else
/// than from one plan at the head of the graph.
void require_iterations(const SavedGraph& saved, const ComputeGraph& graph,
                        const StateBlock& state) {
  const std::size_t fields = state ? state.layout().words() : 0;
  for (const StateGrowth& growth : growths_of(graph)) {
    if (growth.by.dynamic() && growth.by.word >= fields) {
      throw_invalid_argument("An op adds word (", growth.by.word, ") to a state of ", fields,
                             " fields.");
    }
  }
  const bool iterated = graph.iteration_tensor != kNoIndex;
  if (iterated != (saved.max_iterations > 1 || !saved.extents.empty())) {
    throw_invalid_argument("The graph runs up to (", saved.max_iterations,
                           ") iterations per launch, but ",
                           (iterated ? "counts them." : "does not count them."));
  }
  for (std::uint32_t n = 0; iterated && n < graph.nodes.size(); ++n) {
    const bool decides = graph.decides_iterations(n);
    if (decides != (n == 0) || (decides && graph.nodes[n].op->name != "plan")) {
      throw_invalid_argument(
          "Op ", n, " ", graph.nodes[n].op->name,
          " decides which iterations run, or none does; a plan at the head does.");
    }
  }
}

/// The first persistent tensor whose memory is cut otherwise than when the graph was saved.
std::optional<std::string> moved(const SavedGraph& saved, const ComputeGraph& graph) {
  for (std::size_t t = 0; t < saved.tensors.size(); ++t) {
    const SavedTensor& was = saved.tensors[t];
    const GraphTensor& is = graph.tensors[t];
    const Storage& storage = graph.storages[is.storage];
    const std::uint64_t bytes = storage.is_persistent() ? storage.bytes : 0;
    if (was.storage != is.storage || was.offset != is.offset || was.storage_bytes != bytes) {
      return "the tensor '" + saved.texts[was.name] + "': at (" + std::to_string(was.offset) +
             ") of a buffer of " + std::to_string(was.storage_bytes) + " bytes in the file, at (" +
             std::to_string(is.offset) + ") of " + std::to_string(bytes) + " here";
    }
  }
  return std::nullopt;
}

LoadedGraph load(const std::shared_ptr<ExecutorCore>& core, const SavedGraph& saved,
                 const LoadOptions& options) {
  SessionRecord session;
  session.recorded = true;
  session.precision = core->traits().precision;
  session.name = saved.name;
  session.begin_ns = now_ns();
  require_state(saved, options.state);
  require_extents_of(options.state, saved.extents);
  require_different_names(saved.inputs);
  require_different_names(saved.outputs);
  const IterationRows rows = rows_for(saved, options.state);
  require_extents(saved);
  GraphCapture capture(saved.name, core->next_owner());
  rebuild_graph(capture, *core, saved, options, rows);
  require_iterations(saved, capture.graph(), options.state);
  const std::int64_t planning = now_ns();
  PlanOptions plan_options = saved.options;
  plan_options.fusions = fusion_rules();
  PassPlan plan = plan_graph(capture, core->traits(), plan_options);
  plan.rows = rows;
  FinishReport report;
  report.record_ns = static_cast<std::uint64_t>(planning - session.begin_ns);
  report.plan_ns = static_cast<std::uint64_t>(now_ns() - planning);
  report.ops = static_cast<std::uint32_t>(plan.graph().nodes.size());
  std::optional<std::string> difference = moved(saved, plan.graph());
  const std::string structure = structure_hash(plan.graph());
  if (!difference && structure != saved.structure_hash) {
    throw_invalid_argument("Its structure is (", structure, "), but it says (",
                           saved.structure_hash, ").");
  }
  auto recording = Recording::make(core, plan, {.state = options.state},
                                   {.slots = options.slots.value_or(saved.slots)}, report);
  for (const SavedPort& port : saved.inputs) {
    if (!port.values.empty()) {
      recording->inputs().set(port.name, saved.tensors[port.tensor].spec.dtype, port.values);
    }
  }
  // What the file was made with says more than the consequences of it.
  const auto facts = first_difference(saved.fingerprint, fingerprint_of(*recording));
  difference = facts && difference ? *difference + "; " + *facts : difference ? difference : facts;
  if (SessionProfile* profile = core->profile()) {
    session.id = profile->next_id();
    const std::uint64_t id = session.id;
    profile->session(std::move(session), report, "loaded");
    recording->reporter().enter(id, report, recording->memory(), "");
  }
  return {CapturedGraph(std::move(recording)),
          {difference.has_value(), difference.value_or(std::string())}};
}

}  // namespace

LoadedGraph load_saved_graph(const std::shared_ptr<ExecutorCore>& core,
                             const std::filesystem::path& path, const LoadOptions& options) {
  const std::vector<std::byte> bytes = read_file(path);
  try {
    return load(core, decode_graph(bytes), options);
  } catch (const Error& cause) {
    throw_error(cause.code(), "The graph file '", path.string(),
                "' cannot be loaded: ", cause.what());
  }
}

void save_recording(const Recording& recording, const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = encode_graph(saved_graph_of(recording));
  NewFile file(path);
  file.write(bytes);
  file.publish();
}

}  // namespace reprise
