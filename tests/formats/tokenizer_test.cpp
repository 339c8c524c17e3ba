// The tokenizer against llama.cpp's recorded ids, a slow independent merger, and hostile metadata.
#include "reprise/formats/tokenizer.h"

#include <fstream>
#include <limits>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reprise/core/error.h"
#include "tests/formats/gguf_builder.h"
#include "tests/seed.h"

namespace reprise {
namespace {

using test::GgufBuilder;
using test::raw;
using test::TempFile;
using Ids = std::vector<std::int32_t>;

const std::filesystem::path kModels = REPRISE_MODELS_DIR;
const std::string kSpace = "\xE2\x96\x81";

GgufFile tales() { return GgufFile::open(kModels / "tales-f16.gguf"); }

std::string spaces_for_marks(std::string text) {
  for (std::size_t at = 0; (at = text.find(kSpace, at)) != std::string::npos;) {
    text.replace(at, kSpace.size(), " ");
  }
  return text;
}

/// Pieces, ASCII, any code points and raw bytes, mixed; never U+2581, which means a space.
std::string random_text(const Tokenizer& tokenizer, std::mt19937& random) {
  std::string text;
  for (std::uint64_t part = random() % 40; part-- > 0;) {
    const std::uint64_t kind = random() % 4;
    if (kind == 0) {
      text += tokenizer.piece(static_cast<std::int32_t>(
          259 + random() % static_cast<std::uint32_t>(tokenizer.vocab_size() - 259)));
    } else if (kind == 1) {
      text += static_cast<char>(random() % 96 + 32);
    } else if (kind == 2) {
      const std::uint64_t code = 0x800 + random() % 0x5000;
      text += static_cast<char>(0xE0U | (code >> 12U));
      text += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
      text += static_cast<char>(0x80U | (code & 0x3FU));
    } else {
      text += static_cast<char>(random() & 0xFFU);
    }
  }
  return spaces_for_marks(text);
}

/// The definition: again and again, join the neighbours that form the best piece, leftmost first.
Ids slow_encode(const GgufFile& file, const std::string& text) {
  std::map<std::string, std::int32_t> ids;
  const auto spellings = file.value("tokenizer.ggml.tokens").as_strings();
  const auto scores = file.value("tokenizer.ggml.scores").as_floats();
  for (std::size_t i = 0; i < spellings.size(); ++i) {
    ids[std::string(spellings[i])] = static_cast<std::int32_t>(i);
  }
  std::vector<std::string> parts;
  std::string marked = kSpace;
  for (const char c : text) {
    marked += c == ' ' ? kSpace : std::string(1, c);
  }
  for (std::size_t i = 0; i < marked.size();) {
    const auto lead = static_cast<unsigned char>(marked[i]);
    const std::size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    parts.push_back(marked.substr(i, bytes));
    i += bytes;
  }
  for (;;) {
    std::size_t best = parts.size();
    float best_score = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ids.find(parts[i] + parts[i + 1]);
      if (found != ids.end() && scores[static_cast<std::size_t>(found->second)] > best_score) {
        best = i;
        best_score = scores[static_cast<std::size_t>(found->second)];
      }
    }
    if (best == parts.size()) {
      break;
    }
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  Ids result;
  for (const std::string& part : parts) {
    const auto found = ids.find(part);
    if (found != ids.end()) {
      result.push_back(found->second);
      continue;
    }
    for (const char c : part) {
      result.push_back(3 + static_cast<unsigned char>(c));
    }
  }
  return result;
}

/// <unk> <s> </s>, the bytes, then a space, letters and two joined pieces.
GgufBuilder small_vocabulary() {
  std::vector<std::string> texts{"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> kinds{2, 3, 3};
  std::vector<float> scores{0, 0, 0};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string hex = "0123456789ABCDEF";
    texts.push_back(std::string("<0x") + hex[byte / 16] + hex[byte % 16] + ">");
    kinds.push_back(6);
    scores.push_back(0);
  }
  float score = -1;
  for (const std::string& text :
       {kSpace, std::string("a"), std::string("b"), std::string("ab"), kSpace + "a"}) {
    texts.push_back(text);
    kinds.push_back(1);
    scores.push_back(score--);
  }
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", texts);
  builder.numbers("tokenizer.ggml.scores", 6, scores);
  builder.numbers("tokenizer.ggml.token_type", 5, kinds);
  return builder;
}

Tokenizer tokenizer_of(const GgufBuilder& builder) {
  const TempFile temp(builder.bytes());
  return Tokenizer(GgufFile::open(temp.path()));
}

std::string message_of(const GgufBuilder& builder) {
  try {
    tokenizer_of(builder);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Tokenizer, GivesTheIdsAndTextsThatLlamaCppRecorded) {
  const Tokenizer tokenizer(tales());
  std::ifstream file(kModels / "reference.json");
  const auto runs = nlohmann::json::parse(file);
  ASSERT_FALSE(runs.empty());
  for (const auto& run : runs) {
    const auto prompt = run.at("prompt").get<std::string>();
    const auto prompt_ids = run.at("prompt_token_ids").get<Ids>();
    const auto generated = run.at("generated_token_ids").get<Ids>();
    const auto text = run.at("text").get<std::string>();
    SCOPED_TRACE(prompt);
    EXPECT_EQ(tokenizer.encode(prompt), prompt_ids);
    EXPECT_EQ(tokenizer.encode(prompt, false), Ids(prompt_ids.begin() + 1, prompt_ids.end()));
    EXPECT_EQ(tokenizer.decode(prompt_ids), prompt);
    std::string pieces;
    for (const std::int32_t id : generated) {
      pieces += tokenizer.piece(id);
    }
    EXPECT_EQ(pieces, text);
    Ids all = prompt_ids;
    all.insert(all.end(), generated.begin(), generated.end());
    EXPECT_EQ(tokenizer.decode(all), prompt + text);
  }
}

TEST(Tokenizer, AgreesWithASlowMergerAndGivesRandomTextBack) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  const GgufFile file = tales();
  const Tokenizer tokenizer(file);
  for (int round = 0; round < 1500; ++round) {
    const std::string text = random_text(tokenizer, random);
    const Ids ids = tokenizer.encode(text, true);
    ASSERT_EQ(tokenizer.decode(ids), text) << "round " << round;
    if (!text.empty()) {
      ASSERT_EQ(Ids(ids.begin() + 1, ids.end()), slow_encode(file, text)) << "round " << round;
    }
  }
}

TEST(Tokenizer, LongTextTakesNoQuadraticTime) {
  const Tokenizer tokenizer(tales());
  std::string text;
  while (text.size() < 1000000) {
    text += "Once upon a time there was a little fox. ";
  }
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(Tokenizer, MergesTheBestScoreFirstThenTheLeftmost) {
  const Tokenizer tokenizer = tokenizer_of(small_vocabulary());
  EXPECT_EQ(tokenizer.encode("ab", false), (Ids{259, 262}));
  EXPECT_EQ(tokenizer.encode("aab", true), (Ids{1, 263, 262}));
  EXPECT_EQ(tokenizer.encode("a b", false), (Ids{263, 259, 261}));
  EXPECT_EQ(tokenizer.encode("", true), (Ids{1}));
  EXPECT_TRUE(tokenizer.encode("", false).empty());
}

TEST(Tokenizer, UnknownCharactersBecomeByteTokens) {
  const Tokenizer tokenizer = tokenizer_of(small_vocabulary());
  EXPECT_EQ(tokenizer.encode("\xC3\xA9", false), (Ids{259, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(tokenizer.piece(3 + 0xC3), "\xC3");
  EXPECT_EQ(tokenizer.decode(Ids{259, 3 + 0xC3, 3 + 0xA9}), "\xC3\xA9");
}

/// Bytes of kind 6 and their spelling as a text too, with all that it is joined from.
GgufBuilder with_spelled_byte(std::int32_t kind) {
  const std::vector<std::string> texts{"<unk>", "<s>",  "</s>",  "<0x41>", "<0",
                                       "<0x",   "<0x4", "<0x41", "<0x41>", "<",
                                       "0",     "x",    "4",     "1",      ">"};
  std::vector<std::int32_t> kinds(texts.size(), 1);
  kinds[3] = 6;
  kinds[8] = kind;
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", texts);
  builder.numbers("tokenizer.ggml.scores", 6, std::vector<float>(texts.size()));
  builder.numbers("tokenizer.ggml.token_type", 5, kinds);
  builder.boolean("tokenizer.ggml.add_space_prefix", false);
  return builder;
}

TEST(Tokenizer, ATextSpelledLikeAByteTokenStaysThatText) {
  const Tokenizer tokenizer = tokenizer_of(with_spelled_byte(6));
  EXPECT_EQ(tokenizer.encode("<0x41>", false), (Ids{7, 14}));
}

TEST(Tokenizer, APieceSpelledLikeAByteTokenIsNotThatByte) {
  const Tokenizer tokenizer = tokenizer_of(with_spelled_byte(1));
  EXPECT_EQ(tokenizer.encode("A", false), (Ids{3}));
  EXPECT_EQ(tokenizer.encode("<0x41>", false), (Ids{8}));
}

TEST(Tokenizer, SettingsOfTheFileDecideOnPrefixBosAndEnd) {
  GgufBuilder builder = small_vocabulary();
  builder.boolean("tokenizer.ggml.add_space_prefix", false);
  builder.boolean("tokenizer.ggml.add_bos_token", false);
  builder.number("tokenizer.ggml.bos_token_id", 2).number("tokenizer.ggml.eos_token_id", 1);
  builder.number("tokenizer.ggml.eot_token_id", 262);
  const Tokenizer tokenizer = tokenizer_of(builder);
  EXPECT_EQ(tokenizer.encode("ab"), (Ids{262}));
  EXPECT_EQ(tokenizer.encode("ab", true), (Ids{2, 262}));
  EXPECT_EQ(tokenizer.decode(Ids{259, 262}), " ab");
  EXPECT_EQ(tokenizer.bos(), 2);
  EXPECT_EQ(tokenizer.eos(), 1);
  EXPECT_TRUE(tokenizer.is_end(1) && tokenizer.is_end(262));
  EXPECT_FALSE(tokenizer.is_end(2) || tokenizer.is_end(-1));
}

TEST(Tokenizer, ControlTokensHaveNoText) {
  const Tokenizer tokenizer = tokenizer_of(small_vocabulary());
  EXPECT_EQ(tokenizer.piece(1), "");
  EXPECT_EQ(tokenizer.decode(Ids{1, 263, 2}), "a");
}

/// The small one with <go> of that kind, a score that would make it a piece, and its parts.
GgufBuilder with_special(std::int32_t kind, const std::string& text = "<go>") {
  std::vector<std::string> texts{"<unk>", "<s>", "</s>", text,  "<",   "g",
                                 "o",     ">",   "<g",   "<go", kSpace};
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", texts);
  builder.numbers<float>("tokenizer.ggml.scores", 6, {0, 0, 0, 9, 1, 1, 1, 1, 1, 1, 1});
  builder.numbers<std::int32_t>("tokenizer.ggml.token_type", 5,
                                {2, 3, 3, kind, 1, 1, 1, 1, 1, 1, 1});
  builder.boolean("tokenizer.ggml.add_bos_token", false);
  return builder;
}

TEST(Tokenizer, TheTextOfAControlTokenIsPlainTextUnlessAskedFor) {
  const Tokenizer tokenizer = tokenizer_of(with_special(3));
  EXPECT_EQ(tokenizer.encode("o<go>o"), (Ids{10, 6, 9, 7, 6}));
  EXPECT_EQ(tokenizer.encode("o<go>o", {.parse_special = true}), (Ids{10, 6, 3, 10, 6}));
  EXPECT_EQ(tokenizer.decode(Ids{10, 6, 3, 10, 6}), "oo");
  EXPECT_EQ(tokenizer.encode("</s></s", {.parse_special = true}), (Ids{2, 10, 4, 0, 0}));
}

TEST(Tokenizer, UserDefinedTokensAreFoundInAnyTextAndGiveItBack) {
  const Tokenizer tokenizer = tokenizer_of(with_special(4));
  EXPECT_EQ(tokenizer.encode("<go<go>> <go>"), (Ids{10, 9, 3, 10, 7, 10, 3}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("<go<go>> <go>")), "<go<go>> <go>");
  const Tokenizer spaces = tokenizer_of(with_special(4, kSpace + kSpace));
  EXPECT_EQ(spaces.encode("o  o"), (Ids{10, 6, 3, 10, 6}));
  EXPECT_EQ(spaces.decode(spaces.encode("o  o")), "o  o");
  EXPECT_EQ(spaces.piece(3), "  ");
}

/// The definition: at each place the longest, from left to right; other bytes as tokens 3 and on.
Ids slowly_found(const std::vector<std::string>& specials, std::string_view text) {
  Ids ids;
  while (!text.empty()) {
    std::size_t longest = 0;
    std::int32_t id = 3 + static_cast<unsigned char>(text[0]);
    for (std::size_t s = 0; s < specials.size(); ++s) {
      if (specials[s].size() >= longest && text.starts_with(specials[s])) {
        longest = specials[s].size();
        id = static_cast<std::int32_t>(259 + s);
      }
    }
    ids.push_back(id);
    text.remove_prefix(std::max<std::size_t>(longest, 1));
  }
  return ids;
}

TEST(Tokenizer, SpecialTokensAreFoundAsASearchAtEveryPlaceFindsThem) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  const auto random_word = [&](std::uint64_t max) {
    std::string word(1 + random() % max, ' ');
    std::ranges::generate(word, [&] { return "xyz"[random() % 3]; });
    return word;
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> texts{"<unk>", "<s>", "</s>"};
    std::vector<std::int32_t> kinds{2, 3, 3};
    for (unsigned byte = 0; byte < 256; ++byte) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      texts.push_back(std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">");
      kinds.push_back(6);
    }
    std::vector<std::string> specials;
    for (std::uint64_t n = random() % 9; n-- > 0;) {
      specials.push_back(random_word(5));
      texts.push_back(specials.back());
      kinds.push_back(4);
    }
    GgufBuilder builder;
    builder.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", texts);
    builder.numbers<float>("tokenizer.ggml.scores", 6, std::vector<float>(texts.size()));
    builder.numbers("tokenizer.ggml.token_type", 5, kinds);
    builder.boolean("tokenizer.ggml.add_bos_token", false);
    builder.boolean("tokenizer.ggml.add_space_prefix", false);
    const std::string text = random_word(40);
    EXPECT_EQ(tokenizer_of(builder).encode(text), slowly_found(specials, text)) << text;
  }
}

TEST(Tokenizer, TokensOutOfRangeAreErrors) {
  const Tokenizer tokenizer = tokenizer_of(small_vocabulary());
  for (const std::int32_t id : {-1, 264, std::numeric_limits<std::int32_t>::max(),
                                std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_THROW(tokenizer.piece(id), Error) << id;
    EXPECT_THROW(tokenizer.decode(Ids{1, id}), Error) << id;
  }
  try {
    tokenizer.piece(264);
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "(264)") && contains(error.what(), "[0, 264)"));
  }
}

TEST(Tokenizer, AnotherKindOfTokenizerIsUnsupportedAndNamed) {
  const GgufBuilder builder = small_vocabulary().text("tokenizer.ggml.model", "bert");
  try {
    tokenizer_of(builder);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_TRUE(contains(error.what(), "bert")) << error.what();
  }
}

TEST(Tokenizer, HostileMetadataIsAnErrorThatNamesTheKey) {
  const auto tokens = [](const std::string& rest) { return "tokenizer.ggml." + rest; };
  const auto small = [] { return small_vocabulary(); };
  const std::vector<std::pair<GgufBuilder, std::string>> cases{
      {GgufBuilder(), "tokenizer.ggml.model"},
      {small().number(tokens("model"), 1), "(u32)"},
      {small().without(tokens("tokens")), "tokenizer.ggml.tokens"},
      {small().texts(tokens("tokens"), {}), "(0) tokens"},
      {small().numbers<float>(tokens("tokens"), 6, {1.0F}), "array of f32"},
      {small().without(tokens("scores")), "tokenizer.ggml.scores"},
      {small().numbers<float>(tokens("scores"), 6, {1.0F, 2.0F}), "(2) elements"},
      {small().numbers<float>(tokens("scores"), 6, std::vector<float>(265)), "(265) elements"},
      {small().numbers<float>(tokens("scores"), 6,
                              std::vector<float>(264, std::numeric_limits<float>::quiet_NaN())),
       "(NaN)"},
      {small().numbers<std::int32_t>(tokens("token_type"), 5, {1}), "(1) elements"},
      {small().numbers(tokens("token_type"), 5, std::vector<std::int32_t>(264, 7)), "(7)"},
      {small().numbers(tokens("token_type"), 5, std::vector<std::int32_t>(264, -1)), "(-1)"},
      {small().numbers(tokens("token_type"), 5, std::vector<std::int32_t>(264, 6)), "<unk>"},
      {small().number(tokens("bos_token_id"), 264), "(264)"},
      {small().number(tokens("eos_token_id"), 0xFFFFFFFF), "(4294967295)"},
      {small().value(tokens("unknown_token_id"), 5, raw<std::int32_t>(-1)), "(-1)"},
      {small().text(tokens("eot_token_id"), "</s>"), "tokenizer.ggml.eot_token_id"},
      {small().number(tokens("add_bos_token"), 1), "tokenizer.ggml.add_bos_token"},
  };
  for (const auto& [builder, expected] : cases) {
    const std::string message = message_of(builder);
    EXPECT_TRUE(contains(message, expected)) << message << " lacks " << expected;
    EXPECT_TRUE(contains(message, "GGUF file '/")) << message << " names no file";
  }
}

TEST(Tokenizer, AVocabularyWithoutBytesOrSpaceFallsBackToTheUnknownToken) {
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama");
  builder.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "a", "a", ""});
  builder.numbers("tokenizer.ggml.scores", 6, std::vector<float>(6));
  const Tokenizer tokenizer = tokenizer_of(builder);
  EXPECT_EQ(tokenizer.encode("ax", false), (Ids{0, 0, 0, 4, 0}));
}

}  // namespace
}  // namespace reprise
