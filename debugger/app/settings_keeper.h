// Writes the settings when they changed, a second later: a window that is killed loses no more.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "debugger/model/settings.h"

namespace reprise::debugger {

class SettingsKeeper {
 public:
  using Clock = std::chrono::steady_clock;
  /// Changes that follow each other sooner are written together.
  static constexpr std::chrono::seconds kDelay{1};

  /// `in_use` returns the settings as they are now. An empty path keeps nothing.
  SettingsKeeper(std::filesystem::path file, std::function<Settings()> in_use);
  /// To be called again and again, four times a second or more often.
  void look(Clock::time_point now);
  /// Writes what is not written yet. Returns false if that failed.
  bool finish();

 private:
  bool write();

  std::filesystem::path file_;
  std::function<Settings()> in_use_;
  Settings written_, seen_;
  Clock::time_point seen_at_{};
};

}  // namespace reprise::debugger
