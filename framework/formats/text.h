// Text that comes from files: checked, and made safe to print inside an error message.
#pragma once
#include <string>
#include <string_view>

namespace reprise {

/// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

/// `text` in single quotes, control characters and invalid UTF-8 as \xNN, cut after 96 bytes: a
/// hostile name can neither drive a terminal nor flood a log.
std::string printable(std::string_view text);

}  // namespace reprise
