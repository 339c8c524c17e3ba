// Words in a text, against a search at every place.
#include "framework/formats/word_finder.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tests/formats/gguf_builder.h"
#include "tests/seed.h"

namespace reprise {
namespace {

std::vector<std::uint32_t> found_by(const WordFinder& finder, const std::string& text,
                                    WordFinder::Cursor& cursor) {
  std::vector<std::uint32_t> found;
  for (const char c : text) {
    found.push_back(finder.advance(cursor, static_cast<unsigned char>(c)));
  }
  return found;
}

/// The definition: the longest word that ends at each place.
std::vector<std::uint32_t> slowly_found(const std::vector<std::string>& words,
                                        const std::string& text) {
  std::vector<std::uint32_t> found(text.size(), WordFinder::kNone);
  for (std::size_t end = 0; end < text.size(); ++end) {
    std::size_t longest = 0;
    for (std::uint32_t w = 0; w < words.size(); ++w) {
      if (words[w].size() > longest && text.substr(0, end + 1).ends_with(words[w])) {
        longest = words[w].size();
        found[end] = w;
      }
    }
  }
  return found;
}

std::string random_text(std::mt19937& random, std::size_t max) {
  std::string text(1 + random() % max, ' ');
  for (char& c : text) {
    c = "ab\xFF"[random() % 3];
  }
  return text;
}

TEST(WordFinder, FindsTheLongestWordThatEndsAtEachPlace) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> set;
    for (std::uint64_t n = 1 + random() % 12; n-- > 0;) {
      set.insert(random_text(random, 6));
    }
    const std::vector<std::string> words(set.begin(), set.end());
    const WordFinder finder(words);
    const std::string text = random_text(random, 60);
    WordFinder::Cursor cursor;
    EXPECT_EQ(found_by(finder, text, cursor), slowly_found(words, text));
    EXPECT_LE(cursor.links, 2 * text.size());
  }
}

TEST(WordFinder, FollowsTwoLinksPerByteOfATextThatNearlyMatchesEverywhere) {
  const std::string almost(60'000, 'a');
  const WordFinder finder(std::vector<std::string>{"a", almost + "b"});
  WordFinder::Cursor cursor;
  const auto found = found_by(finder, almost + "c" + almost, cursor);
  EXPECT_EQ(found.front(), 0U);
  EXPECT_EQ(found[almost.size()], WordFinder::kNone);
  EXPECT_LE(cursor.links, 2 * found.size());
}

}  // namespace
}  // namespace reprise
