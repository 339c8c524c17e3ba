// Every case on every backend, both ways. `reprise_tests --gtest_filter='Conformance*'` prints the
// table.
#include "tests/conformance/conformance.h"

#include <cstdio>
#include <map>

namespace reprise::testing {

namespace {

constexpr const char* kBackends[] = {"cpu", "vulkan", "reference"};

enum class Exception : std::uint8_t {
  unsupported,       // for good: the case must say so
  expected_failure,  // a known fault: a case that passes has to leave the list
};

struct Listed {
  const char* backend;
  const char* name;
  Exception kind;
  const char* reason;
};
constexpr Listed kListed[] = {
    {"reference", "imported_memory_is_read_in_place", Exception::unsupported,
     "the reference backend keeps its own copies"},
};

// Where the driver, or the machine that it runs in, cannot.
constexpr Listed kWithoutImport{"vulkan", "imported_memory_is_read_in_place",
                                Exception::unsupported, "this device imports no host memory"};

const Listed* listed(const std::string& backend, const std::string& name) {
  if (backend == kWithoutImport.backend && name == kWithoutImport.name &&
      !test_device(backend).capabilities().imports_host_memory) {
    return &kWithoutImport;
  }
  for (const Listed& entry : kListed) {
    if (backend == entry.backend && name == entry.name) {
      return &entry;
    }
  }
  return nullptr;
}

/// Printed at the end, if more than one case ran.
class Table : public ::testing::Environment {
 public:
  static std::map<std::string, std::map<std::string, std::string>>& cells() {
    static std::map<std::string, std::map<std::string, std::string>> all;
    return all;
  }
  void TearDown() override {
    if (cells().size() < 2) {
      return;
    }
    std::printf("%-64s", "conformance (direct, recorded)");
    for (const char* backend : kBackends) {
      std::printf("%-24s", backend);
    }
    std::printf("\n");
    for (const auto& [name, by_backend] : cells()) {
      std::printf("%-64s", name.c_str());
      for (const char* backend : kBackends) {
        const auto it = by_backend.find(backend);
        std::printf("%-24s", it == by_backend.end() ? "-" : it->second.c_str());
      }
      std::printf("\n");
    }
  }
};
const auto* const kTable = ::testing::AddGlobalTestEnvironment(new Table);

class Conformance : public ::testing::Test {
 public:
  Conformance(const char* backend, const ConformanceCase& row, Way way)
      : backend_(backend), row_(row), way_(way) {}
  void TestBody() override {
    // A device of its own: cases shut it down, and count what it does.
    const Listed* entry = listed(backend_, row_.name);
    const std::string problem = run();
    const bool passed = problem.empty();
    std::string& cell = Table::cells()[row_.name][backend_];
    cell += cell.empty() ? "" : ", ";
    if (entry == nullptr) {
      EXPECT_TRUE(passed) << problem;
      cell += passed ? "pass" : "FAIL";
    } else if (entry->kind == Exception::unsupported) {
      EXPECT_EQ(problem, "unsupported") << entry->reason;
      cell += "unsupported";
    } else {
      EXPECT_FALSE(passed) << "It is listed as failing (" << entry->reason << "), but passes.";
      cell += "expected failure";
    }
  }

 private:
  std::string run() const {
    const ExpectNoValidationMessages quiet;
    try {
      row_.run(fresh_test_device(backend_), way_);
    } catch (const Error& error) {
      return error.code() == ErrorCode::unsupported ? "unsupported" : error.what();
    } catch (const Nonconforming& error) {
      return error.what();
    }
    return "";
  }

  const char* backend_;
  const ConformanceCase& row_;
  Way way_;
};

const bool kRegistered = [] {
  for (const auto cases : {backend_cases(), session_cases()}) {
    for (const ConformanceCase& row : cases) {
      for (const char* backend : kBackends) {
        for (const Way way : {Way::direct, Way::recorded}) {
          const std::string suite = "Conformance_" + std::string(backend);
          const std::string name =
              std::string(row.name) + (way == Way::direct ? "_direct" : "_recorded");
          ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                                  [backend, &row, way]() -> Conformance* {
                                    return new Conformance(backend, row, way);
                                  });
        }
      }
    }
  }
  return true;
}();

TEST(ConformanceLists, NameBackendsAndCasesThatExist) {
  ASSERT_TRUE(kRegistered);
  for (const Listed& entry : kListed) {
    bool found = false;
    for (const auto cases : {backend_cases(), session_cases()}) {
      for (const ConformanceCase& row : cases) {
        found = found || std::string(row.name) == entry.name;
      }
    }
    EXPECT_TRUE(found) << entry.name;
    EXPECT_NE(std::string(entry.reason), "");
    EXPECT_NE(std::ranges::find(kBackends, std::string_view(entry.backend),
                                [](const char* b) { return std::string_view(b); }),
              std::end(kBackends));
  }
}

}  // namespace
}  // namespace reprise::testing
