#include "debugger/model/background.h"

#include <atomic>
#include <thread>

#include "reprise/sql_query.h"

namespace reprise::debugger {

struct Background::State {
  std::atomic<bool> finished = false;
  TakeOver take_over;  // the job's until `finished`
  std::jthread thread;
};

Background::Background() : state_(std::make_unique<State>()) {}

Background::~Background() = default;

void Background::start(Job job) {
  state_->finished = false;
  state_->take_over = {};
  state_->thread =
      std::jthread([s = state_.get(), job = std::move(job)](const std::stop_token& stop) {
        try {
          s->take_over = job(stop);
        } catch (const Cancelled&) {
        }
        s->finished = true;
        s->finished.notify_all();
      });
}

bool Background::busy() const { return state_->thread.joinable(); }

void Background::cancel() { state_->thread.request_stop(); }

bool Background::poll() {
  if (!busy() || !state_->finished) {
    return false;
  }
  const bool wanted = !state_->thread.get_stop_token().stop_requested();
  state_->thread.join();
  state_->thread = {};
  if (wanted && state_->take_over) {
    state_->take_over();
  }
  return true;
}

void Background::wait() {
  if (busy()) {
    state_->finished.wait(false);
  }
}

}  // namespace reprise::debugger
