// Events in the trace format of Chrome, which ui.perfetto.dev and chrome://tracing open, written as
// they come. Times are nanoseconds since the trace began, and what came before it is at its begin.
// Source: "Trace Event Format" (Duca and Sinclair), which counts microseconds.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::cli {

/// Names come from a file: see programs::json_text().
std::string json_text(std::string_view text);

/// The inside of a JSON object.
class JsonFields {
 public:
  JsonFields& text(std::string_view key, std::string_view value);
  JsonFields& number(std::string_view key, std::int64_t value);
  JsonFields& real(std::string_view key, double value);
  JsonFields& raw(std::string_view key, std::string_view json);
  const std::string& json() const { return json_; }

 private:
  std::string json_;
};

struct TraceTrack {
  int process = 0, thread = 0;
};

class TraceWriter {
 public:
  explicit TraceWriter(std::ostream& out) : out_(out) {}

  void begin(const std::string& title);
  void end();
  int process(const std::string& name);
  TraceTrack track(int process, const std::string& name);

  void slice(TraceTrack track, std::string_view name, std::int64_t begin_ns, std::int64_t end_ns,
             std::string_view args);
  void instant(TraceTrack track, std::string_view name, std::int64_t at_ns, std::string_view args);
  void counter(int process, std::string_view name, std::int64_t at_ns, double value);
  /// An arrow between slices that hold these moments; `id` is its own.
  void arrow(TraceTrack from, std::int64_t from_ns, TraceTrack to, std::int64_t to_ns,
             std::int64_t id);

 private:
  void event(char phase, int process, int thread, std::string_view name);
  void time(std::string_view key, std::int64_t ns);
  void named(const char* what, int process, int thread, const std::string& name);
  std::ostream& out_;
  bool first_ = true;
  int processes_ = 0, threads_ = 0;
};

/// Tracks for slices that may overlap: as many as it takes that on each of them slices come in
/// order and lie apart, or also in each other where `nested`. What comes should come by begin; what
/// does not, needs more tracks.
class TraceLanes {
 public:
  TraceLanes(TraceWriter& writer, int process, std::string name, bool nested)
      : writer_(writer), process_(process), name_(std::move(name)), nested_(nested) {}
  TraceTrack place(std::int64_t begin_ns, std::int64_t end_ns);

 private:
  struct Lane {
    TraceTrack track;
    std::int64_t last_begin_ns = 0;
    std::vector<std::int64_t> open_ends_ns{};  // of slices around the next one, outermost first
  };
  bool fits(Lane& lane, std::int64_t begin_ns, std::int64_t end_ns) const;
  TraceWriter& writer_;
  int process_;
  std::string name_;
  bool nested_;
  std::deque<Lane> lanes_;
};

}  // namespace reprise::cli
