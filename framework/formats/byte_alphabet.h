// The printable characters that spell bytes in byte-level vocabularies: most of Latin-1 stand for
// their own byte, U+0100 to U+0143 for the rest. Source: bytes_to_unicode() in GPT-2's encoder.py.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// UTF-8 of the character that stands for `byte`.
std::string byte_spelling(char byte);
/// The byte whose spelling this is, if it is one.
std::optional<char> byte_spelled_by(std::string_view spelling);
/// The bytes that `spelling` stands for; what is no character of the alphabet stays as it is.
std::string spelled_bytes(std::string_view spelling);

}  // namespace reprise
