// The profiling database somebody looks at: its captures, the one that is chosen, and the times of
// a range of its replays. Files are read by a worker thread; what is here changes in poll() only,
// so views draw from it without locks. Follows a file that is being written. One thread, the one
// that draws.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

class Document {
 public:
  /// Reads nothing yet: the first poll() asks the worker for the captures and, of those of the
  /// latest run, the one with the most replays.
  explicit Document(std::filesystem::path path);
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  const std::filesystem::path& path() const;
  /// Takes over what the worker finished and looks whether the file changed; true if anything that
  /// is drawn may have changed.
  bool poll();
  /// Another number after every poll() that returned true: for what views keep of all this.
  std::uint64_t revision() const;
  /// Reading something the user waits for.
  bool busy() const;
  /// Reading anything: a poll() soon will take it over.
  bool reading() const;
  /// Polls until all that the file held at the call is read. For scripts, tests and pictures.
  void settle();
  /// What is wrong with the file, for the user; empty if nothing is. The last good state stays.
  const std::string& problem() const;
  /// The run of the chosen capture is being written by a living process.
  bool live() const;
  /// Of that run, as the file says by now: see CaptureSummary; empty without a capture.
  std::string exit_state() const;

  const std::vector<CaptureSummary>& captures() const;
  /// The chosen capture; null before one is loaded and if the file has none. Another one, or the
  /// same id of a file that was replaced, is another pointer, and resets range and replay.
  std::shared_ptr<const Capture> capture() const;
  /// Shown when it is loaded; the capture before stays until then. Ignored if the file has none of
  /// that id.
  void choose(CaptureId id);
  const ReplayTable& replays() const;
  /// Of the replays of range().
  const ReplayStatistics& replay_statistics() const;

  /// Positions in replays().rows that the panels show; the whole table if empty. statistics() and
  /// histogram() follow when the worker has read the step times of the range, a sample of them if
  /// it is long.
  void set_range(std::optional<ReplayRange> range);
  std::optional<ReplayRange> range() const;
  /// Times per node over the range, for the phase and timing mode chosen. Over the whole table they
  /// are of all replays that were timed; over a range of those whose step times the file kept.
  const CaptureStatistics& statistics() const;
  /// The phases and modes with node times, the one with the most replays first.
  const std::vector<TimingSource>& timing_sources() const;
  void choose_timing(const TimingSource& source);

  /// A capture of a run that somebody began to add while this file was open, later than the one on
  /// the screen; empty without one, and once it or another capture was chosen.
  std::optional<CaptureId> added_run() const;

  /// The replay whose steps the timeline shows: a position in replays().rows.
  void show_replay(std::optional<std::size_t> replay);
  /// Shows the newest replay with times of nodes, or without one the newest, and whichever is that
  /// later, until another one is shown.
  void follow_newest();
  bool follows_newest() const;
  std::optional<std::size_t> shown_replay() const;
  /// One per step; empty if the file has none for that replay, or while they are being read.
  const std::vector<CapturedStepTime>& step_times() const;

  /// The node whose histogram is wanted, and its histogram over the range.
  void show_histogram(std::optional<std::uint32_t> node);
  const std::vector<HistogramBucket>& histogram() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::debugger
