#include "debugger/model/document_state.h"

#include <algorithm>
#include <utility>

namespace reprise::debugger {
namespace {

// How often a file that changes all the time is read, and a silent writer is looked after.
constexpr std::chrono::milliseconds kRefreshEvery{100}, kTimingsEvery{400}, kLookAfterEvery{1000};
constexpr int kRestPerWork = 4;  // a file that takes long to read is read less often

/// Of the latest run, the one with the most replays.
CaptureId default_of(const std::vector<CaptureSummary>& captures) {
  const auto latest = captures.front().id.run;
  const auto end = std::find_if(captures.begin(), captures.end(),
                                [&](const CaptureSummary& c) { return c.id.run != latest; });
  return std::max_element(
             captures.begin(), end,
             [](const CaptureSummary& a, const CaptureSummary& b) { return a.replays < b.replays; })
      ->id;
}

}  // namespace

bool Document::State::poll(bool look, bool eager) {
  background.poll();
  if (look && watch.changed()) {
    due[refreshing] = true;
    ++file_version;
  }
  // A writer may die, and a file that could not be read recover, without a change of it.
  if (look && (live() || !problems[refreshing].empty()) &&
      Clock::now() - refreshed >= kLookAfterEvery) {
    due[refreshing] = true;
  }
  start_next(eager);
  revision += changed ? 1U : 0U;
  return std::exchange(changed, false);
}

void Document::State::start_next(bool eager) {
  // What the user waits for comes first.
  for (const Task task : {loading, reading_range, reading_steps, reading_histogram, refreshing}) {
    if (!background.busy() && due[task]) {
      start(task, eager);
    }
  }
}

void Document::State::start(Task task, bool eager) {
  const Clock::duration pause =
      std::max<Clock::duration>(kRefreshEvery, kRestPerWork * refresh_took);
  if (task == refreshing && !eager && Clock::now() - refreshed < pause) {
    return;
  }
  due[task] = false;
  running = task;
  switch (task) {
    case refreshing:
      start_refresh(eager);
      break;
    case loading:
      start_load();
      break;
    case reading_range:
      start_range();
      break;
    case reading_steps:
      start_steps();
      break;
    default:
      start_histogram();
  }
}

template <class Read, class Take>
void Document::State::start_job(Task task, Read read, Take take) {
  background.start([this, task, read = std::move(read),
                    take = std::move(take)](const std::stop_token& stop) -> Background::TakeOver {
    try {
      // A TakeOver is copied; what it carries is not.
      auto found = std::make_shared<decltype(read(stop))>(read(stop));
      return [this, task, take, found] {
        set_problem(task, "");
        take(std::move(*found));
      };
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& e) {
      return [this, task, why = std::string(e.what())] { set_problem(task, why); };
    }
  });
}

void Document::State::set_problem(Task task, std::string why) {
  if (problems[task] == why) {
    return;
  }
  problems[task] = std::move(why);
  const auto first =
      std::find_if(problems.begin(), problems.end(), [](const auto& p) { return !p.empty(); });
  problem = first == problems.end() ? "" : *first;
  changed = true;
}

void Document::State::start_refresh(bool eager) {
  refreshed = Clock::now();
  const bool read_timings = timings_version != file_version &&
                            (eager || !live() || refreshed - timings_read >= kTimingsEvery);
  if (read_timings) {
    timings_read = refreshed;
  }
  auto shown = capture == nullptr ? std::nullopt : std::optional(shown_capture(*capture, replays));
  start_job(
      refreshing,
      [from = path, shown, read_timings](const std::stop_token& stop) {
        const Clock::time_point start = Clock::now();
        Refresh found = refresh(from, shown, read_timings, stop);
        found.took = Clock::now() - start;
        return found;
      },
      [this, version = file_version](Refresh found) { take_refresh(std::move(found), version); });
}

void Document::State::take_refresh(Refresh found, std::uint64_t version) {
  refresh_took = found.took;
  changed = changed || captures != found.captures;
  const bool first = !captures;
  captures = std::move(found.captures);
  if (first) {
    know_runs();
  }
  if (captures->empty()) {
    chosen.reset();
    forget_capture();
    return;
  }
  if (chosen_summary() == nullptr) {
    chosen = default_of(*captures);
  }
  if (capture == nullptr || found.replaced || capture->summary.id != *chosen) {
    due[loading] = true;
    return;
  }
  if (!found.new_replays.rows.empty()) {
    replays.rows.insert(replays.rows.end(), found.new_replays.rows.begin(),
                        found.new_replays.rows.end());
    replays.state.insert(replays.state.end(), found.new_replays.state.begin(),
                         found.new_replays.state.end());
    replays.odd_numbers += found.new_replays.odd_numbers;
    changed = true;
    if (follows) {
      show_newest();
    }
  }
  if (found.timings) {
    timings = std::move(*found.timings);
    timings_version = version;
    changed = true;
  }
  // What failed is tried again: perhaps the file has recovered.
  due[reading_steps] = due[reading_steps] || !problems[reading_steps].empty();
  if (changed || !problem.empty()) {
    find_sources();
    show_statistics();
  }
  due[refreshing] = due[refreshing] || (timings_version != file_version && !live());
}

void Document::State::start_load() {
  start_job(
      loading,
      [from = path, id = *chosen](const std::stop_token& stop) {
        return load_capture(from, id, stop);
      },
      [this, version = file_version](LoadedCapture loaded) {
        take_load(std::move(loaded), version);
      });
}

void Document::State::take_load(LoadedCapture loaded, std::uint64_t version) {
  forget_capture();
  changed = true;  // also the first capture there is
  capture = std::move(loaded.capture);
  replays = std::move(loaded.replays);
  timings = std::move(loaded.timings);
  timings_version = version;
  timings_read = Clock::now();
  find_sources();
  show_statistics();
}

void Document::State::start_range() {
  std::vector<std::int64_t> ids = timed_replays(replays, range, *source);
  start_job(
      reading_range,
      [from = path, of = capture, ids = std::move(ids), asked = range, size = replays.rows.size(),
       in = *source](const std::stop_token& stop) {
        RangeTimes found = read_range(from, *of, ids, stop);
        found.range = asked;
        found.table_size = size;
        found.statistics.source = in;
        return found;
      },
      [this](RangeTimes found) { take_range(std::move(found)); });
}

void Document::State::take_range(RangeTimes found) {
  range_times = std::move(found);
  const ReplayRange of = range_times.range.value_or(ReplayRange{0, range_times.table_size - 1});
  const auto rows = replays.rows.begin();
  std::for_each(rows + static_cast<std::ptrdiff_t>(of.first),
                rows + static_cast<std::ptrdiff_t>(of.last) + 1,
                [&](const ReplayRow& row) { range_times.statistics.in_range.add(row); });
  // Shown even if the user moved on to another range: closer than what is on the screen.
  if (range || table_of_source() == nullptr) {
    statistics = range_times.statistics;
    of_range = true;
    changed = true;
    show_histogram();
  }
  show_statistics();
}

void Document::State::start_steps() {
  start_job(
      reading_steps,
      [from = path, id = replays.rows[*shown_replay].id, steps = capture->steps.size()](
          const std::stop_token& stop) { return read_one_replay(from, id, steps, stop); },
      [this](std::vector<CapturedStepTime> found) {
        if (!due[reading_steps]) {  // nobody asked for another replay meanwhile
          step_times = std::move(found);
          changed = true;
        }
      });
}

void Document::State::start_histogram() {
  start_job(
      reading_histogram,
      [from = path, id = capture->summary.id, in = *source,
       node = *histogram_node](const std::stop_token& stop) {
        return read_node_histogram(from, id, in.phase, in.mode, node, stop);
      },
      [this](std::vector<HistogramBucket> found) {
        if (!due[reading_histogram] && !of_range && histogram_node) {
          histogram = std::move(found);
          changed = true;
        }
      });
}

void Document::State::show_replay(std::optional<std::size_t> replay) {
  if (replay && *replay >= replays.rows.size()) {
    replay.reset();
  }
  if (replay == shown_replay) {
    return;
  }
  shown_replay = replay;
  if (background.busy() && running == reading_steps) {
    background.cancel();  // times, or a problem, of a replay that nobody looks at
  }
  step_times.clear();
  set_problem(reading_steps, "");
  due[reading_steps] = replay.has_value();
  changed = true;
}

void Document::State::show_newest() {
  std::size_t newest = replays.rows.size();
  while (newest > 0 && replays.rows[newest - 1].timing_mode != TimingMode::node &&
         replays.rows[newest - 1].timing_mode != TimingMode::node_serialised) {
    --newest;
  }
  newest = newest == 0 ? replays.rows.size() : newest;
  show_replay(newest == 0 ? std::nullopt : std::optional(newest - 1));
}

void Document::State::know_runs() {
  for (const CaptureSummary& summary : captures.value_or(std::vector<CaptureSummary>())) {
    known_run = std::max(known_run, summary.id.run);
  }
}

std::optional<CaptureId> Document::State::added_run() const {
  if (!captures || captures->empty() || captures->front().id.run <= known_run) {
    return std::nullopt;
  }
  return default_of(*captures);
}

const CaptureSummary* Document::State::chosen_summary() const {
  if (!captures || !chosen) {
    return nullptr;
  }
  const auto found = std::find_if(captures->begin(), captures->end(),
                                  [&](const CaptureSummary& c) { return c.id == *chosen; });
  return found == captures->end() ? nullptr : &*found;
}

bool Document::State::live() const {
  const CaptureSummary* summary = chosen_summary();
  return summary != nullptr && summary->exit_state == "running" && problems[refreshing].empty();
}

void Document::State::forget_capture() {
  changed = changed || capture != nullptr;
  capture.reset();
  replays = {};
  replay_statistics.reset();
  tally = {};
  timings.clear();
  sources.clear();
  source.reset();
  range.reset();
  range_times = {};
  of_range = false;
  statistics = {};
  shown_replay.reset();
  follows = false;
  step_times.clear();
  histogram_node.reset();
  histogram.clear();
  due[loading] = due[reading_range] = due[reading_steps] = due[reading_histogram] = false;
  for (const Task task : {reading_range, reading_steps, reading_histogram}) {
    set_problem(task, "");
  }
}

void Document::State::find_sources() {
  tally.update(replays);
  sources.clear();
  for (const NodeTimingTable& table : timings) {
    sources.push_back({table.phase, table.timing_mode});
  }
  // Of a run that ended before its first sums were written only the replays themselves are left.
  for (const TimingSource& seen : tally.sources) {
    if (std::find(sources.begin(), sources.end(), seen) == sources.end()) {
      sources.push_back(seen);
    }
  }
  if (!source || std::find(sources.begin(), sources.end(), *source) == sources.end()) {
    source = sources.empty() ? std::nullopt : std::optional(sources.front());
  }
}

const NodeTimingTable* Document::State::table_of_source() const {
  const auto found = std::find_if(timings.begin(), timings.end(), [&](const NodeTimingTable& t) {
    return source && t.phase == source->phase && t.timing_mode == source->mode;
  });
  return found == timings.end() ? nullptr : &*found;
}

void Document::State::show_statistics() {
  due[reading_range] = false;
  const NodeTimingTable* table = table_of_source();
  if (!source) {
    statistics = {};
    of_range = false;
    show_histogram();
  } else if (!range && table != nullptr) {
    statistics = {};
    statistics.nodes = table->nodes;
    statistics.nodes.resize(capture->nodes.size());
    add_up(statistics);
    statistics.in_range = tally.counts;
    statistics.source = *source;
    of_range = false;
    show_histogram();
  } else {
    due[reading_range] = !of_range || range_times.range != range ||
                         range_times.statistics.source != *source ||
                         (!range && range_times.table_size != replays.rows.size());
  }
  if (!due[reading_range]) {
    set_problem(reading_range, "");
  }
}

void Document::State::show_histogram() {
  due[reading_histogram] = false;
  set_problem(reading_histogram, "");
  if (!histogram_node || !source) {
    histogram.clear();
  } else if (of_range) {
    histogram = histogram_of(range_times.durations[*histogram_node]);
  } else {
    due[reading_histogram] = true;
  }
}

}  // namespace reprise::debugger
