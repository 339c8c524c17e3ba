// Text that lives as long as the program, as the file names of compiled code do.
#pragma once
#include <string>

namespace reprise {

/// The same pointer for the same text. Thread-safe; never freed.
const char* lasting_text(const std::string& text);

}  // namespace reprise
