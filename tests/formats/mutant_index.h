// The files that a script made from a good one, as its index.tsv lists them.
#pragma once
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace reprise::test {

struct Mutant {
  std::string name, kind;
  std::string expectation;  // ok, reject or any
  std::string says;         // a part of the error, where one check alone must find the fault
};

inline std::vector<Mutant> mutants_in(const std::filesystem::path& folder) {
  std::ifstream index(folder / "index.tsv");
  std::vector<Mutant> mutants;
  for (std::string line; std::getline(index, line);) {
    std::istringstream fields(line);
    Mutant& mutant = mutants.emplace_back();
    for (std::string* const field :
         {&mutant.name, &mutant.kind, &mutant.expectation, &mutant.says}) {
      std::getline(fields, *field, '\t');
    }
  }
  return mutants;
}

}  // namespace reprise::test
