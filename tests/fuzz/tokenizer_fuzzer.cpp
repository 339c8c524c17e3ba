// A vocabulary of any tokens, merges and settings makes a tokenizer or is an Error; what one
// encodes are tokens of its own, and with a token for every byte of a text it gives the text back.
// Vocabularies are small, for many runs per second: those of all 256 bytes are in the tests.
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <vector>

#include "framework/formats/byte_alphabet.h"
#include "reprise/core/error.h"
#include "reprise/formats/tokenizer.h"
#include "tests/formats/gguf_builder.h"
#include "tests/fuzz/require.h"

namespace {

using reprise::fuzz::require;
using Ids = std::vector<std::int32_t>;

constexpr std::size_t kMaxTokens = 12;
constexpr std::size_t kMaxTextBytes = 64;
const std::string kSpace = "\xE2\x96\x81";

class Vocabulary {
 public:
  Vocabulary(FuzzedDataProvider& source, const std::string& text) : source_(source) {
    byte_level_ = source.ConsumeBool();
    complete_ = source.ConsumeIntegralInRange(0, 3) > 0;
    if (complete_) {
      add_bytes(text);
    }
    for (auto count = source.ConsumeIntegralInRange<std::size_t>(1, kMaxTokens); count-- > 0;) {
      add_token();
    }
    add_settings();
  }

  std::string bytes() { return builder_.bytes(); }
  bool complete() const { return complete_; }
  bool byte_level() const { return byte_level_; }
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }

 private:
  void add(std::string token, std::int32_t kind) {
    tokens_.push_back(std::move(token));
    kinds_.push_back(kind);
    scores_.push_back(source_.ConsumeIntegral<std::int8_t>());
  }

  void add_bytes(const std::string& text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::bitset<256> added;
    // Pieces may have a space in front.
    for (const char c : text + (byte_level_ ? "" : kSpace)) {
      const auto byte = static_cast<unsigned char>(c);
      if (added[byte]) {
        continue;
      }
      added.set(byte);
      tokens_.push_back(byte_level_ ? reprise::byte_spelling(c)
                                    : std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">");
      kinds_.push_back(byte_level_ ? 1 : 6);
      scores_.push_back(0);
    }
  }

  void add_token() {
    const bool plain = source_.ConsumeIntegralInRange(0, 3) > 0;
    if (byte_level_ && plain && !tokens_.empty()) {
      const auto pick = [&] {
        return tokens_[source_.ConsumeIntegralInRange<std::size_t>(0, tokens_.size() - 1)];
      };
      const std::string left = pick();
      const std::string right = pick();
      merges_.push_back(left + " " + right);
      add(left + right, 1);
      return;
    }
    std::string text = source_.ConsumeRandomLengthString(6);
    if (!byte_level_ && !text.empty() && text[0] == ' ') {
      text = kSpace + text.substr(1);
    }
    // Of a kind that has a text: a byte is spelled like one.
    add(text, plain ? 1 : source_.ConsumeIntegralInRange(0, 5));
  }

  void add_settings() {
    const auto id = [&] { return source_.ConsumeIntegralInRange<std::uint32_t>(0, 300); };
    builder_.text("tokenizer.ggml.model", byte_level_ ? "gpt2" : "llama");
    builder_.text("tokenizer.ggml.pre", source_.PickValueInArray({"gpt-2", "llama-bpe", "qwen2"}));
    builder_.texts("tokenizer.ggml.tokens", tokens_).texts("tokenizer.ggml.merges", merges_);
    builder_.numbers("tokenizer.ggml.token_type", 5, kinds_);
    builder_.numbers("tokenizer.ggml.scores", 6, scores_);
    builder_.number("tokenizer.ggml.eos_token_id", 0).number("tokenizer.ggml.bos_token_id", 0);
    if (source_.ConsumeBool()) {
      builder_.number("tokenizer.ggml.unknown_token_id", id());
      builder_.number("tokenizer.ggml.eot_token_id", id());
      builder_.boolean("tokenizer.ggml.add_bos_token", source_.ConsumeBool());
      builder_.boolean("tokenizer.ggml.add_space_prefix", source_.ConsumeBool());
    }
  }

  FuzzedDataProvider& source_;
  bool byte_level_ = false;
  bool complete_ = false;
  std::vector<std::string> tokens_;
  std::vector<std::string> merges_;
  std::vector<std::int32_t> kinds_;
  std::vector<float> scores_;
  reprise::test::GgufBuilder builder_;
};

void check(const reprise::Tokenizer& tokenizer, const Vocabulary& vocabulary,
           const std::string& text) {
  const Ids special = tokenizer.encode(text, {.parse_special = true});
  (void)tokenizer.decode(special);
  const Ids ids = tokenizer.encode(text, false);
  for (const Ids& all : {special, ids}) {
    for (const std::int32_t id : all) {
      require(id >= 0 && id < vocabulary.size(), "an id is one of a token");
      (void)tokenizer.piece(id);
    }
  }
  const bool ambiguous = !vocabulary.byte_level() && text.find(kSpace) != std::string::npos;
  if (vocabulary.complete() && !ambiguous) {
    require(tokenizer.decode(ids) == text, "decode gives the text back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider source(data, size);
  const std::string text = source.ConsumeRandomLengthString(kMaxTextBytes);
  Vocabulary vocabulary(source, text);
  const std::string bytes = vocabulary.bytes();
  try {
    const auto file = reprise::GgufFile::over(std::as_bytes(std::span(bytes)), "fuzz");
    check(reprise::Tokenizer(file), vocabulary, text);
  } catch (const reprise::Error&) {
  }
  return 0;
}
