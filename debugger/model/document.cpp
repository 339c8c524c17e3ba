#include "debugger/model/document.h"

#include <algorithm>
#include <utility>

#include "debugger/model/document_state.h"

namespace reprise::debugger {

Document::Document(std::filesystem::path path) : state_(std::make_unique<State>(std::move(path))) {}

Document::~Document() = default;

const std::filesystem::path& Document::path() const { return state_->path; }

std::uint64_t Document::revision() const { return state_->revision; }

bool Document::poll() { return state_->poll(true, false); }

bool Document::busy() const {
  const State& s = *state_;
  const bool runs = s.background.busy() && s.running != State::refreshing &&
                    s.running != State::reading_histogram;
  return runs || s.due[State::loading] || s.due[State::reading_range] ||
         s.due[State::reading_steps] || (!s.captures && s.problem.empty());
}

bool Document::reading() const { return state_->background.busy(); }

void Document::settle() {
  state_->poll(true, true);
  while (state_->background.busy()) {
    state_->background.wait();
    state_->poll(false, true);
  }
}

const std::string& Document::problem() const { return state_->problem; }

std::string Document::exit_state() const {
  const CaptureSummary* const summary = state_->chosen_summary();
  return summary == nullptr ? "" : summary->exit_state;
}

bool Document::live() const { return state_->live(); }

const std::vector<CaptureSummary>& Document::captures() const {
  static const std::vector<CaptureSummary> kNone;
  return state_->captures ? *state_->captures : kNone;
}

std::shared_ptr<const Capture> Document::capture() const { return state_->capture; }

void Document::choose(CaptureId id) {
  State& s = *state_;
  const std::optional<CaptureId> before = std::exchange(s.chosen, id);
  if (s.captures && s.chosen_summary() == nullptr) {
    s.chosen = before;
    return;
  }
  const bool shown = s.capture != nullptr && s.capture->summary.id == id;
  if (s.background.busy() && s.running != State::refreshing) {
    s.background.cancel();
  }
  s.due[State::loading] = !shown && s.captures;
  s.know_runs();
  if (shown) {
    s.show_statistics();
    s.due[State::reading_steps] = s.shown_replay && s.step_times.empty();
  }
}

const ReplayTable& Document::replays() const { return state_->replays; }

const ReplayStatistics& Document::replay_statistics() const {
  State& s = *state_;
  const std::size_t rows = s.replays.rows.size();
  if (!s.replay_statistics || outgrown(s.replays_summed, rows, s.live())) {
    s.replay_statistics = debugger::replay_statistics(s.replays, s.range);
    s.replays_summed = rows;
  } else if (!s.range) {
    s.replay_statistics->count = rows;
  }
  return *s.replay_statistics;
}

void Document::set_range(std::optional<ReplayRange> range) {
  State& s = *state_;
  const std::size_t size = s.replays.rows.size();
  if (range) {
    const auto [first, last] = std::minmax(range->first, range->last);
    range = size == 0
                ? std::nullopt
                : std::optional(ReplayRange{std::min(first, size - 1), std::min(last, size - 1)});
  }
  if (range != s.range) {
    s.range = range;
    s.replay_statistics.reset();
    s.changed = true;
    s.show_statistics();
  }
}

std::optional<ReplayRange> Document::range() const { return state_->range; }

const CaptureStatistics& Document::statistics() const { return state_->statistics; }

const std::vector<TimingSource>& Document::timing_sources() const { return state_->sources; }

void Document::choose_timing(const TimingSource& source) {
  State& s = *state_;
  if (std::find(s.sources.begin(), s.sources.end(), source) != s.sources.end()) {
    s.source = source;
    s.changed = true;
    s.show_statistics();
  }
}

void Document::show_replay(std::optional<std::size_t> replay) {
  state_->follows = false;
  state_->show_replay(replay);
}

void Document::follow_newest() {
  state_->follows = true;
  state_->show_newest();
}

bool Document::follows_newest() const { return state_->follows; }

std::optional<CaptureId> Document::added_run() const { return state_->added_run(); }

std::optional<std::size_t> Document::shown_replay() const { return state_->shown_replay; }

const std::vector<CapturedStepTime>& Document::step_times() const { return state_->step_times; }

void Document::show_histogram(std::optional<std::uint32_t> node) {
  State& s = *state_;
  if (node && (s.capture == nullptr || *node >= s.capture->nodes.size())) {
    node.reset();
  }
  if (node != s.histogram_node) {
    s.histogram_node = node;
    s.histogram.clear();
    s.changed = true;
    s.show_histogram();
  }
}

const std::vector<HistogramBucket>& Document::histogram() const { return state_->histogram; }

}  // namespace reprise::debugger
