// verify(): the runs of a pass, and what each of them left.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "framework/session/checks/memory_snapshot.h"
#include "framework/session/device/value_text.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/record/direct_session.h"
#include "framework/session/record/expert_tensors.h"
#include "framework/session/replay/recording.h"
#include "framework/session/state/state_snapshot.h"
#include "reprise/session/numerics.h"
#include "reprise/session/verify.h"

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

/// Null: the run left none of that name.
const OutputSet::Output* find(const OutputSet& set, const std::string& name) {
  const auto it = set.all().find(name);
  return it == set.all().end() ? nullptr : &it->second;
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

/// Bit for bit, of two tensors of one size; of block formats byte by byte. Empty if they are equal.
std::optional<VerifyDifference> difference_of(DType dtype, std::span<const std::byte> expected,
                                              std::span<const std::byte> actual) {
  const std::size_t size = element_bytes(dtype);
  std::optional<VerifyDifference> difference;
  for (std::size_t at = 0; at + size <= expected.size(); at += size) {
    const auto a = expected.subspan(at, size);
    const auto b = actual.subspan(at, size);
    if (std::memcmp(a.data(), b.data(), size) == 0) {
      continue;
    }
    if (!difference) {
      difference = VerifyDifference{.element = at / size,
                                    .expected = text_of_element(dtype, a),
                                    .actual = text_of_element(dtype, b)};
    }
    double apart = std::abs(value_of_element(dtype, a) - value_of_element(dtype, b));
    if (std::isnan(apart)) {
      apart = std::numeric_limits<double>::infinity();
    }
    difference->max_abs = std::max(difference->max_abs, apart);
    ++difference->count;
  }
  return difference;
}

/// Memory and state are restored when it dies.
class Verification {
 public:
  Verification(GraphExecutor& executor, const RecordFunction& pass, VerifyOptions options)
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

  VerifyReport run() {
    const OutputSet direct = run_directly();
    keep(&Written::direct);
    memory_.restore();
    state_.restore();
    SessionOptions recorded = options_.session;
    recorded.ops_per_submit = 0;  // of the direct run alone
    GraphSession session = executor_.begin_recorded(std::move(recorded));
    pass_(session);
    const CapturedGraph graph = session.finish(options_.finish).graph;
    Recording& recording = graph.inner();
    const std::size_t known = written_.size();
    watch(recording.graph(), recording.memory(), 0);
    for (std::size_t i = known; i < written_.size(); ++i) {
      written_[i].direct = read(written_[i].part);  // the direct run left it as it is
    }
    const OutputSet first = OutputSet::of(recording.launch({}));
    keep(&Written::first_run);
    memory_.restore();
    state_.restore_but_host_owned();  // a replay does not set again what the pass sets
    const OutputSet replay = OutputSet::of(recording.launch({}));
    keep(&Written::replay);
    memory_.restore();
    state_.restore();
    memory_.forget();
    report_.name = recording.graph().name;
    compare_outputs(recording, direct, first, replay);
    for (const Written& w : written_) {
      const DType dtype = w.part.spec.dtype;
      add(recording,
          {w.part.name, w.part.spec, difference_of(dtype, w.direct, w.first_run),
           difference_of(dtype, w.direct, w.replay)},
          w.direct, w.replay);
    }
    return report_;
  }

 private:
  using Bytes = std::vector<std::byte>;
  /// Persistent memory that the pass writes, and what it holds after each run.
  struct Written {
    StatePart part;
    Bytes direct{}, first_run{}, replay{};
  };

  OutputSet run_directly() {
    GraphSession session = executor_.begin(options_.session);
    std::size_t known = 0;
    dynamic_cast<DirectSession&>(session.inner()).before_submit([&](const GraphCapture& capture) {
      watch(capture.graph(), capture, std::exchange(known, capture.graph().nodes.size()));
    });
    pass_(session);
    const FinishResult result = session.finish();
    return result.outputs();
  }

  /// What the nodes from `first` on write is kept as it is and compared from now on. `memory`: a
  /// GraphCapture or Memory, which has the buffers of storages.
  template <class Buffers>
  void watch(const ComputeGraph& graph, const Buffers& memory, std::size_t first) {
    const auto state = options_.session.state.buffers();
    for_each_persistent_write(graph, first, [&](const GraphTensor& tensor) {
      const std::string_view name = graph.names.text(tensor.name);
      bool own = false;  // each session has its own: direct ones count uses on the host
      for_each_expert_tensor(
          options_.session.experts,
          [&](const std::string& expert, const TensorSpec&) { own = own || expert == name; });
      if (own) {
        return;
      }
      const std::shared_ptr<Buffer>& buffer = memory.buffer_of(tensor.storage);
      memory_.add(buffer, tensor.offset, tensor.offset + tensor.spec.span_bytes());
      const StatePart part{"tensor '" + std::string(name) + "'", buffer, tensor.offset,
                           row_of(tensor.spec.dtype, tensor.spec.span_bytes())};
      const bool known =
          std::ranges::any_of(written_, [&](const Written& w) { return same_place(w.part, part); });
      if (!known && std::ranges::find(state, buffer) == state.end() && part.spec.bytes() > 0) {
        written_.push_back({part});
      }
    });
  }

  Bytes read(const StatePart& part) const {
    Bytes bytes(part.spec.bytes());
    executor_.device().read(part.buffer, part.offset, bytes);
    return bytes;
  }

  void keep(Bytes Written::*after) {
    for (Written& w : written_) {
      w.*after = read(w.part);
    }
  }

  void compare_outputs(const Recording& recording, const OutputSet& direct, const OutputSet& first,
                       const OutputSet& replay) {
    const auto compare = [&](const std::string& name) {
      const OutputSet::Output* expected = find(direct, name);
      const OutputSet::Output* recorded = find(first, name);
      const OutputSet::Output* replayed = find(replay, name);
      VerifiedTensor tensor{"output '" + name + "'", (expected ? expected : recorded)->spec};
      tensor.mismatch = mismatch_of(expected, recorded);
      if (tensor.mismatch.empty()) {
        const DType dtype = expected->spec.dtype;
        tensor.first_run = difference_of(dtype, expected->bytes, recorded->bytes);
        tensor.replay = difference_of(dtype, expected->bytes, replayed->bytes);
      }
      const auto port = std::ranges::find(recording.outputs(), name, &Port::name);
      add(recording, std::move(tensor), expected ? expected->bytes : Bytes(),
          replayed ? replayed->bytes : Bytes(),
          port == recording.outputs().end() ? std::nullopt : std::optional(port->tensor));
    };
    for (const auto& [name, output] : direct.all()) {
      compare(name);
    }
    for (const auto& [name, output] : first.all()) {
      if (find(direct, name) == nullptr) {
        compare(name);
      }
    }
  }

  /// To the report, and to the table comparisons where there is a profiling database.
  void add(const Recording& recording, VerifiedTensor tensor, const Bytes& direct,
           const Bytes& replay, std::optional<std::uint32_t> index = {}) {
    if (recording.reporter().id() != 0) {
      ComparisonRecord record{.recording = recording.reporter().id(),
                              .tensor = index,
                              .name = tensor.name,
                              .reference = "direct"};
      record.pass = tensor.equal();
      record.time_ns = now_ns();
      if (direct.size() == replay.size()) {
        const Deviation d = deviation_of(tensor.spec.dtype, replay, direct, 0);
        record.max_abs = d.max_abs;
        record.max_rel = d.max_rel;
        record.rmse = d.rmse;
        record.cosine = d.cosine;
        record.first_bad = d.first_bad;
      } else {
        record.max_abs = record.max_rel = record.rmse = record.cosine = std::nan("");
      }
      recording.core().profile()->sink().send(std::move(record));
    }
    report_.tensors.push_back(std::move(tensor));
  }

  GraphExecutor& executor_;
  const RecordFunction& pass_;
  VerifyOptions options_;
  StateSnapshot state_;
  MemorySnapshot memory_;
  std::vector<Written> written_;
  VerifyReport report_;
};

}  // namespace

VerifyReport verify(GraphExecutor& executor, const RecordFunction& pass,
                    const VerifyOptions& options) {
  executor.synchronize();
  return Verification(executor, pass, options).run();
}

}  // namespace reprise
