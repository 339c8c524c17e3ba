#include "debugger/model/source_files.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/profile/recorded_graphs.h"

namespace reprise::debugger {
namespace {

class SourceFilesTest : public ::testing::Test {
 protected:
  SourceFilesTest() {
    std::filesystem::create_directories(root_ / "samples" / "llama");
    std::ofstream(root_ / "samples" / "llama" / "forward.cpp") << "first\r\n\tsecond\n";
    std::ofstream(root_ / "forward.cpp") << "other\n";
    std::ofstream(folder_ / "secret") << "not under the root\n";
  }
  test::TempFolder folder_;
  const std::filesystem::path root_ = folder_ / "root";
  SourceFiles files_{{folder_ / "absent", root_}};
};

TEST_F(SourceFilesTest, TheLongestEndOfANameIsTaken) {
  for (const char* name : {"samples/llama/forward.cpp", "../../samples/llama/forward.cpp",
                           "/build/machine/samples/llama/forward.cpp",
                           "llama/../samples/llama/"
                           "forward.cpp"}) {
    const SourceFile& file = files_.find(name);
    EXPECT_EQ(file.path, root_ / "samples" / "llama" / "forward.cpp") << name;
    EXPECT_EQ(file.lines, (std::vector<std::string>{"first", "    second"}));
    EXPECT_EQ(file.problem, "");
  }
  EXPECT_EQ(files_.find("/elsewhere/forward.cpp").path, root_ / "forward.cpp");
  EXPECT_EQ(files_.find((folder_ / "secret").string()).path, folder_ / "secret");  // as it is
}

TEST_F(SourceFilesTest, NothingIsFoundOutsideOfTheRoots) {
  EXPECT_TRUE(files_.find("../secret").path.empty());
  EXPECT_TRUE(files_.find("samples/../../secret").path.empty());
}

TEST_F(SourceFilesTest, NamesThatAreNoneAreNotFound) {
  for (const std::string& name :
       {std::string(), std::string("a\0b", 3), std::string(100'000, 'x'), std::string(3000, '/'),
        std::string("/dev/zero"), std::string("."), std::string(300, 'x') + "/forward.c"}) {
    const SourceFile& file = files_.find(name);
    EXPECT_TRUE(file.lines.empty());
    EXPECT_NE(file.problem, "");
  }
}

TEST_F(SourceFilesTest, OnlyTextsOfModestSizeAreRead) {
  std::ofstream(root_ / "large.cpp") << std::string((4 << 20) + 1, 'x');
  EXPECT_NE(files_.find("large.cpp").problem.find("4 MiB"), std::string::npos);
  std::ofstream(root_ / "noise.cpp") << "\x1B[31m\xFF\n";
  EXPECT_EQ(files_.find("noise.cpp").lines, std::vector<std::string>{"?[31m?"});
  std::ofstream(root_ / "empty.cpp").close();
  EXPECT_NE(files_.find("empty.cpp").problem, "");
}

}  // namespace
}  // namespace reprise::debugger
