// Where programs keep compiled pipelines.
#include "samples/llama/pipeline_cache_path.h"

#include <map>

#include <gtest/gtest.h>

namespace llama {
namespace {

std::string path_in(const std::map<std::string, std::string>& variables) {
  return pipeline_cache_path([&](const char* name) {
           const auto it = variables.find(name);
           return it == variables.end() ? nullptr : it->second.c_str();
         })
      .string();
}

TEST(PipelineCachePath, IsWhatTheVariableSays) {
  EXPECT_EQ(path_in({{"REPRISE_PIPELINE_CACHE", "my/file"}, {"HOME", "/h"}}), "my/file");
  EXPECT_EQ(path_in({{"REPRISE_PIPELINE_CACHE", ""}, {"HOME", "/h"}}), "");
}

TEST(PipelineCachePath, IsInTheCacheFolderOfTheUser) {
  EXPECT_EQ(path_in({{"XDG_CACHE_HOME", "/c"}, {"HOME", "/h"}}), "/c/reprise/");
  EXPECT_EQ(path_in({{"HOME", "/h"}}), "/h/.cache/reprise/");
  EXPECT_EQ(path_in({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}), "/h/.cache/reprise/");
}

TEST(PipelineCachePath, IsNoneWithoutAFolder) {
  EXPECT_EQ(path_in({}), "");
  EXPECT_EQ(path_in({{"HOME", ""}, {"XDG_CACHE_HOME", ""}}), "");
}

}  // namespace
}  // namespace llama
