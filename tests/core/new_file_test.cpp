// Files that are published: whole or not at all, through no link, by any number of writers.
#include "framework/core/new_file.h"

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "framework/profile/tensor_file.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/session/saved_pass.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using test::TempFolder;

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class NewFiles : public ::testing::Test {
 protected:
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "file";
};

TEST_F(NewFiles, HaveTheirNameOnceTheyArePublished) {
  {
    NewFile file(path_);
    file.stream() << "half";
    file.write(std::as_bytes(std::span(std::string_view(" and half"))));
    EXPECT_FALSE(std::filesystem::exists(path_));
    file.publish();
    EXPECT_EQ(content_of(path_), "half and half");
  }
  { NewFile(path_).stream() << "never published"; }
  EXPECT_EQ(content_of(path_), "half and half");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(NewFiles, ThatMayNotReplaceAnythingDoNotEvenIfItComesLate) {
  NewFile file(path_, NewFile::Existing::refuse);
  file.stream() << "new";
  std::ofstream(path_) << "old";
  const std::string exists =
      "The file (" + path_.string() + ") exists already; it is not overwritten.";
  expect_error(ErrorCode::invalid_argument, {exists}, [&] { file.publish(); });
  expect_error(ErrorCode::invalid_argument, {exists},
               [&] { NewFile again(path_, NewFile::Existing::refuse); });
  EXPECT_EQ(content_of(path_), "old");
}

TEST_F(NewFiles, ReplaceALinkAndLeaveWhatItLeadsTo) {
  std::ofstream(folder_ / "other") << "of somebody else";
  std::filesystem::create_symlink(folder_ / "other", path_);
  NewFile file(path_);
  file.stream() << "new";
  file.publish();
  EXPECT_EQ(content_of(folder_ / "other"), "of somebody else");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path_)));
}

TEST_F(NewFiles, OnAFullDiskSayWhyAndLeaveNothing) {
  std::ofstream(path_) << "old";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit full = before;
  full.rlim_cur = 100'000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  std::string error;
  try {
    NewFile file(path_);
    file.stream() << std::string(200'000, 'x');
    file.publish();
  } catch (const Error& e) {
    error = e.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(error, "The file (" + path_.string() + ") cannot be written: File too large.");
  EXPECT_EQ(content_of(path_), "old");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(NewFiles, StopWhenTheyAreAskedTo) {
  std::stop_source source;
  {
    NewFile file(path_, NewFile::Existing::replace, source.get_token());
    file.stream() << "some";
    source.request_stop();
    expect_error(ErrorCode::io, {"cannot be written: Operation canceled"}, [&] { file.publish(); });
  }
  EXPECT_EQ(folder_.files(), 0U);
}

// Containers give each process the number that it had the last time.
TEST_F(NewFiles, AreNotStoppedByFilesWithTheNumberOfTheirProcess) {
  const std::string theirs = path_.string() + "." + std::to_string(getpid()) + "-";
  constexpr std::size_t kFiles = 200;  // the tests before this one have made some
  for (std::size_t i = 0; i < kFiles; ++i) {
    std::ofstream(theirs + std::to_string(i) + ".part") << "of somebody else";
  }
  NewFile file(path_);
  file.publish();
  EXPECT_EQ(folder_.files(), kFiles + 1);
}

TEST_F(NewFiles, RemoveThePartsOfDeadWritersOnly) {
  const auto make = [&](const char* name) { std::ofstream(folder_ / name) << "half"; };
  for (const char* dead : {"file.0123456789abcdef.part", "file.0123456789abcdef.part-journal"}) {
    make(dead);
  }
  const std::vector<const char*> kept{"file.part",
                                      "file.0123456789abcde.part",
                                      "file.0123456789ABCDEF.part",
                                      "other.0123456789abcdef.part",
                                      "file.0123456789abcdef.par",
                                      "file-0123456789abcdef.part",
                                      "a.file.0123456789abcdef.part",
                                      "file.0123456789abcdef.part~"};
  std::ranges::for_each(kept, make);
  std::filesystem::create_directory(folder_ / "file.1111111111111111.part");
  std::filesystem::create_symlink(folder_ / "file.part", folder_ / "file.2222222222222222.part");
  NewFile live(path_);
  live.stream() << "of the living";
  NewFile(path_).publish();
  live.publish();
  EXPECT_EQ(content_of(path_), "of the living");
  EXPECT_EQ(folder_.files(), kept.size() + 3);
  for (const char* name : kept) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / name)) << name;
  }
}

TEST_F(NewFiles, ReplaceNothingButRegularFiles) {
  const std::filesystem::path pipe = folder_ / "pipe", folder = folder_ / "folder";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_directory(folder);
  std::map<std::filesystem::path, std::string> kinds{
      {pipe, "a pipe"}, {folder, "a folder"}, {"/dev/null", "a device"}};
  const auto link_to = [&](const std::filesystem::path& target, const std::string& kind) {
    const std::filesystem::path link = folder_ / ("link " + kind);
    std::filesystem::create_symlink(target, link);
    kinds[link] = "a link to " + kind;
  };
  link_to(pipe, "a pipe");
  link_to(folder, "a folder");
  link_to("/dev/null", "a device");
  link_to("/proc/self/fd/1", "an open file of a process");  // as /dev/stdout is
  // Nothing is published here: where the checks are missing, the machine would lose its device.
  for (const auto& [path, kind] : kinds) {
    const std::string refused =
        "The path (" + path.string() + ") is " + kind + ", which no file replaces";
    expect_error(ErrorCode::invalid_argument, {refused}, [at = path] { NewFile file(at); });
  }
  EXPECT_EQ(folder_.files(), 6U);
  NewFile late(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  expect_error(ErrorCode::invalid_argument, {"is a pipe"}, [&] { late.publish(); });
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

/// Somebody put a link where a writer might keep what is not whole yet.
class GuessedNames : public NewFiles {
 protected:
  GuessedNames() {
    std::ofstream(folder_ / "other") << "of somebody else";
    std::filesystem::create_symlink(folder_ / "other", path_.string() + ".part");
  }
  ~GuessedNames() override { EXPECT_EQ(content_of(folder_ / "other"), "of somebody else"); }
};

TEST_F(GuessedNames, AreNotUsedForTensors) {
  profile::write_tensor_file(path_, "t", {{2}, DType::f32}, std::vector<std::byte>(8));
  EXPECT_EQ(profile::read_tensor_file(path_).size(), 8U);
}

TEST_F(GuessedNames, AreNotUsedForGraphs) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {1}, std::vector<float>{1});
  s.output("y", reprise::add(s, x, x));
  const CapturedGraph graph = s.finish({.run = false}).graph;
  graph.save(path_);
  (void)executor.load_graph(path_);
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_error(ErrorCode::invalid_argument, {"is a pipe"}, [&] { graph.save(pipe); });
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(NewFiles, OfConcurrentSavesAreWhole) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {1}, std::vector<float>{1});
  Tensor y = x;
  for (int i = 0; i < 200; ++i) {
    y = reprise::add(s, y, x);
  }
  s.output("y", y);
  const CapturedGraph graph = s.finish({.run = false}).graph;
  graph.save(path_);
  const std::string whole = content_of(path_);
  std::vector<std::jthread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        graph.save(path_);
      }
    });
  }
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(content_of(path_), whole);
  }
  writers.clear();
  EXPECT_EQ(folder_.files(), 1U);
}

}  // namespace
}  // namespace reprise::testing
