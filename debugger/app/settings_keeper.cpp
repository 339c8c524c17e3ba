#include "debugger/app/settings_keeper.h"

#include <utility>

namespace reprise::debugger {

SettingsKeeper::SettingsKeeper(std::filesystem::path file, std::function<Settings()> in_use)
    : file_(std::move(file)),
      in_use_(std::move(in_use)),
      written_(read_settings(file_)),
      seen_(written_) {}

void SettingsKeeper::look(Clock::time_point now) {
  Settings current = in_use_();
  if (current != seen_) {
    seen_ = std::move(current);
    seen_at_ = now;
  } else if (seen_ != written_ && now - seen_at_ >= kDelay) {
    (void)write();  // finish() tells of what cannot be written
    seen_at_ = now;
  }
}

bool SettingsKeeper::finish() {
  seen_ = in_use_();
  return seen_ == written_ || write();
}

bool SettingsKeeper::write() {
  if (file_.empty()) {
    return true;
  }
  if (!write_changes(written_, seen_, file_)) {
    return false;
  }
  written_ = seen_;
  return true;
}

}  // namespace reprise::debugger
