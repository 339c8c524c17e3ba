#include "framework/session/executor/driver_events.h"

#include <algorithm>
#include <vector>

#include "framework/graph/structure_hash.h"
#include "framework/session/executor/host_clock.h"

namespace reprise {
namespace {

constexpr const char* kSource = "driver";

std::string place_of(const DriverWork& work) {
  const std::string graph = "the graph '" + work.graph().name + "': ";
  return work.node() == kNoIndex
             ? "In " + graph
             : "In " + describe_node(work.graph(), work.node()) + " of " + graph;
}

}  // namespace

DriverEvents::DriverEvents(std::shared_ptr<DriverMessages> messages,
                           std::shared_ptr<ProfileSink> sink)
    : messages_(std::move(messages)), sink_(std::move(sink)) {
  others_.first.source = kSource;
  others_.first.code = "messages_left_out";
  messages_->add(*this);
}

DriverEvents::~DriverEvents() {
  messages_->remove(*this);
  report_repeats();
}

void DriverEvents::receive(const DriverMessage& message) noexcept {
  try {
    EventRecord event;
    event.severity = message.level;
    event.source = kSource;
    event.code = message.code;
    event.time_ns = now_ns();
    Kind kind{.code = std::string(message.code.empty() ? message.text : message.code)};
    const DriverWork* work = DriverWork::current(*this);
    if (work != nullptr) {
      event.session = work->ids().session;
      event.recording = kind.recording = work->ids().recording;
      kind.graph = work->graph().name;
      if (work->node() != kNoIndex) {
        event.node = kind.node = work->node();
      }
    }
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = kinds_.find(kind); known != kinds_.end()) {
        ++known->second.count;
        return;
      }
      if (kinds_.size() == kMaxKinds) {
        ++others_.count;
        others_.first.severity = std::max(others_.first.severity, message.level);
        return;
      }
      kinds_.emplace(std::move(kind), Repeats{event});
    }
    event.message = (work == nullptr ? "" : place_of(*work)) + std::string(message.text);
    sink_->send(std::move(event));
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory, and drivers are not unwound
  }
}

void DriverEvents::report_repeats() noexcept {
  try {
    std::vector<EventRecord> events;
    const auto tell = [&](Repeats& of, const char* what) {
      if (const std::uint64_t count = std::exchange(of.count, 0); count != 0) {
        events.push_back(of.first);
        events.back().message = "(" + std::to_string(count) + ") more " + what;
        events.back().time_ns = now_ns();
      }
    };
    {
      const std::lock_guard lock(mutex_);
      for (auto& [kind, repeats] : kinds_) {
        tell(repeats, "messages of this code came from the same place.");
      }
      tell(others_,
           "messages are left out, as those before are of too many kinds; OpenOptions::log has "
           "all.");
    }
    for (EventRecord& event : events) {
      sink_->send(std::move(event));
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for the records
  }
}

}  // namespace reprise
