// Values as people read them.
#pragma once
#include <span>
#include <string>
#include <utility>

#include "reprise/backend/step.h"

namespace reprise {

/// Bytes of one element: those of its dtype, of block formats 1.
std::size_t element_bytes(DType dtype);
/// Enough digits that different bits are different text, but for values that are not numbers.
std::string text_of_element(DType dtype, std::span<const std::byte> bytes);
/// "0.333333343": 9 digits.
std::string decimal(double value);
/// As a number; of block formats the byte.
double value_of_element(DType dtype, std::span<const std::byte> bytes);

/// "[3, 1, 1]"
std::string text_of(const Grid& grid);
/// What a step runs: "matmul.f16 (64, 4)", "copy", "matmul on the host".
std::string text_of(const Step& step);
/// The first word that is not the same in both: "word 3: 17".
std::pair<std::string, std::string> first_words(std::span<const std::byte> a,
                                                std::span<const std::byte> b);

}  // namespace reprise
