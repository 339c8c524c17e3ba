#include "debugger/cli/perfetto.h"

#include <algorithm>

#include "debugger/cli/trace_graph.h"
#include "debugger/cli/trace_writer.h"
#include "framework/profile/replay_status.h"

namespace reprise::cli {
namespace {

using StepTimes = std::vector<CapturedStepTime>;

constexpr std::int64_t kLatestNs = std::int64_t{1} << 60;

/// One run: its host and its devices.
class RunTrace {
 public:
  /// `zero_ns`: what the run's clock says when the trace begins.
  RunTrace(const std::string& path, const TraceChoice& choice, const TraceRun& run,
           std::int64_t zero_ns, TraceWriter& writer)
      : path_(path),
        whole_(!choice.replay),
        rows_(path, choice),
        run_(run),
        rank_("rank " + std::to_string(run.rank)),
        zero_ns_(zero_ns),
        writer_(writer),
        host_(writer.process(rank_ + ": host" + (run.name.empty() ? "" : " of " + run.name))),
        launches_(writer, host_, "launches", false),
        waits_(writer, host_, "waits", false) {
    for (TraceDevice& device : rows_.devices(run)) {
      const int process = writer.process(rank_ + ": " + device.name);
      devices_.emplace(device.id, Device{process, std::move(device.moments), {}});
    }
  }

  void write() {
    std::map<std::string, TraceLanes> threads;
    rows_.each_scope(run_, [&](const TraceScope& scope) {
      const std::int64_t begin = relative(scope.start_ns);
      const std::int64_t end = begin + scope.duration_ns;
      TraceLanes& lanes =
          threads.try_emplace(scope.thread, writer_, host_, "thread " + scope.thread, true)
              .first->second;
      writer_.slice(lanes.place(begin, end), scope.name, begin, end,
                    JsonFields().text("category", scope.category).json());
    });
    std::optional<TraceTrack> events;
    rows_.each_instant(run_, [&](const TraceInstant& instant) {
      events = events ? events : writer_.track(host_, "events");
      JsonFields about;
      for (const auto& [key, text] : instant.about) {
        about.text(key, text);
      }
      writer_.instant(*events, instant.name, relative(instant.time_ns), about.json());
    });
    rows_.each_sample(run_, [&](const TraceSample& sample) {
      writer_.counter(host_, sample.name, relative(sample.time_ns), sample.value);
    });
    rows_.each_replay_page(run_,
                           [&](const std::vector<TraceReplay>& page) { write_replays(page); });
  }

 private:
  struct Device {
    int process = 0;
    DeviceMoments moments;
    std::optional<TraceLanes> queue{};
  };

  std::int64_t relative(std::int64_t host_ns) const {
    return std::clamp<std::int64_t>(host_ns - zero_ns_, 0, kLatestNs);
  }

  const TraceGraph& graph(std::int64_t id) {
    const auto found = graphs_.find(id);
    if (found != graphs_.end()) {
      return found->second;
    }
    constexpr std::size_t kMaxNodes = 200'000;
    auto read = TraceGraph(read_capture(path_, {run_.id, id}));
    nodes_ += read.capture().nodes.size();
    if (nodes_ > kMaxNodes) {
      graphs_.clear();
      nodes_ = read.capture().nodes.size();
    }
    return graphs_.emplace(id, std::move(read)).first->second;
  }

  /// Those of one graph that follow each other at once: their step times are read together.
  void write_replays(std::span<const TraceReplay> page) {
    constexpr std::size_t kMaxSteps = 500'000;
    while (!page.empty()) {
      const TraceGraph& of = graph(page[0].graph);
      const std::size_t steps = of.capture().steps.size();
      const std::size_t max = std::max<std::size_t>(1, kMaxSteps / std::max<std::size_t>(1, steps));
      std::vector<std::int64_t> timed;
      std::size_t count = 0;
      while (count < page.size() && page[count].graph == page[0].graph && timed.size() < max) {
        if (page[count].has_step_times) {
          timed.push_back(page[count].id);
        }
        ++count;
      }
      std::map<std::int64_t, StepTimes> times;
      read_step_times(path_, timed, steps,
                      [&](std::size_t position, std::span<const CapturedStepTime> found) {
                        times[timed[position]].assign(found.begin(), found.end());
                      });
      for (const TraceReplay& replay : page.first(count)) {
        write_replay(replay, of, times[replay.id]);
      }
      page = page.subspan(count);
    }
  }

  void write_replay(const TraceReplay& replay, const TraceGraph& graph, const StepTimes& times) {
    const std::int64_t submit = relative(replay.submit_time_ns);
    const std::int64_t submitted = submit + replay.submit_ns.value_or(0);
    std::optional<TraceTrack> launch;
    if (replay.prepare_ns || replay.submit_ns) {
      const std::int64_t begin = std::max<std::int64_t>(0, submit - replay.prepare_ns.value_or(0));
      const std::string args = JsonFields().number("replay", replay.id).json();
      launch = launches_.place(begin, submitted);
      writer_.slice(*launch, "prepare", begin, submit, args);
      writer_.slice(*launch, "submit", submit, submitted, args);
    }
    std::int64_t end = submitted;
    const auto device = devices_.find(replay.device);
    if (replay.status != static_cast<std::int64_t>(ReplayStatus::skipped) &&
        device != devices_.end()) {
      end = write_work(replay, graph, times, device->second, launch);
    }
    if (replay.wait_ns) {  // when it began is not known: it ended with the work, or later
      const std::int64_t begin = std::max(submitted, end - *replay.wait_ns);
      writer_.slice(waits_.place(begin, begin + *replay.wait_ns), "wait", begin,
                    begin + *replay.wait_ns, JsonFields().number("replay", replay.id).json());
    }
  }

  /// When it ended.
  std::int64_t write_work(const TraceReplay& replay, const TraceGraph& graph,
                          const StepTimes& times, Device& device,
                          const std::optional<TraceTrack>& launch) {
    const std::int64_t submit = relative(replay.submit_time_ns);
    const auto moment = replay.device_start_ns
                            ? device.moments.host_ns(*replay.device_start_ns, replay.submit_time_ns)
                            : std::nullopt;
    // No work begins before it is submitted; clocks are compared within a deviation.
    const std::int64_t begin =
        moment ? std::max(relative(*moment), submit) : submit + replay.submit_ns.value_or(0);
    const std::int64_t took =
        std::max(replay.device_ns.value_or(replay.wait_ns.value_or(0)), TraceGraph::end_ns(times));
    if (!device.queue) {
      device.queue.emplace(writer_, device.process, "queue", false);
    }
    const TraceTrack track = device.queue->place(begin, begin + took);
    writer_.slice(track, replay.phase + " " + std::to_string(replay.sequence), begin, begin + took,
                  arguments(replay, moment.has_value()));
    graph.write(writer_, track, begin, times);
    if (!whole_) {
      graph.write_memory(writer_, device.process, begin, times);
    }
    if (launch && replay.submit_ns) {
      writer_.arrow(*launch, std::min(begin, submit + *replay.submit_ns / 2), track, begin,
                    replay.id);
    }
    return begin + took;
  }

  static std::string arguments(const TraceReplay& replay, bool compared) {
    JsonFields fields;
    fields.number("replay", replay.id)
        .number("recording", replay.recording)
        .number("graph", replay.graph)
        .number("sequence", replay.sequence)
        .number("submission", replay.submission)
        .number("iteration", replay.iteration)
        .text("timing_mode",
              name_of(static_cast<TimingMode>(std::clamp<std::int64_t>(replay.timing_mode, 0, 3))))
        .number("warm_up", replay.warm_up ? 1 : 0)
        .number("status", replay.status);
    if (replay.device_ns) {
      fields.number("device_ns", *replay.device_ns)
          .text("begin", compared ? "by the device's clock" : "assumed: when submitting ended");
    } else {
      fields.text("duration", "assumed: as long as the host waited");
    }
    return fields.json();
  }

  const std::string& path_;
  const bool whole_;
  TraceRows rows_;
  const TraceRun& run_;
  std::string rank_;
  std::int64_t zero_ns_;
  TraceWriter& writer_;
  int host_;
  TraceLanes launches_, waits_;
  std::map<std::int64_t, Device> devices_;
  std::map<std::int64_t, TraceGraph> graphs_;
  std::size_t nodes_ = 0;  // of graphs_
};

}  // namespace

void write_perfetto(const std::string& path, const TraceChoice& choice, std::ostream& out) {
  const TraceRows rows(path, choice);
  const std::vector<TraceRun> runs = rows.runs();
  // Clocks of one machine agree; others are set by the calendar.
  const auto ahead = [&](const TraceRun& run) {
    return run.host == runs.front().host
               ? 0
               : run.calendar_ns.value_or(0) - runs.front().calendar_ns.value_or(0);
  };
  std::int64_t zero_ns = kLatestNs;  // on the clock of the first run
  std::string title = choice.replay      ? "replay " + std::to_string(*choice.replay) + " of run"
                      : runs.size() == 1 ? "run"
                                         : "runs";
  for (const TraceRun& run : runs) {
    zero_ns = std::min(zero_ns, rows.first_ns(run) + ahead(run));
    title += " " + std::to_string(run.id);
  }
  TraceWriter writer(out);
  writer.begin(title);
  for (const TraceRun& run : runs) {
    RunTrace(path, choice, run, zero_ns - ahead(run), writer).write();
  }
  writer.end();
}

}  // namespace reprise::cli
