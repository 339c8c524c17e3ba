// What the validation layer says that is no fault of ours.
#pragma once
#include <string_view>

namespace reprise::testing {

/// Version 1.3.239 gives up after 10 s where one thread signals a semaphore while another waits
/// behind it, and says itself that this is a bug of its own.
inline bool is_bug_of_validation(std::string_view text) {
  return text.find("UNASSIGNED-VkSemaphore-state-timeout") != std::string_view::npos;
}

}  // namespace reprise::testing
