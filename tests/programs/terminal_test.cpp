// Text of files on a terminal.
#include "framework/programs/terminal.h"

#include <gtest/gtest.h>

#include "reprise/core/printable.h"

namespace reprise::programs {
namespace {

/// What a terminal gets of a text that comes in pieces of `bytes`.
std::string streamed(std::string_view text, std::size_t bytes) {
  PrintableStream stream;
  std::string shown;
  for (; !text.empty(); text.remove_prefix(std::min(bytes, text.size()))) {
    shown += stream.add(text.substr(0, bytes));
  }
  return shown + stream.end();
}

TEST(Printable, KeepsCharactersAndReplacesWhatControlsATerminal) {
  EXPECT_EQ(printable("a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(printable("\x1B[31m\x7F\r\n\t"), "?[31m????");
  EXPECT_EQ(printable("\xC2\x9B"), "??") << "CSI of C1";
  EXPECT_EQ(printable("\xE2\x80\xAE"), "???") << "from right to left";
  EXPECT_EQ(printable("\xFF\xC3"), "??");
  EXPECT_EQ(printable_lines("a\tb\nc\x1B"), "a\tb\nc?");
}

TEST(PrintableJson, EscapesWhatControlsATerminalAndStaysTheSameText) {
  EXPECT_EQ(printable_json("{\n  \"a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\": \"\\u001b\"\n}"),
            "{\n  \"a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\": \"\\u001b\"\n}");
  EXPECT_EQ(printable_json("\"\x7F\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6\""),
            "\"\\u007f\\u009b\\u202e\\u2066\"");
  EXPECT_EQ(printable_json("\"\x1B\xE2"), "\"\\u001b\\u00e2") << "what is no JSON ends too";
}

TEST(PrintableStream, IsTheSameHoweverTheTextIsCut) {
  for (const std::string text : {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z\n", "\x1B]0;x\x07\xC2\x9Bz",
                                 "\xE2\x82z\xFF\x80\x80", "cut \xF0\x9F\x98"}) {
    for (std::size_t bytes = 1; bytes <= text.size(); ++bytes) {
      EXPECT_EQ(streamed(text, bytes), printable_lines(text)) << bytes;
    }
  }
}

TEST(PrintableStream, HoldsNothingButACharacterThatIsCut) {
  PrintableStream stream;
  EXPECT_EQ(stream.add("ab\xE2\x82"), "ab");
  EXPECT_EQ(stream.add("\xAC"), "\xE2\x82\xAC");
  EXPECT_EQ(stream.add("\xC3"), "");
  EXPECT_EQ(stream.end(), "?");
}

}  // namespace
}  // namespace reprise::programs
