// Text that comes from files: checked, and made safe to print inside an error message.
#pragma once
#include <string>
#include <string_view>

namespace reprise {

/// As first_character() reads it.
bool is_utf8(std::string_view text);

/// `text` in single quotes, what is not printable as \xNN, cut after 96 bytes: a hostile name can
/// neither drive a terminal nor flood a log.
std::string quoted_name(std::string_view text);

}  // namespace reprise
