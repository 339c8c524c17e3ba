#include "debugger/model/document.h"

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

// ---- what is read

bool Document::poll(bool look, bool eager) {
  if (look) {
    reads_.look();
    // A writer may die, and a file that could not be read recover, without a change of it.
    refresh_due_ = refresh_due_ || ((live() || !refreshing_.problem().empty()) &&
                                    Clock::now() - refreshed_ >= kLookAfterEvery);
  }
  reads_.poll(eager);
  if (auto found = loading_.take()) {
    take_load(std::move(*found));
  }
  if (auto found = refreshing_.take()) {
    take_refresh(std::move(*found));
  }
  if (auto found = reading_range_.take()) {
    take_range(std::move(*found));
  }
  if (auto found = reading_steps_.take()) {
    screen_.step_times = std::move(*found);
    changed_ = true;
  }
  if (auto found = reading_histogram_.take()) {
    screen_.histogram = std::move(*found);
    changed_ = true;
  }
  read_range_if_due();
  refresh_if_due(eager);
  update_problem();
  revision_ += changed_ ? 1U : 0U;
  return std::exchange(changed_, false);
}

void Document::settle() {
  poll(true, true);
  while (reads_.wait()) {
    poll(false, true);
  }
}

bool Document::busy() const {
  return loading_.running() || reading_range_.running() || range_due_ || reading_steps_.running() ||
         (!listed_ && problem_.empty());
}

void Document::update_problem() {
  const ScheduledRead* const reads[] = {&refreshing_, &loading_, &reading_range_, &reading_steps_,
                                        &reading_histogram_};
  const auto first =
      std::ranges::find_if(reads, [](const auto* read) { return !read->problem().empty(); });
  const std::string problem = first == std::end(reads) ? "" : (*first)->problem();
  changed_ = changed_ || problem != problem_;
  problem_ = problem;
}

void Document::refresh_if_due(bool eager) {
  const Clock::time_point now = Clock::now();
  const bool due = refresh_due_ || refreshed_version_ != reads_.version();
  const bool rested =
      now - refreshed_ >= std::max<Clock::duration>(kRefreshEvery, kRestPerWork * refresh_took_);
  if (!due || refreshing_.running() || loading_.running() || !(eager || rested)) {
    return;
  }
  refresh_due_ = false;
  refreshed_ = now;
  refreshed_version_ = reads_.version();
  DisplayedCapture shown = displayed_capture(screen_.capture.get(), screen_.replays);
  shown.read_timings = timings_version_ != refreshed_version_ &&
                       (eager || !live() || now - timings_read_ >= kTimingsEvery);
  timings_read_ = shown.read_timings ? now : timings_read_;
  refreshing_.ask(reads_, std::move(shown));
}

void Document::take_refresh(Refresh found) {
  refresh_took_ = found.took;
  changed_ = changed_ || !listed_ || captures_ != found.captures;
  captures_ = std::move(found.captures);
  if (!std::exchange(listed_, true)) {
    know_runs();
  }
  if (captures_.empty()) {
    chosen_.reset();
    loading_.forget();
    forget_capture();
    return;
  }
  if (chosen_summary() == nullptr) {
    chosen_ = default_of(captures_);
  }
  if (screen_.capture == nullptr || found.replaced || screen_.capture->summary.id != *chosen_) {
    load();
    return;
  }
  if (ReplayTable& more = found.new_replays; !more.rows.empty()) {
    ReplayTable& all = screen_.replays;
    all.rows.insert(all.rows.end(), more.rows.begin(), more.rows.end());
    all.state.insert(all.state.end(), more.state.begin(), more.state.end());
    all.odd_numbers += more.odd_numbers;
    changed_ = true;
    if (screen_.follows) {
      change_to_newest();
    }
  }
  if (found.timings) {
    screen_.timings = std::move(*found.timings);
    timings_version_ = refreshed_version_;
    changed_ = true;
  }
  // What failed is tried again: perhaps the file has recovered.
  if (!reading_steps_.problem().empty()) {
    reading_steps_.again();
  }
  if (changed_ || !problem_.empty()) {
    find_sources();
    update_statistics();
  }
  refresh_due_ = refresh_due_ || (timings_version_ != refreshed_version_ && !live());
}

void Document::load() {
  refresh_due_ = refresh_due_ || refreshing_.running();
  refreshing_.cancel();
  loading_.ask(reads_, *chosen_);
}

void Document::take_load(LoadedCapture loaded) {
  forget_capture();
  changed_ = true;  // also the first capture there is
  screen_.capture = std::move(loaded.capture);
  screen_.replays = std::move(loaded.replays);
  screen_.timings = std::move(loaded.timings);
  timings_version_ = refreshed_version_;
  timings_read_ = Clock::now();
  find_sources();
  update_statistics();
}

void Document::read_range_if_due() {
  const Screen& s = screen_;
  if (range_due_ && !reading_range_.running()) {
    range_due_ = false;
    reading_range_.ask(reads_, {s.capture, timed_replays(s.replays, s.range, *s.source), s.range,
                                s.replays.rows.size(), *s.source});
  }
}

void Document::take_range(RangeTimes found) {
  Screen& s = screen_;
  s.range_times = std::move(found);
  const auto [first, last] =
      s.range_times.range.value_or(ReplayRange{0, s.range_times.table_size - 1});
  for (std::size_t row = first; row < last + 1; ++row) {
    s.range_times.statistics.in_range.add(s.replays.rows[row]);
  }
  // Shown even if the user moved on to another range: closer than what is on the screen.
  if (s.range || table_of_source() == nullptr) {
    s.statistics = s.range_times.statistics;
    s.of_range = true;
    changed_ = true;
    update_histogram();
  }
  update_statistics();
}

// ---- captures

bool Document::live() const {
  const CaptureSummary* const summary = chosen_summary();
  return summary != nullptr && summary->exit_state == "running" && refreshing_.problem().empty();
}

std::string Document::exit_state() const {
  const CaptureSummary* const summary = chosen_summary();
  return summary == nullptr ? "" : summary->exit_state;
}

const CaptureSummary* Document::chosen_summary() const {
  const auto found = std::ranges::find_if(
      captures_, [&](const CaptureSummary& capture) { return capture.id == chosen_; });
  return found == captures_.end() ? nullptr : &*found;
}

void Document::choose(CaptureId id) {
  const std::optional<CaptureId> before = std::exchange(chosen_, id);
  if (listed_ && chosen_summary() == nullptr) {
    chosen_ = before;
    return;
  }
  know_runs();
  if (screen_.capture != nullptr && screen_.capture->summary.id == id) {
    loading_.forget();
  } else if (listed_) {
    load();
  }
}

void Document::know_runs() {
  for (const CaptureSummary& summary : captures_) {
    known_run_ = std::max(known_run_, summary.id.run);
  }
}

std::optional<CaptureId> Document::added_run() const {
  return captures_.empty() || captures_.front().id.run <= known_run_
             ? std::nullopt
             : std::optional(default_of(captures_));
}

void Document::forget_capture() {
  changed_ = changed_ || screen_.capture != nullptr;
  screen_ = {};
  range_due_ = false;
  reading_range_.forget();
  reading_steps_.forget();
  reading_histogram_.forget();
}

// ---- replays and their times

const ReplayStatistics& Document::replay_statistics() const {
  Screen& s = screen_;
  const std::size_t rows = s.replays.rows.size();
  if (!s.replay_statistics || outgrown(s.replays_summed, rows, live())) {
    s.replay_statistics = debugger::replay_statistics(s.replays, s.range);
    s.replays_summed = rows;
  } else if (!s.range) {
    s.replay_statistics->count = rows;
  }
  return *s.replay_statistics;
}

void Document::set_range(std::optional<ReplayRange> range) {
  const std::size_t size = screen_.replays.rows.size();
  if (range) {
    const auto [first, last] = std::minmax(range->first, range->last);
    range = size == 0
                ? std::nullopt
                : std::optional(ReplayRange{std::min(first, size - 1), std::min(last, size - 1)});
  }
  if (range != screen_.range) {
    screen_.range = range;
    screen_.replay_statistics.reset();
    changed_ = true;
    update_statistics();
  }
}

void Document::choose_timing(const TimingSource& source) {
  if (std::ranges::find(screen_.sources, source) != screen_.sources.end()) {
    screen_.source = source;
    changed_ = true;
    update_statistics();
  }
}

void Document::show_replay(std::optional<std::size_t> replay) {
  screen_.follows = false;
  change_replay(replay);
}

void Document::follow_newest() {
  screen_.follows = true;
  change_to_newest();
}

void Document::change_replay(std::optional<std::size_t> replay) {
  Screen& s = screen_;
  if (replay && *replay >= s.replays.rows.size()) {
    replay.reset();
  }
  if (replay == s.shown_replay) {
    return;
  }
  s.shown_replay = replay;
  s.step_times.clear();
  reading_steps_.forget();
  if (replay) {
    reading_steps_.ask(reads_, {s.replays.rows[*replay].id, s.capture->steps.size()});
  }
  changed_ = true;
}

void Document::change_to_newest() {
  const std::vector<ReplayRow>& rows = screen_.replays.rows;
  const auto timed = std::find_if(rows.rbegin(), rows.rend(), [](const ReplayRow& row) {
    return row.timing_mode == TimingMode::node || row.timing_mode == TimingMode::node_serialised;
  });
  const auto newest = timed == rows.rend() ? rows.rbegin() : timed;
  change_replay(rows.empty() ? std::nullopt
                             : std::optional(static_cast<std::size_t>(rows.rend() - newest) - 1));
}

void Document::find_sources() {
  Screen& s = screen_;
  s.tally.update(s.replays);
  s.sources.clear();
  for (const NodeTimingTable& table : s.timings) {
    s.sources.push_back({table.phase, table.timing_mode});
  }
  // Of a run that ended before its first sums were written only the replays themselves are left.
  for (const TimingSource& seen : s.tally.sources) {
    if (std::ranges::find(s.sources, seen) == s.sources.end()) {
      s.sources.push_back(seen);
    }
  }
  if (!s.source || std::ranges::find(s.sources, *s.source) == s.sources.end()) {
    s.source = s.sources.empty() ? std::nullopt : std::optional(s.sources.front());
  }
}

const NodeTimingTable* Document::table_of_source() const {
  const Screen& s = screen_;
  const auto found = std::ranges::find_if(s.timings, [&](const NodeTimingTable& t) {
    return s.source && t.phase == s.source->phase && t.timing_mode == s.source->mode;
  });
  return found == s.timings.end() ? nullptr : &*found;
}

void Document::update_statistics() {
  Screen& s = screen_;
  const NodeTimingTable* const table = table_of_source();
  if (s.source && (s.range || table == nullptr)) {
    range_due_ = !s.of_range || s.range_times.range != s.range ||
                 s.range_times.statistics.source != *s.source ||
                 (!s.range && s.range_times.table_size != s.replays.rows.size());
  } else {
    range_due_ = false;
    s.of_range = false;
    s.statistics = {};
    if (s.source) {
      s.statistics.nodes = table->nodes;
      s.statistics.nodes.resize(s.capture->nodes.size());
      add_up(s.statistics);
      s.statistics.in_range = s.tally.counts;
      s.statistics.source = *s.source;
    }
    update_histogram();
  }
  if (!range_due_) {
    reading_range_.forget();
  }
}

void Document::show_histogram(std::optional<std::uint32_t> node) {
  Screen& s = screen_;
  if (node && (s.capture == nullptr || *node >= s.capture->nodes.size())) {
    node.reset();
  }
  if (node != s.histogram_node) {
    s.histogram_node = node;
    s.histogram.clear();
    reading_histogram_.forget();
    changed_ = true;
    update_histogram();
  }
}

void Document::update_histogram() {
  Screen& s = screen_;
  if (!s.histogram_node || !s.source || s.of_range) {
    reading_histogram_.forget();
    s.histogram = s.histogram_node && s.source
                      ? histogram_of(s.range_times.durations[*s.histogram_node])
                      : std::vector<HistogramBucket>();
    return;
  }
  const HistogramKey key{s.capture->summary.id, *s.source, *s.histogram_node};
  if (!reading_histogram_.running() || reading_histogram_.key() != key) {
    reading_histogram_.ask(reads_, key);
  }
}

}  // namespace reprise::debugger
