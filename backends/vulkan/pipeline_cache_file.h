// The file that keeps a driver's pipeline cache between runs: a head that says for which driver it
// was made, then the driver's data with its hash. Knows nothing of Vulkan. Everything in a file is
// checked before it is returned; a file can be lost or foreign at any time, so nothing is an error.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace reprise::vulkan {

/// Data made by one of these is of no use to another.
struct CacheOwner {
  std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  std::array<std::uint8_t, 16> uuid{};  // VkPhysicalDeviceProperties::pipelineCacheUUID
};

/// `path`, or if that ends in '/', a file in this folder with a name of the owner's own.
std::filesystem::path cache_file_of(const std::filesystem::path& path, const CacheOwner& owner);

/// How a file begins; numbers in the byte order of the machine, as the driver's data.
struct CacheFileHead {
  static constexpr std::array<char, 8> kMagic{'r', 'e', 'p', 'r', 'p', 'i', 'p', 'e'};
  static constexpr std::uint32_t kFormat = 1;
  std::array<char, 8> magic = kMagic;
  std::uint32_t format = kFormat;
  std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t bytes = 0;  // of data behind the head
  std::uint64_t hash = 0;   // of the data: XXH3, 64 bits
};
static_assert(sizeof(CacheFileHead) == 56);

struct CacheFile {
  std::vector<std::byte> data;  // empty if there is no file or it is refused
  std::string refusal;          // why; empty if there is no file
};
CacheFile load_cache_file(const std::filesystem::path& path, const CacheOwner& owner);

/// Replaces the file at once, so that readers see the old or the new one. Creates folders. Returns
/// why it could not; empty if it could.
std::string save_cache_file(const std::filesystem::path& path, const CacheOwner& owner,
                            std::span<const std::byte> data);

}  // namespace reprise::vulkan
