// Texts that a user names: what is read, and what is refused.
#include "framework/programs/text_file.h"

#include <fstream>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "reprise/core/error.h"
#include "tests/formats/gguf_builder.h"

namespace reprise::programs {
namespace {

using test::TempFile;

std::string error_of(const std::filesystem::path& path, std::size_t max_bytes) {
  try {
    read_text(path, max_bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TextFile, IsReadAsItIs) {
  const std::string text = std::string(100'000, 'x') + std::string("\0\r\n\xFF", 4);
  EXPECT_EQ(read_text(TempFile(text).path(), text.size()), text);
  EXPECT_EQ(read_text(TempFile("").path(), 1), "");
}

TEST(TextFile, IsReadFromAPipeToItsEnd) {
  const TempFile file;
  std::filesystem::remove(file.path());
  ASSERT_EQ(::mkfifo(file.path().c_str(), 0600), 0);
  const std::jthread writer([&] { std::ofstream(file.path()) << "one\ntwo"; });
  EXPECT_EQ(read_text(file.path(), 100), "one\ntwo");
}

TEST(TextFile, IsRefusedWithItsNameAndTheReason) {
  const TempFile file("12345");
  EXPECT_EQ(error_of(file.path(), 5), "");
  EXPECT_EQ(error_of(file.path(), 4), "The file '" + file.path().string() +
                                          "' has more than (4) bytes, the most that are read.");
  EXPECT_EQ(error_of("/dev/zero", 100'000),
            "The file '/dev/zero' has more than (100000) bytes, the most that are read.");
  EXPECT_EQ(error_of("/proc", 9), "The file '/proc' is a directory, not a text.");
  EXPECT_EQ(error_of("/nonexistent", 9),
            "The file '/nonexistent' cannot be read: No such file or directory.");
}

}  // namespace
}  // namespace reprise::programs
