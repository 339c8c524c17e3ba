// Byte-level BPE against Hugging Face's tokenizers and Python's regex (byte_level/make_cases.py), a
// slow independent merger, any bytes, and hostile metadata.
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "framework/formats/byte_alphabet.h"
#include "framework/formats/pre_tokenizer.h"
#include "reprise/core/error.h"
#include "reprise/formats/tokenizer.h"
#include "tests/formats/gguf_builder.h"
#include "tests/seed.h"

namespace reprise {
namespace {

using test::GgufBuilder;
using test::TempFile;
using Ids = std::vector<std::int32_t>;

const std::map<std::string, PreTokenizer> kPre{{"gpt-2", PreTokenizer::gpt2},
                                               {"llama-bpe", PreTokenizer::llama3},
                                               {"qwen2", PreTokenizer::qwen2}};

const nlohmann::json& recorded() {
  static const nlohmann::json kCases =
      nlohmann::json::parse(std::ifstream(REPRISE_BYTE_LEVEL_CASES));
  return kCases;
}

GgufBuilder builder_of(const std::string& pre, const std::vector<std::string>& tokens,
                       const std::vector<std::string>& merges, std::size_t control) {
  std::vector<std::int32_t> kinds(tokens.size(), 1);
  std::fill(kinds.end() - static_cast<std::ptrdiff_t>(control), kinds.end(), 3);
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", pre);
  builder.texts("tokenizer.ggml.tokens", tokens).texts("tokenizer.ggml.merges", merges);
  builder.numbers("tokenizer.ggml.token_type", 5, kinds);
  builder.number("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(tokens.size() - 1));
  return builder;
}

GgufBuilder recorded_builder(const std::string& pre) {
  const nlohmann::json& kind = recorded().at(pre);
  return builder_of(pre, kind.at("tokens"), kind.at("merges"), kind.at("control"));
}

Tokenizer tokenizer_of(const GgufBuilder& builder) {
  const TempFile temp(builder.bytes());
  return Tokenizer(GgufFile::open(temp.path()));
}

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class ByteLevel : public ::testing::TestWithParam<std::string> {};

TEST_P(ByteLevel, CutsTextsIntoTheWordsOfTheRegularExpression) {
  for (const auto& entry : recorded().at(GetParam()).at("cases")) {
    const auto text = entry.at("text").get<std::string>();
    const auto words = pre_tokenize(kPre.at(GetParam()), text);
    EXPECT_EQ(std::vector<std::string>(words.begin(), words.end()),
              entry.at("words").get<std::vector<std::string>>())
        << entry.at("text");
  }
}

TEST_P(ByteLevel, GivesTheIdsOfHuggingFacesTokenizers) {
  const Tokenizer tokenizer = tokenizer_of(recorded_builder(GetParam()));
  for (const auto& entry : recorded().at(GetParam()).at("cases")) {
    const auto text = entry.at("text").get<std::string>();
    EXPECT_EQ(tokenizer.encode(text, {.add_bos = false, .parse_special = true}),
              entry.at("ids").get<Ids>())
        << entry.at("text");
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, false)), text) << entry.at("text");
  }
}

/// The definition: again and again, in each word, join the neighbours of the first merge that is
/// there, leftmost first.
Ids slow_encode(PreTokenizer pre, const std::vector<std::string>& tokens,
                const std::vector<std::string>& merges, const std::string& text) {
  std::map<std::string, std::int32_t> ids;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    ids[tokens[i]] = static_cast<std::int32_t>(i);
  }
  Ids result;
  for (const std::string_view word : pre_tokenize(pre, text)) {
    std::vector<std::string> parts;
    std::string whole;
    for (const char byte : word) {
      parts.push_back(byte_spelling(byte));
      whole += parts.back();
    }
    if (pre == PreTokenizer::llama3 && ids.contains(whole)) {
      parts = {whole};
    }
    for (std::size_t rank = 0; rank < merges.size();) {
      std::size_t at = 0;
      while (at + 1 < parts.size() && parts[at] + " " + parts[at + 1] != merges[rank]) {
        ++at;
      }
      if (at + 1 >= parts.size()) {
        ++rank;
        continue;
      }
      parts[at] += parts[at + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      rank = 0;
    }
    for (const std::string& part : parts) {
      result.push_back(ids.at(part));
    }
  }
  return result;
}

/// All bytes, then tokens that merges of earlier ones make.
std::pair<std::vector<std::string>, std::vector<std::string>> random_vocabulary(
    std::mt19937& random) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(byte_spelling(static_cast<char>(byte)));
  }
  std::vector<std::string> merges;
  const std::string letters = "abc1 \n\xC3\xA9";
  for (std::uint64_t wanted = random() % 40; merges.size() < wanted;) {
    const auto pick = [&] {
      const std::size_t made = tokens.size() - 256;
      return made > 0 && random() % 2 == 0 ? tokens[256 + random() % made]
                                           : byte_spelling(letters[random() % letters.size()]);
    };
    const std::string left = pick();
    const std::string right = pick();
    if (std::find(tokens.begin(), tokens.end(), left + right) == tokens.end()) {
      tokens.push_back(left + right);
      merges.push_back(left + " " + right);
    }
  }
  tokens.emplace_back("<|end|>");
  return {tokens, merges};
}

std::string random_text(std::mt19937& random) {
  constexpr std::string_view kFavourites = "aabbcc11  \n\r\t'sS.";
  std::string text;
  for (std::uint64_t i = random() % 60; i-- > 0;) {
    const std::uint64_t kind = random() % 8;
    if (kind == 0) {
      text += static_cast<char>(random() & 0xFFU);
    } else if (kind == 1) {
      text += "\xC3\xA9";
    } else {
      text += kFavourites[random() % kFavourites.size()];
    }
  }
  return text;
}

TEST_P(ByteLevel, AgreesWithASlowMergerAndGivesAnyBytesBack) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    const auto [tokens, merges] = random_vocabulary(random);
    const Tokenizer tokenizer = tokenizer_of(builder_of(GetParam(), tokens, merges, 1));
    for (int text_round = 0; text_round < 40; ++text_round) {
      const std::string text = random_text(random);
      const Ids ids = tokenizer.encode(text, false);
      ASSERT_EQ(ids, slow_encode(kPre.at(GetParam()), tokens, merges, text));
      ASSERT_EQ(tokenizer.decode(ids), text);
    }
  }
}

TEST_P(ByteLevel, LongWordsTakeNoQuadraticTime) {
  const Tokenizer tokenizer = tokenizer_of(recorded_builder(GetParam()));
  const std::string text(1'000'000, 'e');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, false)), text);
}

INSTANTIATE_TEST_SUITE_P(, ByteLevel, ::testing::Values("gpt-2", "llama-bpe", "qwen2"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ByteLevelTokenizer, AddsABeginningWhereTheFileOrItsKindAsksForOne) {
  GgufBuilder builder = recorded_builder("llama-bpe");
  EXPECT_TRUE(contains(message_of([&] { (void)tokenizer_of(builder).encode("a"); }),
                       "has no 'tokenizer.ggml.bos_token_id'"));
  builder.number("tokenizer.ggml.bos_token_id", 7);
  EXPECT_EQ(tokenizer_of(builder).encode(""), (Ids{7}));
  builder.boolean("tokenizer.ggml.add_bos_token", false);
  EXPECT_TRUE(tokenizer_of(builder).encode("").empty());
  builder = recorded_builder("qwen2").number("tokenizer.ggml.bos_token_id", 7);
  EXPECT_TRUE(tokenizer_of(builder).encode("").empty());
  EXPECT_EQ(tokenizer_of(builder).encode("", true), (Ids{7}));
}

TEST(ByteLevelTokenizer, EndsAtTheTokensThatTheFileNames) {
  const Tokenizer tokenizer = tokenizer_of(builder_of("qwen2", {"a", "b", "c", "d"}, {}, 1)
                                               .number("tokenizer.ggml.eot_token_id", 1)
                                               .number("tokenizer.ggml.eom_token_id", 2));
  EXPECT_EQ(tokenizer.eos(), 3);
  EXPECT_EQ(tokenizer.bos(), std::nullopt);
  EXPECT_TRUE(tokenizer.is_end(1) && tokenizer.is_end(2) && tokenizer.is_end(3));
  EXPECT_FALSE(tokenizer.is_end(0));
}

TEST(ByteLevelTokenizer, ABytePartOfNoTokenIsTheUnknownOneOrAnError) {
  GgufBuilder builder = builder_of("qwen2", {"a", "b", "<end>"}, {}, 1);
  EXPECT_TRUE(contains(message_of([&] { (void)tokenizer_of(builder).encode("ax"); }), "<0x78>"));
  builder.number("tokenizer.ggml.unknown_token_id", 2);
  EXPECT_EQ(tokenizer_of(builder).encode("ax"), (Ids{0, 2}));
}

TEST(ByteLevelTokenizer, AControlTokenSpelledLikeATextDoesNotHideIt) {
  GgufBuilder builder = builder_of("gpt-2", {"a", "b", "ab", "b", "ab", "<e>"}, {"a b"}, 3);
  const Tokenizer tokenizer = tokenizer_of(builder);
  EXPECT_EQ(tokenizer.encode("b", false), (Ids{1}));
  EXPECT_EQ(tokenizer.encode("ab", false), (Ids{2}));
}

TEST(ByteLevelTokenizer, WordsOfTheTextNeverBecomeControlTokens) {
  const Tokenizer tokenizer = tokenizer_of(builder_of("llama-bpe", {"a", "b", "ab"}, {}, 1)
                                               .boolean("tokenizer.ggml.add_bos_token", false));
  EXPECT_EQ(tokenizer.encode("ab"), (Ids{0, 1}));
  EXPECT_EQ(tokenizer.encode("ab", {.parse_special = true}), (Ids{2}));
}

TEST(ByteLevelTokenizer, HostileMetadataIsAnErrorThatNamesTheKeyAndTheFile) {
  const auto tokens = [](const std::string& rest) { return "tokenizer.ggml." + rest; };
  const auto small = [] { return builder_of("qwen2", {"a", "b", "ab", "</s>"}, {"a b"}, 1); };
  const std::vector<std::pair<GgufBuilder, std::string>> cases{
      {small().without(tokens("pre")), "tokenizer.ggml.pre"},
      {small().text(tokens("pre"), "rot13"), "('rot13'), but must be one of gpt-2, phi-2"},
      {small().number(tokens("pre"), 1), "(u32)"},
      {small().without(tokens("merges")), "tokenizer.ggml.merges"},
      {small().texts(tokens("merges"), {"ab"}), "The merge 0"},
      {small().texts(tokens("merges"), {"a b", "a  b"}), "The merge 1"},
      {small().texts(tokens("merges"), {" b"}), "must be two tokens"},
      {small().texts(tokens("merges"), {"b "}), "must be two tokens"},
      {small().texts(tokens("merges"), {""}), "must be two tokens"},
      {small().texts(tokens("merges"), {"b a"}), "('b a')"},
      {small().texts(tokens("merges"), {"a \x1b[2J"}), "\\x1B"},
      {small().numbers<float>(tokens("merges"), 6, {1}), "array of f32"},
      {small().without(tokens("eos_token_id")), "tokenizer.ggml.eos_token_id"},
      {small().number(tokens("eos_token_id"), 4), "(4), but must be in [0, 3]"},
      {small().number(tokens("eom_token_id"), 4), "tokenizer.ggml.eom_token_id"},
  };
  for (const auto& [builder, expected] : cases) {
    const std::string message = message_of([&gguf = builder] { tokenizer_of(gguf); });
    EXPECT_TRUE(contains(message, expected)) << message << " lacks " << expected;
    EXPECT_TRUE(contains(message, "GGUF file '/")) << message << " names no file";
  }
}

}  // namespace
}  // namespace reprise
