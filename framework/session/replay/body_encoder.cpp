#include "framework/session/replay/body_encoder.h"

#include <algorithm>

#include "framework/graph/structure_hash.h"
#include "framework/session/replay/labels.h"

namespace reprise {
namespace {

[[noreturn]] void fail_at(const Error& cause, const ComputeGraph& graph, std::uint32_t node) {
  ErrorPlace place{.graph = graph.name};
  if (node < graph.nodes.size()) {
    const Node& n = graph.nodes[node];
    place.op = node;
    place.scope = graph.names.path(n.scope);
    place.where = n.where;
  }
  throw Error(cause, "(while encoding " + describe_node(graph, node) + " of '" + graph.name + "')",
              std::move(place));
}

}  // namespace

BodyEncoder::BodyEncoder(ExecutorCore& core, const ExecutionPlan& plan, const Memory& memory,
                         const HostSteps& host_steps, const ReplayReporter& reporter)
    : core_(core), plan_(plan), memory_(memory), host_steps_(host_steps), reporter_(reporter) {
  if (core_.traits().replays) {
    plain_ = encode(all());
  }
}

Body BodyEncoder::encode_body(StepRange range, TimingMode mode,
                              std::span<const std::shared_ptr<Buffer>> pools,
                              std::shared_ptr<Timestamps> stamps, TapStaging taps) const {
  const ComputeGraph& graph = *plan_.graph;
  DriverWork work(core_.driver_events(), graph, {.recording = reporter_.event_id()});
  Backend& backend = core_.device().backend();
  const std::span<const StagedHostStep> host_steps = host_steps_.in(range);
  auto host_step = host_steps.begin();
  Body body;
  const auto open = [&](std::shared_ptr<HostSignal> after) {
    return backend.encoder({.name = graph.name,
                            .reusable = core_.traits().replays,
                            .ends_at_host = host_step != host_steps.end(),
                            .after = std::move(after)});
  };
  std::unique_ptr<Encoder> encoder = open(nullptr);
  if (mode != TimingMode::off) {
    body.stamps =
        stamps == nullptr ? backend.timestamps(range.end - range.begin + 1) : std::move(stamps);
    encoder->reset(body.stamps);
    encoder->stamp(body.stamps, 0);
  }
  std::optional<Labels> labels(std::in_place, *encoder);
  const auto close = [&]() -> EncodingRef {
    labels->close();
    return encoder->finish();
  };
  auto barrier = std::ranges::lower_bound(plan_.barriers, range.begin, {}, &Barrier::before_step);
  const auto tapped = std::ranges::find_if(
      taps.taps, [&](const Tap& tap) { return tap.after_step + 1 >= range.begin; });
  taps.taps = taps.taps.subspan(static_cast<std::size_t>(tapped - taps.taps.begin()));
  try {
    if (range.begin > 0) {  // behind a stop, whose results the host has written
      encode_taps(*encoder, taps, range.begin - 1, pools);
    }
    for (std::uint32_t s = range.begin; s < range.end; ++s) {
      work.at(plan_.steps[s].node);
      labels->enter(graph.names, graph.nodes[plan_.steps[s].node].scope);
      const bool waits = barrier != plan_.barriers.end() && barrier->before_step == s;
      barrier += waits ? 1 : 0;
      if (waits || mode == TimingMode::node_serialised || core_.serialize()) {
        encoder->barrier();
      }
      if (is_host_step(plan_.steps[s])) {
        host_step->encode_reads(*encoder, pools);
        (body.encoding == nullptr ? body.encoding : body.segments.emplace_back()) = close();
        const StagedHostStep& done = *host_step++;
        encoder = open(host_steps_.signal());
        labels.emplace(*encoder);
        done.encode_writes(*encoder, pools);
      } else {
        encoder->step(plan_.steps, s, pools);
      }
      encode_taps(*encoder, taps, s, pools);
      if (body.stamps != nullptr) {
        encoder->stamp(body.stamps, s - range.begin + 1);
      }
    }
  } catch (const Error& cause) {
    fail_at(cause, graph, work.node());
  }
  (body.encoding == nullptr ? body.encoding : body.segments.emplace_back()) = close();
  return body;
}

Body BodyEncoder::encode(StepRange range, const TapStaging& taps, std::uint32_t iterations,
                         TimingMode mode) const {
  Body body = encode_body(range, mode, memory_.buffers(), nullptr, taps);
  for (std::uint32_t i = 1; i < iterations && !core_.traits().replays; ++i) {
    body.next.push_back(encode_body(range, mode, memory_.buffers(), body.stamps, taps).encoding);
  }
  return body;
}

const Body& BodyEncoder::body(TimingMode mode, std::uint32_t iterations) {
  const bool by_node = mode != TimingMode::off && mode != TimingMode::replay;
  if (!core_.traits().replays) {
    once_ = encode(all(), {}, iterations, by_node ? mode : TimingMode::off);
    return once_;
  }
  if (!by_node) {
    return plain_;
  }
  Body& timed = mode == TimingMode::node ? timed_ : serialised_;
  if (timed.encoding == nullptr) {
    if (SessionProfile* profile = core_.profile()) {
      profile->timestamp_bias();
    }
    timed = encode(all(), {}, 1, mode);
  }
  return timed;
}

Body BodyEncoder::rest(StepRange range, const TapStaging& taps) {
  if (!taps.taps.empty() || !core_.traits().replays || range.end != all().end) {
    return encode(range, taps);
  }
  Body& body = rests_[range.begin];
  if (body.encoding == nullptr) {
    body = encode(range);
  }
  return body;
}

Body BodyEncoder::encode_over(const Memory& memory) const {
  return encode_body(all(), TimingMode::off, memory.buffers());
}

void BodyEncoder::replace(Body plain) {
  plain_ = std::move(plain);
  timed_ = serialised_ = {};
  rests_.clear();
}

}  // namespace reprise
