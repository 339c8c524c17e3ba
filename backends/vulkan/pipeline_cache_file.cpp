#include "backends/vulkan/pipeline_cache_file.h"

#include <fstream>
#include <iomanip>
#include <sstream>

#include <xxhash.h>

#include "framework/core/new_file.h"
#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20U;  // of data that is believed

CacheFileHead head_of(const CacheOwner& owner, std::span<const std::byte> data) {
  CacheFileHead head;
  head.vendor_id = owner.vendor_id;
  head.device_id = owner.device_id;
  head.driver_version = owner.driver_version;
  head.uuid = owner.uuid;
  head.bytes = data.size();
  head.hash = XXH3_64bits(data.data(), data.size());
  return head;
}

/// Why the file's head and data are not to be used; empty if they are.
std::string refusal_of(const CacheFileHead& head, const CacheOwner& owner,
                       std::span<const std::byte> data) {
  const CacheFileHead expected = head_of(owner, data);
  if (head.magic != expected.magic) {
    return "it is no pipeline cache";
  }
  if (head.format != expected.format) {
    return "its format is (" + std::to_string(head.format) + "), but this program reads " +
           std::to_string(expected.format);
  }
  if (head.vendor_id != expected.vendor_id || head.device_id != expected.device_id) {
    return "another device made it";
  }
  if (head.driver_version != expected.driver_version || head.uuid != expected.uuid) {
    return "another driver made it";
  }
  if (head.bytes != expected.bytes) {
    return "it has (" + std::to_string(data.size()) + ") bytes of data, but its head says " +
           std::to_string(head.bytes);
  }
  return head.hash == expected.hash ? "" : "its data is damaged";
}

}  // namespace

std::filesystem::path cache_file_of(const std::filesystem::path& path, const CacheOwner& owner) {
  if (path.empty() || path.has_filename()) {
    return path;
  }
  std::ostringstream name;
  name << std::hex << std::setfill('0') << "pipelines-" << std::setw(4) << owner.vendor_id << '-'
       << std::setw(4) << owner.device_id << '-' << std::setw(8) << owner.driver_version << '-';
  for (const std::uint8_t byte : owner.uuid) {
    name << std::setw(2) << unsigned{byte};
  }
  return path / (name.str() + ".bin");
}

CacheFile load_cache_file(const std::filesystem::path& path, const CacheOwner& owner) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return {};
  }
  if (!std::filesystem::is_regular_file(status)) {  // reading a pipe would wait for a writer
    return {{}, "it is no regular file"};
  }
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) {
    return {{}, error.message()};
  }
  if (size < sizeof(CacheFileHead) || size - sizeof(CacheFileHead) > kMaxBytes) {
    return {{}, "it has (" + std::to_string(size) + ") bytes"};
  }
  CacheFileHead head;
  std::vector<std::byte> data(size - sizeof head);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
  if (!file) {
    return {{}, "it cannot be read"};
  }
  std::string refusal = refusal_of(head, owner, data);
  if (!refusal.empty()) {
    data.clear();
  }
  return {std::move(data), std::move(refusal)};
}

std::string save_cache_file(const std::filesystem::path& path, const CacheOwner& owner,
                            std::span<const std::byte> data) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);  // opening says what is wrong
  try {
    NewFile file(path);
    const CacheFileHead head = head_of(owner, data);
    file.write(std::as_bytes(std::span(&head, 1)));
    file.write(data);
    file.publish();
  } catch (const Error& why) {
    return why.what();
  }
  return "";
}

}  // namespace reprise::vulkan
