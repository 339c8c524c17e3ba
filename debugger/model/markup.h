// Text in XML and HTML. Names come from a file: nothing of them is read as markup, and bytes that
// are no characters of both languages become '?'.
#pragma once
#include <string>
#include <string_view>

namespace reprise::debugger {

/// For the inside of elements and of quoted attributes.
std::string markup_text(std::string_view text);

}  // namespace reprise::debugger
