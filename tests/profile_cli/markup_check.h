// Whether a text is well-formed XML, as far as our pictures and pages use it.
#pragma once
#include <string>
#include <string_view>

namespace reprise::test {

/// The names of all elements, each followed by a space; or "problem: ..." at the first one.
std::string elements_of(std::string_view markup);

}  // namespace reprise::test
