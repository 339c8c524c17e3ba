// The profiling database somebody looks at: its captures, the one that is chosen, and the times of
// a range of its replays. What is read changes in poll() only, so views draw from it without locks.
// Follows a file that is being written.
//
// Threads: one, the one that draws.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/document_reads.h"
#include "debugger/model/read_scheduler.h"

namespace reprise::debugger {

class Document {
 public:
  /// Reads nothing yet: the first poll() asks for the captures and, of those of the latest run, the
  /// one with the most replays.
  explicit Document(std::filesystem::path path) : reads_(std::move(path)) {}

  const std::filesystem::path& path() const { return reads_.path(); }
  /// Takes over what the worker finished and looks whether the file changed; true if anything that
  /// is drawn may have changed.
  bool poll() { return poll(true, false); }
  /// Another number after every poll() that returned true: for what views keep of all this.
  std::uint64_t revision() const { return revision_; }
  /// Reading something the user waits for.
  bool busy() const;
  /// Reading anything: a poll() soon will take it over.
  bool reading() const { return reads_.busy(); }
  /// Polls until all that the file held at the call is read. For scripts, tests and pictures.
  void settle();
  /// What is wrong with the file, for the user; empty if nothing is. The last good state stays.
  const std::string& problem() const { return problem_; }
  /// The run of the chosen capture is being written by a living process.
  bool live() const;
  /// Of that run, as the file says by now: see CaptureSummary; empty without a capture.
  std::string exit_state() const;

  const std::vector<CaptureSummary>& captures() const { return captures_; }
  /// The chosen capture; null before one is loaded and if the file has none. Another one, or the
  /// same id of a file that was replaced, is another pointer, and resets range and replay.
  std::shared_ptr<const Capture> capture() const { return screen_.capture; }
  /// Shown when it is loaded; the capture before stays until then. Ignored if the file has none of
  /// that id.
  void choose(CaptureId id);
  const ReplayTable& replays() const { return screen_.replays; }
  /// Of the replays of range().
  const ReplayStatistics& replay_statistics() const;

  /// Positions in replays().rows that the panels show; the whole table if empty. statistics() and
  /// histogram() follow when the worker has read the step times of the range, a sample of them if
  /// it is long.
  void set_range(std::optional<ReplayRange> range);
  std::optional<ReplayRange> range() const { return screen_.range; }
  /// Times per node over the range, for the phase and timing mode chosen. Over the whole table they
  /// are of all replays that were timed; over a range of those whose step times the file kept.
  const CaptureStatistics& statistics() const { return screen_.statistics; }
  /// The phases and modes with node times, the one with the most replays first.
  const std::vector<TimingSource>& timing_sources() const { return screen_.sources; }
  void choose_timing(const TimingSource& source);

  /// A capture of a run that somebody began to add while this file was open, later than the one on
  /// the screen; empty without one, and once it or another capture was chosen.
  std::optional<CaptureId> added_run() const;

  /// The replay whose steps the timeline shows: a position in replays().rows.
  void show_replay(std::optional<std::size_t> replay);
  /// Shows the newest replay with times of nodes, or without one the newest, and whichever is that
  /// later, until another one is shown.
  void follow_newest();
  bool follows_newest() const { return screen_.follows; }
  std::optional<std::size_t> shown_replay() const { return screen_.shown_replay; }
  /// One per step; empty if the file has none for that replay, or while they are being read.
  const std::vector<CapturedStepTime>& step_times() const { return screen_.step_times; }

  /// The node whose histogram is wanted, and its histogram over the range.
  void show_histogram(std::optional<std::uint32_t> node);
  const std::vector<HistogramBucket>& histogram() const { return screen_.histogram; }

 private:
  using Clock = std::chrono::steady_clock;
  /// All that is known of the capture on the screen.
  struct Screen {
    std::shared_ptr<const Capture> capture{};
    ReplayTable replays{};
    std::optional<ReplayStatistics> replay_statistics{};  // none until somebody asks
    std::size_t replays_summed = 0;                       // rows that those are of
    std::vector<NodeTimingTable> timings{};
    ReplayTally tally{};
    std::vector<TimingSource> sources{};
    std::optional<TimingSource> source{};  // the chosen one; none only if there are none
    std::optional<ReplayRange> range{};
    RangeTimes range_times{};
    bool of_range = false;  // statistics are those of range_times
    CaptureStatistics statistics{};
    std::optional<std::size_t> shown_replay{};
    bool follows = false;  // it is the newest one
    std::vector<CapturedStepTime> step_times{};
    std::optional<std::uint32_t> histogram_node{};
    std::vector<HistogramBucket> histogram{};
  };

  /// `look`: whether the file changed; `eager`: without the pauses between readings of it.
  bool poll(bool look, bool eager);
  void refresh_if_due(bool eager);
  void take_refresh(Refresh found);
  void load();
  void take_load(LoadedCapture loaded);
  void read_range_if_due();
  void take_range(RangeTimes found);
  void update_problem();

  void change_replay(std::optional<std::size_t> replay);
  void change_to_newest();
  /// All runs that the file has now.
  void know_runs();
  const CaptureSummary* chosen_summary() const;
  void forget_capture();
  /// After replays or timings changed.
  void find_sources();
  const NodeTimingTable* table_of_source() const;
  /// Takes the statistics and the histogram that are wanted from what was read, or has it read.
  void update_statistics();
  void update_histogram();

  ReadScheduler reads_;
  // In the order of their problems. A refresh and a load never run at the same time.
  Read<DisplayedCapture, Refresh> refreshing_{refresh};
  Read<CaptureId, LoadedCapture> loading_{load_capture};
  Read<RangeKey, RangeTimes> reading_range_{read_range};
  Read<StepTimesKey, std::vector<CapturedStepTime>> reading_steps_{read_one_replay};
  Read<HistogramKey, std::vector<HistogramBucket>> reading_histogram_{read_histogram};
  bool refresh_due_ = true, range_due_ = false;
  Clock::time_point refreshed_{}, timings_read_{};
  Clock::duration refresh_took_{};
  std::uint64_t refreshed_version_ = 0, timings_version_ = 0;  // of the file

  std::vector<CaptureSummary> captures_;
  bool listed_ = false;         // captures_ were read
  std::int64_t known_run_ = 0;  // the latest that the user knows of
  std::optional<CaptureId> chosen_;
  mutable Screen screen_;  // sums up its replays when somebody asks
  std::string problem_;    // the first of those of the reads
  bool changed_ = false;   // since the last poll()
  std::uint64_t revision_ = 0;
};

}  // namespace reprise::debugger
