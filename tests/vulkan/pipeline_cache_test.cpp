// The file of compiled pipelines: what is believed of one, and what happens to the others.
#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include "backends/vulkan/pipeline_cache_file.h"
#include "tests/testing.h"
#include "tests/vulkan/norm_run.h"
#include "tests/vulkan/open_vulkan.h"

namespace reprise::vulkan {
namespace {

/// A folder of its own for each test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "reprise-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("Cannot create " + name);
    }
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  std::size_t entries() const {
    const std::filesystem::directory_iterator all(path_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class PipelineCacheFile : public ::testing::Test {
 protected:
  PipelineCacheFile() {
    std::mt19937_64 rng(seed_);
    std::ranges::generate(data_, [&] { return static_cast<std::byte>(rng()); });
    EXPECT_EQ(save_cache_file(path_, owner_, data_), "");
  }
  void expect_refused(const std::string& reason) const {
    const CacheFile file = load_cache_file(path_, owner_);
    EXPECT_TRUE(file.data.empty());
    EXPECT_NE(file.refusal.find(reason), std::string::npos) << file.refusal;
  }

  const std::uint64_t seed_ = testing::test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, testing::seed_note(seed_)};
  const Folder folder_;
  const std::filesystem::path path_ = folder_ / "cache.bin";
  CacheOwner owner_{1, 2, 3, {4, 5}};
  std::vector<std::byte> data_ = std::vector<std::byte>(40);
};

TEST_F(PipelineCacheFile, ComesBackAsItWasSaved) {
  const CacheFile file = load_cache_file(path_, owner_);
  EXPECT_EQ(file.refusal, "");
  EXPECT_EQ(file.data, data_);
  EXPECT_EQ(folder_.entries(), 1U) << "a temporary file was left behind";
}

TEST_F(PipelineCacheFile, IsReplacedAsAWhole) {
  const std::vector<std::byte> other(7, std::byte{1});
  EXPECT_EQ(save_cache_file(path_, owner_, other), "");
  EXPECT_EQ(load_cache_file(path_, owner_).data, other);
  EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(PipelineCacheFile, ThatIsAbsentIsNoRefusal) {
  const CacheFile file = load_cache_file(folder_ / "absent", owner_);
  EXPECT_TRUE(file.data.empty() && file.refusal.empty());
}

TEST_F(PipelineCacheFile, MakesItsFolders) {
  const auto deep = folder_ / "a/b/c.bin";
  EXPECT_EQ(save_cache_file(deep, owner_, data_), "");
  EXPECT_EQ(load_cache_file(deep, owner_).data, data_);
}

TEST_F(PipelineCacheFile, IsRefusedWithAnyByteChanged) {
  const std::string good = content_of(path_);
  ASSERT_EQ(good.size(), sizeof(CacheFileHead) + data_.size());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(path_, bad);
    const CacheFile file = load_cache_file(path_, owner_);
    EXPECT_TRUE(file.data.empty() && !file.refusal.empty()) << "byte " << i;
  }
}

TEST_F(PipelineCacheFile, IsRefusedTruncatedAnywhereOrLonger) {
  const std::string good = content_of(path_);
  for (std::size_t size = 0; size < good.size(); ++size) {
    write(path_, good.substr(0, size));
    const CacheFile file = load_cache_file(path_, owner_);
    EXPECT_TRUE(file.data.empty() && !file.refusal.empty()) << size << " bytes";
  }
  write(path_, good + "x");
  expect_refused("its head says 40");
}

TEST_F(PipelineCacheFile, SaysWhyItIsRefused) {
  const CacheOwner mine = owner_;
  owner_.vendor_id = 9;
  expect_refused("another device");
  owner_ = mine;
  owner_.device_id = 9;
  expect_refused("another device");
  owner_ = mine;
  owner_.driver_version = 9;
  expect_refused("another driver");
  owner_ = mine;
  owner_.uuid[15] = 9;
  expect_refused("another driver");
  owner_ = mine;
  std::string damaged = content_of(path_);
  damaged.back() = static_cast<char>(damaged.back() + 1);
  write(path_, damaged);
  expect_refused("damaged");
  write(path_, std::string(100, 'x'));
  expect_refused("no pipeline cache");
}

TEST_F(PipelineCacheFile, IsARegularFile) {
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  expect_refused("no regular file");
  EXPECT_NE(save_cache_file(path_, owner_, data_), "");
  EXPECT_EQ(folder_.entries(), 1U) << "a temporary file was left behind";
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_refused("no regular file");  // and does not wait for a writer
  EXPECT_NE(save_cache_file(path_, owner_, data_).find("is a pipe"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_fifo(path_)) << "it was replaced";
}

TEST_F(PipelineCacheFile, InAFolderThatCannotBeMadeIsNotSaved) {
  EXPECT_NE(save_cache_file(path_ / "file is no folder" / "cache.bin", owner_, data_), "");
}

TEST_F(PipelineCacheFile, OfAFolderIsOnePerDeviceAndDriver) {
  std::vector<CacheOwner> owners(5, owner_);
  owners[1].vendor_id = 9;
  owners[2].device_id = 9;
  owners[3].driver_version = 9;
  owners[4].uuid[15] = 9;
  const std::filesystem::path folder = folder_ / "caches/";
  for (const CacheOwner& owner : owners) {
    EXPECT_EQ(save_cache_file(cache_file_of(folder, owner), owner, data_), "");
  }
  for (const CacheOwner& owner : owners) {
    EXPECT_EQ(load_cache_file(cache_file_of(folder, owner), owner).data, data_);
  }
  EXPECT_EQ(cache_file_of(path_, owner_), path_);
  EXPECT_EQ(cache_file_of("", owner_), "");
}

class VulkanPipelineCache : public VulkanTest {
 protected:
  /// Opens, runs, closes; returns what was logged.
  std::string run(const std::filesystem::path& path) {
    const std::size_t before = messages().size();
    {
      const auto backend = open_with({}, path);
      NormRun norms(*backend, static_cast<std::uint32_t>(testing::test_seed()));
      const EncodingRef encoding = norms.whole(false);
      norms.run(encoding);
      EXPECT_LE(norms.error(2), 1e-5);
      EXPECT_EQ(validation_message_count(*backend), 0U) << messages();
    }
    return messages().substr(before);
  }

  const Folder folder_;
  const std::filesystem::path path_ = folder_ / "deep/cache.bin";
};

TEST_F(VulkanPipelineCache, IsSavedAtTheEndAndLoadedAgain) {
  EXPECT_EQ(run(path_), "");
  const std::string saved = content_of(path_);
  EXPECT_GT(saved.size(), sizeof(CacheFileHead));
  EXPECT_EQ(run(path_), "");
  EXPECT_EQ(content_of(path_), saved) << "nothing was compiled that was not in it";
}

TEST_F(VulkanPipelineCache, IsFoundAgainInAFolder) {
  const std::filesystem::path folder = folder_ / "caches/";
  EXPECT_EQ(run(folder), "");
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  const std::filesystem::path file = std::filesystem::directory_iterator(folder)->path();
  const auto written = std::filesystem::last_write_time(file);
  EXPECT_EQ(run(folder), "");
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
}

TEST_F(VulkanPipelineCache, ThatIsDamagedIsReportedAndReplaced) {
  EXPECT_EQ(run(path_), "");
  const std::string saved = content_of(path_);
  std::string damaged = saved;
  damaged.back() = static_cast<char>(damaged.back() + 1);
  write(path_, damaged);
  EXPECT_NE(run(path_).find("is damaged"), std::string::npos);
  EXPECT_EQ(content_of(path_).size(), saved.size());
  EXPECT_EQ(run(path_), "") << "it was not replaced";
}

TEST_F(VulkanPipelineCache, ThatCannotBeWrittenIsReported) {
  write(folder_ / "file", "");
  EXPECT_NE(run(folder_ / "file/cache.bin").find("cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace reprise::vulkan
