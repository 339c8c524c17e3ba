// Cuts a text into the words that byte-level BPE merges within, by the regular expression that a
// model was trained with. They are matched by hand: no backtracking, one pass.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise {

/// The kinds of "tokenizer.ggml.pre", with \p{L}, \p{N} and \s as in character_class.h:
/// gpt2:   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// llama3: (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
///         | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// qwen2:  as llama3, but \p{N} alone
enum class PreTokenizer : std::uint8_t { gpt2, llama3, qwen2 };

/// The words are views into `text` and give it when joined. A byte that belongs to no UTF-8
/// character is a character of its own, neither letter nor number nor space.
std::vector<std::string_view> pre_tokenize(PreTokenizer kind, std::string_view text);

}  // namespace reprise
