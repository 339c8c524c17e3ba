// Many programs: chosen so that features meet, run, and shrunk if one fails.
#pragma once
#include "tests/crossed/features.h"

namespace reprise::crossed {

struct Campaign {
  std::uint64_t seed = 0;
  std::size_t programs = 0;
  std::vector<Where> where;    // in turn
  bool validated = false;      // Vulkan devices have the validation layer
  std::size_t candidates = 1;  // of each program: the one with most new pairs is run
};

struct Report {
  PairTable pairs;
  std::size_t programs = 0;
  std::map<std::string, std::size_t> undecided;  // by reason
  std::size_t loose = 0;  // compared within more than a hundredth of the largest number
  std::string failure;    // of the first that failed; empty: none
  std::string summary() const;
};

Report run(const Campaign& campaign);
/// Of one program; empty if it does what it means.
std::string run_one(std::uint64_t seed, Where where, bool validated);

}  // namespace reprise::crossed
