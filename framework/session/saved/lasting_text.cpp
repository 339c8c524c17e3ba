#include "framework/session/saved/lasting_text.h"

#include <mutex>
#include <set>

namespace reprise {

const char* lasting_text(const std::string& text) {
  static std::mutex mutex;
  static auto* const texts = new std::set<std::string>;  // nodes stay where they are
  const std::lock_guard lock(mutex);
  return texts->insert(text).first->c_str();
}

}  // namespace reprise
