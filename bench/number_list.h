// Lists of numbers as llama-bench takes them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::bench {

/// Words are numbers or ranges: "16", "16-64", "16-64+16", "16-64*2". Throws invalid_argument
/// naming the flag and the word that is none of them or has values outside of `least` to `most`.
std::vector<std::int64_t> numbers_of(const char* flag, const std::vector<std::string>& words,
                                     std::int64_t min, std::int64_t max);

}  // namespace reprise::bench
