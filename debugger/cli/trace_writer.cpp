#include "debugger/cli/trace_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "framework/programs/json_output.h"

namespace reprise::cli {

std::string json_text(std::string_view text) { return programs::json_text(nlohmann::json(text)); }

JsonFields& JsonFields::text(std::string_view key, std::string_view value) {
  return raw(key, json_text(value));
}

JsonFields& JsonFields::number(std::string_view key, std::int64_t value) {
  return raw(key, std::to_string(value));
}

JsonFields& JsonFields::real(std::string_view key, double value) {
  char digits[32];  // %g is JSON of every finite number
  const int length = std::snprintf(digits, sizeof digits, "%.4g", std::isfinite(value) ? value : 0);
  return raw(key, std::string_view(digits, static_cast<std::size_t>(length)));
}

JsonFields& JsonFields::raw(std::string_view key, std::string_view json) {
  json_ += json_.empty() ? "" : ",";
  json_ += json_text(key) + ":";
  json_ += json;
  return *this;
}

void TraceWriter::begin(const std::string& title) {
  out_ << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"title\":" << json_text(title)
       << "},\"traceEvents\":[\n";
}

void TraceWriter::end() { out_ << "\n]}\n"; }

int TraceWriter::process(const std::string& name) {
  named("process_name", ++processes_, 0, name);
  return processes_;
}

// Threads of several processes have numbers of their own: viewers tell tracks apart by them.
TraceTrack TraceWriter::track(int process, const std::string& name) {
  named("thread_name", process, ++threads_, name);
  return {process, threads_};
}

void TraceWriter::named(const char* what, int process, int thread, const std::string& name) {
  event('M', process, thread, what);
  out_ << ",\"args\":{\"name\":" << json_text(name) << "}}";
}

void TraceWriter::event(char phase, int process, int thread, std::string_view name) {
  out_ << (first_ ? "" : ",\n") << "{\"ph\":\"" << phase << "\",\"pid\":" << process
       << ",\"tid\":" << thread << ",\"name\":" << json_text(name);
  first_ = false;
}

void TraceWriter::time(std::string_view key, std::int64_t ns) {
  const std::int64_t from_begin = std::max<std::int64_t>(ns, 0);
  char digits[32];
  const int length =
      std::snprintf(digits, sizeof digits, "%lld.%03lld", static_cast<long long>(from_begin / 1000),
                    static_cast<long long>(from_begin % 1000));
  out_ << ",\"" << key << "\":" << std::string_view(digits, static_cast<std::size_t>(length));
}

void TraceWriter::slice(TraceTrack track, std::string_view name, std::int64_t begin_ns,
                        std::int64_t end_ns, std::string_view args) {
  event('X', track.process, track.thread, name);
  time("ts", begin_ns);
  time("dur", std::max<std::int64_t>(end_ns, 0) - std::max<std::int64_t>(begin_ns, 0));
  out_ << ",\"args\":{" << args << "}}";
}

void TraceWriter::instant(TraceTrack track, std::string_view name, std::int64_t at_ns,
                          std::string_view args) {
  event('i', track.process, track.thread, name);
  time("ts", at_ns);
  out_ << ",\"s\":\"t\",\"args\":{" << args << "}}";
}

void TraceWriter::counter(int process, std::string_view name, std::int64_t at_ns, double value) {
  event('C', process, 0, name);
  time("ts", at_ns);
  out_ << ",\"args\":{\"value\":" << nlohmann::json(value).dump() << "}}";
}

void TraceWriter::arrow(TraceTrack from, std::int64_t from_ns, TraceTrack to, std::int64_t to_ns,
                        std::int64_t id) {
  event('s', from.process, from.thread, "launch");
  time("ts", from_ns);
  out_ << ",\"cat\":\"launch\",\"id\":" << id << "}";
  event('f', to.process, to.thread, "launch");
  time("ts", to_ns);
  out_ << ",\"cat\":\"launch\",\"id\":" << id << ",\"bp\":\"e\"}";  // e: the slice around it
}

bool TraceLanes::fits(Lane& lane, std::int64_t begin_ns, std::int64_t end_ns) const {
  if (begin_ns < lane.last_begin_ns) {
    return false;
  }
  std::vector<std::int64_t>& open = lane.open_ends_ns;
  while (!open.empty() && open.back() <= begin_ns) {
    open.pop_back();
  }
  return open.empty() || (nested_ && end_ns <= open.back());
}

TraceTrack TraceLanes::place(std::int64_t begin_ns, std::int64_t end_ns) {
  // Rows of a hostile file may need a lane each; the search must not take the square of that.
  constexpr std::size_t kSearched = 256;
  const std::size_t first = lanes_.size() > kSearched ? lanes_.size() - kSearched : 0;
  auto lane = std::find_if(lanes_.begin() + static_cast<std::ptrdiff_t>(first), lanes_.end(),
                           [&](Lane& l) { return fits(l, begin_ns, end_ns); });
  if (lane == lanes_.end()) {
    const std::string number = lanes_.empty() ? "" : " (" + std::to_string(lanes_.size() + 1) + ")";
    lanes_.push_back({writer_.track(process_, name_ + number)});
    lane = std::prev(lanes_.end());
  }
  lane->last_begin_ns = begin_ns;
  lane->open_ends_ns.push_back(end_ns);
  return lane->track;
}

}  // namespace reprise::cli
