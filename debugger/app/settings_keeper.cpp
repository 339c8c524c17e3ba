#include "debugger/app/settings_keeper.h"

#include <utility>

namespace reprise::debugger {

SettingsKeeper::SettingsKeeper(std::filesystem::path file, std::function<void(Settings&)> save_to)
    : file_(std::move(file)), save_to_(std::move(save_to)), written_(in_use()), seen_(written_) {}

Settings SettingsKeeper::in_use() const {
  Settings settings;
  save_to_(settings);
  return settings;
}

void SettingsKeeper::look(Clock::time_point now) {
  Settings current = in_use();
  if (current != seen_) {
    seen_ = std::move(current);
    seen_at_ = now;
  } else if (seen_ != written_ && now - seen_at_ >= kDelay) {
    (void)write();  // finish() tells of what cannot be written
    seen_at_ = now;
  }
}

bool SettingsKeeper::finish() {
  seen_ = in_use();
  return seen_ == written_ || write();
}

bool SettingsKeeper::write() {
  if (file_.empty()) {
    return true;
  }
  Settings settings = read_settings(file_);  // others may have written theirs
  save_to_(settings);
  if (!write_settings(settings, file_)) {
    return false;
  }
  written_ = seen_;
  return true;
}

}  // namespace reprise::debugger
