#include "framework/session/checks/verification.h"

#include <algorithm>
#include <cmath>

#include "framework/session/checks/verify_difference.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/record/direct_session.h"
#include "framework/session/replay/recording.h"
#include "reprise/session/numerics.h"

namespace reprise {
namespace {

/// Elements that lie one after another.
TensorSpec row_of(DType dtype, std::uint64_t bytes) {
  const DTypeInfo& info = info_of(dtype);
  return {{static_cast<std::int64_t>(bytes / info.block_bytes * info.block_elements)}, dtype};
}

bool same_place(const StatePart& a, const StatePart& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.spec.dtype == b.spec.dtype &&
         a.spec.shape == b.spec.shape;
}

std::string mismatch_of(const OutputSet::Output* direct, const OutputSet::Output* recorded) {
  if (direct == nullptr || recorded == nullptr) {
    return std::string("only the ") + (direct == nullptr ? "recorded" : "direct") +
           " session has it";
  }
  const TensorSpec &a = direct->spec, &b = recorded->spec;
  return a.shape == b.shape && a.dtype == b.dtype
             ? ""
             : to_string(a) + " in the direct session, " + to_string(b) + " in the recorded one";
}

}  // namespace

Verification::Verification(GraphExecutor& executor, const RecordFunction& pass,
                           VerifyOptions options)
    : executor_(executor),
      pass_(pass),
      options_(std::move(options)),
      state_(options_.session.state),
      memory_(executor.device()) {
  options_.session.max_iterations = 1;
  options_.finish.run = false;
  for (const std::shared_ptr<Buffer>& buffer : options_.session.state.buffers()) {
    memory_.add(buffer, 0, buffer->bytes());
  }
  for (StatePart& part : state_.parts()) {
    written_.push_back({std::move(part)});
  }
}

VerifyReport Verification::run() {
  const OutputSet direct = run_directly();
  keep(&Written::direct);
  memory_.restore();
  state_.restore();
  SessionOptions recorded = options_.session;
  recorded.ops_per_submit = 0;  // of the direct run alone
  GraphSession session = executor_.begin_recorded(std::move(recorded));
  pass_(session);
  CapturedGraph graph = session.finish(options_.finish).graph;
  const std::size_t known = written_.size();
  const Memory& memory = graph.inner().memory();
  const auto buffer_of = [&](std::uint32_t storage) -> const std::shared_ptr<Buffer>& {
    return memory.buffer_of(storage);
  };
  watch(graph.graph(), buffer_of, 0);
  for (std::size_t i = known; i < written_.size(); ++i) {
    written_[i].direct = read(written_[i].part);  // the direct run left it as it is
  }
  const OutputSet first = launch(graph);
  keep(&Written::first_run);
  memory_.restore();
  state_.restore_but_host_owned();  // a replay does not set again what the pass sets
  const OutputSet replay = launch(graph);
  keep(&Written::replay);
  memory_.restore();
  state_.restore();
  memory_.forget();
  VerifyReport report{.name = graph.graph().name};
  compare_outputs(direct, first, replay, report);
  for (const Written& w : written_) {
    const DType dtype = w.part.spec.dtype;
    report.tensors.push_back({w.part.name, w.part.spec, difference_of(dtype, w.direct, w.first_run),
                              difference_of(dtype, w.direct, w.replay)});
  }
  profile(graph, direct, replay, report);
  return report;
}

void Verification::profile(CapturedGraph& graph, const OutputSet& direct, const OutputSet& replay,
                           const VerifyReport& report) const {
  const Recording& recording = graph.inner();
  if (recording.reporter().id() == 0) {
    return;
  }
  const auto send = [&](ComparisonRecord record, const VerifiedTensor& tensor, Bytes expected,
                        Bytes actual) {
    record.recording = recording.reporter().id();
    record.name = tensor.name;
    record.reference = "direct";
    record.pass = tensor.equal();
    record.time_ns = now_ns();
    if (expected.size() == actual.size()) {
      const Deviation d = deviation_of(tensor.spec.dtype, actual, expected, 0);
      record.max_abs = d.max_abs;
      record.max_rel = d.max_rel;
      record.rmse = d.rmse;
      record.cosine = d.cosine;
      record.first_bad = d.first_bad;
    } else {
      record.max_abs = record.max_rel = record.rmse = record.cosine = std::nan("");
    }
    recording.core().profile()->sink().send(std::move(record));
  };
  const auto bytes_of = [](const OutputSet& set, const std::string& name) {
    const auto it = set.all().find(name);
    return it == set.all().end() ? Bytes() : it->second.bytes;
  };
  std::size_t written = 0;
  for (const VerifiedTensor& tensor : report.tensors) {
    const auto port = std::ranges::find(recording.outputs(), tensor.name,
                                        [](const auto& p) { return "output '" + p.name + "'"; });
    if (port != recording.outputs().end()) {
      send({.tensor = port->tensor}, tensor, bytes_of(direct, port->name),
           bytes_of(replay, port->name));
    } else if (tensor.mismatch.empty()) {
      const Written& w = written_[written++];
      send({}, tensor, w.direct, w.replay);
    } else {
      send({}, tensor, {}, {std::byte{}});
    }
  }
}

OutputSet Verification::run_directly() {
  GraphSession session = executor_.begin(options_.session);
  std::size_t known = 0;
  dynamic_cast<DirectSession&>(session.inner()).before_submit([&](const GraphCapture& capture) {
    const auto buffer_of = [&](std::uint32_t storage) -> const std::shared_ptr<Buffer>& {
      return capture.buffer_of(storage);
    };
    watch(capture.graph(), buffer_of, std::exchange(known, capture.graph().nodes.size()));
  });
  pass_(session);
  const FinishResult result = session.finish();
  return result.outputs();
}

OutputSet Verification::launch(CapturedGraph& graph) {
  graph.launch();
  OutputSet outputs;
  if (graph.iterations() == 0) {  // no rows: there are none
    return outputs;
  }
  for (const std::string& name : graph.output_names()) {
    const auto [spec, bytes] = graph.output(name);
    outputs.add(name, {spec, {bytes.begin(), bytes.end()}});
  }
  return outputs;
}

void Verification::watch(const ComputeGraph& graph, const BufferOf& buffer_of, std::size_t first) {
  const auto state = options_.session.state.buffers();
  for_each_persistent_write(graph, first, [&](const GraphTensor& tensor) {
    const std::shared_ptr<Buffer>& buffer = buffer_of(tensor.storage);
    memory_.add(buffer, tensor.offset, tensor.offset + tensor.spec.span_bytes());
    const StatePart part{"tensor '" + std::string(graph.names.text(tensor.name)) + "'", buffer,
                         tensor.offset, row_of(tensor.spec.dtype, tensor.spec.span_bytes())};
    const bool known =
        std::ranges::any_of(written_, [&](const Written& w) { return same_place(w.part, part); });
    if (!known && std::ranges::find(state, buffer) == state.end() && part.spec.bytes() > 0) {
      written_.push_back({part});
    }
  });
}

Verification::Bytes Verification::read(const StatePart& part) const {
  Bytes bytes(part.spec.bytes());
  executor_.device().read(part.buffer, part.offset, bytes);
  return bytes;
}

void Verification::keep(Bytes Written::*after) {
  for (Written& w : written_) {
    w.*after = read(w.part);
  }
}

void Verification::compare_outputs(const OutputSet& direct, const OutputSet& first,
                                   const OutputSet& replay, VerifyReport& report) {
  const auto find = [](const OutputSet& set, const std::string& name) {
    const auto it = set.all().find(name);
    return it == set.all().end() ? nullptr : &it->second;
  };
  std::vector<std::string> names;
  for (const OutputSet* set : {&direct, &first}) {
    for (const auto& [name, output] : set->all()) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  for (const std::string& name : names) {
    const OutputSet::Output* expected = find(direct, name);
    const OutputSet::Output* recorded = find(first, name);
    VerifiedTensor tensor{"output '" + name + "'",
                          expected == nullptr ? recorded->spec : expected->spec};
    tensor.mismatch = mismatch_of(expected, recorded);
    if (tensor.mismatch.empty()) {
      const DType dtype = expected->spec.dtype;
      tensor.first_run = difference_of(dtype, expected->bytes, recorded->bytes);
      tensor.replay = difference_of(dtype, expected->bytes, find(replay, name)->bytes);
    }
    report.tensors.push_back(std::move(tensor));
  }
}

}  // namespace reprise
