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
}

TEST_F(SourceFilesTest, NothingIsFoundOutsideOfTheRoots) {
  EXPECT_TRUE(files_.find("../secret").path.empty());
  EXPECT_TRUE(files_.find("samples/../../secret").path.empty());
}

/// Names of a hostile database, and the file that each leads to.
TEST_F(SourceFilesTest, WhatLiesOutsideOfTheRootsIsShownAfterConsentOnly) {
  const std::filesystem::path secret = folder_ / "secret";
  std::filesystem::create_symlink(secret, root_ / "linked.cpp");
  std::filesystem::create_directory_symlink(folder_ / "", root_ / "folder");
  for (const std::string& name :
       {secret.string(), (root_ / "../secret").string(), (root_ / "linked.cpp").string(),
        std::string("linked.cpp"), std::string("/elsewhere/linked.cpp"),
        std::string("folder/secret")}) {
    SCOPED_TRACE(name);
    SourceFiles files({root_});
    const SourceFile& found = files.find(name);
    EXPECT_TRUE(found.outside);
    EXPECT_TRUE(found.lines.empty());
    EXPECT_NE(found.problem.find(secret.string()), std::string::npos) << found.problem;
    files.allow(name);
    EXPECT_FALSE(files.find(name).outside);
    EXPECT_EQ(files.find(name).lines, std::vector<std::string>{"not under the root"});
  }
}

TEST_F(SourceFilesTest, ConsentIsForTheFolderAndNoOther) {
  std::filesystem::create_directory(folder_ / "deeper");
  for (const char* const file : {"beside", "deeper/below"}) {
    std::ofstream(folder_ / file) << file;
  }
  SourceFiles files({root_});
  EXPECT_TRUE(files.find((folder_ / "beside").string()).outside);
  EXPECT_TRUE(files.find((folder_ / "deeper/below").string()).outside);
  files.allow((folder_ / "secret").string());
  EXPECT_FALSE(files.find((folder_ / "beside").string()).outside);
  EXPECT_TRUE(files.find((folder_ / "deeper/below").string()).outside);
}

TEST_F(SourceFilesTest, ConsentIsRememberedForWhatTheFileContained) {
  const std::string secret = (folder_ / "secret").string(), beside = (folder_ / "beside").string();
  std::ofstream(beside) << "text";
  SourceFiles before({root_});
  before.allow(secret);
  EXPECT_FALSE(before.find(secret).outside);

  SourceFiles after({root_});
  after.agree(before.agreed());
  EXPECT_FALSE(after.find(secret).outside);
  EXPECT_TRUE(after.find(beside).outside);  // was not seen

  std::ofstream(secret) << "something else";
  SourceFiles later({root_});
  later.agree(before.agreed());
  EXPECT_TRUE(later.find(secret).outside);
}

TEST_F(SourceFilesTest, ARootThatIsALinkHoldsWhatItLeadsTo) {
  std::filesystem::create_directory_symlink(root_, folder_ / "link");
  SourceFiles files({folder_ / "link"});
  for (const std::string& name : {std::string("forward.cpp"), (root_ / "forward.cpp").string(),
                                  (folder_ / "link/forward.cpp").string()}) {
    EXPECT_EQ(files.find(name).lines, std::vector<std::string>{"other"}) << name;
  }
}

TEST_F(SourceFilesTest, AFileWrittenAfterTheRunBeganIsNotTheRecordedOne) {
  const std::chrono::sys_seconds written{std::chrono::sys_days{std::chrono::May / 4 / 2026}};
  std::filesystem::last_write_time(root_ / "forward.cpp",
                                   std::chrono::file_clock::from_sys(written));
  const SourceFile& file = files_.find("forward.cpp");
  EXPECT_EQ(edited_since(file, "2026-05-04T00:00:00Z"), "");
  EXPECT_EQ(edited_since(file, "2026-05-03T23:59:59Z"),
            "The file was written at 2026-05-04 00:00 UTC, after this run began (2026-05-03 23:59 "
            "UTC): its lines may be others than those recorded.");
  for (const char* unknown : {"", "yesterday", "-1-01-01T00:00:00Z"}) {
    EXPECT_EQ(edited_since(file, unknown), "") << unknown;
  }
  EXPECT_EQ(edited_since(files_.find("absent.cpp"), "2020-01-01T00:00:00Z"), "");
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
