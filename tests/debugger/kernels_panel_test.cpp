// Paths: kernels/table/row/<kernel> with columns name, steps, share; kernels/launch, kernels/facts,
// kernels/search, kernels/next, kernels/matches, kernels/sides/<both, source, spirv>;
// kernels/<source, spirv>/title, .../code/line/<line> and .../problem/text.
#include "debugger/views/kernels_panel.h"

#include <fstream>
#include <map>

#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr HeadlessOptions kWide{.width = 1500, .height = 700};

class KernelsPanelTest : public PanelTest<KernelsPanel> {
 protected:
  KernelsPanelTest() : PanelTest(kWide) {}
  std::size_t kernel(const std::string& name) {
    const auto& kernels = window_.document().capture()->kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].name == name) {
        return k;
      }
    }
    ADD_FAILURE() << name;
    return 0;
  }
  std::string row(const std::string& name) {
    return "kernels/table/row/" + std::to_string(kernel(name));
  }
};

TEST_F(KernelsPanelTest, ListsTheKernelsWithTheirStepsAndShare) {
  EXPECT_EQ(window_.count("kernels/table/row/"), 11U);
  EXPECT_THAT(window_.text(row("matmul.f32")), StartsWith("matmul.f32  36  "));
  run("fits");
}

TEST_F(KernelsPanelTest, AClickShowsItsCodeAndSelectsItsNodes) {
  run("click " + row("matmul.f32") + "\nexpect_state " + row("matmul.f32") + " selected");
  EXPECT_EQ(window_.workspace().selection.current().nodes.size(), 36U);
  EXPECT_THAT(window_.text("kernels/launch"), HasSubstr("matmul.f32"));
  EXPECT_THAT(window_.text("kernels/launch"), HasSubstr("workgroup 8 \xC3\x97 1 \xC3\x97 1"));
  EXPECT_THAT(window_.text("kernels/facts"), HasSubstr("workgroup x = 8"));
  EXPECT_EQ(window_.text("kernels/spirv/title"), "SPIR-V  \xC2\xB7  8.83 KiB");
  EXPECT_THAT(window_.text("kernels/spirv/code/line/1"), HasSubstr("; SPIR-V"));
  run("fits");
}

TEST_F(KernelsPanelTest, UpAndDownWalkTheKernels) {
  run("click kernels/table/row/3\nkey Down\nexpect_state kernels/table/row/4 selected");
  EXPECT_FALSE(window_.workspace().selection.current() == Selection{});
}

TEST_F(KernelsPanelTest, ASelectedNodeShowsItsKernel) {
  window_.workspace().select_node(10);
  run("wait\nexpect_state " + row("attention.f32") + " selected");
}

TEST_F(KernelsPanelTest, WithoutASourceItSaysHowOneIsFound) {
  EXPECT_THAT(window_.text("kernels/source/problem/text"), HasSubstr("--source FOLDER"));
}

TEST_F(KernelsPanelTest, FindsLinesAndGoesFromOneToTheNext) {
  run("type kernels/search opcapability");
  EXPECT_THAT(window_.text("kernels/matches"), StartsWith("1 of "));
  std::size_t matches = 0;
  for (const auto& [path, widget] : window_.host().registry().widgets()) {
    matches += widget.state.starts_with("match");
  }
  EXPECT_GE(matches, 1U);
  run("type kernels/search OpReturn\nwait");
  const std::string first = window_.text("kernels/matches");
  bool shown = false;
  for (const auto& [path, widget] : window_.host().registry().widgets()) {
    shown = shown ||
            (widget.state == "match shown" && widget.text.find("OpReturn") != std::string::npos);
  }
  EXPECT_TRUE(shown) << first;
  run("type kernels/search no such words\nexpect kernels/matches no match");
}

TEST_F(KernelsPanelTest, ShowsOneSideAlone) {
  run("click kernels/sides/source\nabsent kernels/spirv/title");
  run("click kernels/sides/spirv\nabsent kernels/source/title\nexpect kernels/spirv/title SPIR-V");
}

TEST(KernelsPanel, WithoutRoomForBothShowsTheOneThatThereIs) {
  const SampleDatabase database;
  const PanelWindow window(database.path(), std::make_unique<KernelsPanel>(),
                           {.width = 700, .height = 700});
  EXPECT_THAT(window.text("kernels/spirv/title"), StartsWith("SPIR-V"));
  EXPECT_EQ(window.text("kernels/source/title"), "(absent)");
}

TEST_F(KernelsPanelTest, CopiesAQueryWithARowPerKernel) {
  const std::string found = test::sql(
      database_.path(), "SELECT count(*) FROM (" + window_.panel().sql(window_.workspace()) + ")");
  EXPECT_EQ(found, "11");
}

TEST(KernelsPanel, ShowsTheSourceThatTheDatabaseHas) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "UPDATE kernels SET source = '#version 450' || char(10) || 'void main() {}'"),
            "");
  PanelWindow window(database.path(), std::make_unique<KernelsPanel>(), kWide);
  EXPECT_EQ(window.text("kernels/source/title"), "Source");
  EXPECT_EQ(window.text("kernels/source/code/line/2"), "void main() {}");
  window.run("fits");
}

TEST(KernelsPanel, ASourceThatLinksOutOfTheSourceFoldersIsAQuestion) {
  const SampleDatabase database;
  const test::TempFolder elsewhere;
  std::ofstream(elsewhere / "secret") << "first\nsecond\n";
  const std::filesystem::path shaders = captured_sources() / "shaders";
  std::filesystem::create_directories(shaders);
  std::filesystem::create_symlink(elsewhere / "secret", shaders / "stolen.comp");
  ASSERT_EQ(test::sql(database.path(), "UPDATE kernels SET name = 'stolen.' || id"), "");
  PanelWindow window(database.path(), std::make_unique<KernelsPanel>(), kWide);
  window.run(
      "absent kernels/source/code/line/2\nfits\nclick kernels/source/problem/source-allow\n"
      "wait\nexpect kernels/source/code/line/2 second");
  std::filesystem::remove_all(shaders);
}

TEST(KernelsPanel, SaysOfASourceThatItWasWrittenAfterTheRun) {
  const SampleDatabase database;
  const std::filesystem::path shaders = captured_sources() / "shaders";
  std::filesystem::create_directories(shaders);
  std::ofstream(shaders / "edited.comp") << "first\n";
  ASSERT_EQ(test::sql(database.path(), "UPDATE kernels SET name = 'edited.' || id"), "");
  const PanelWindow window(database.path(), std::make_unique<KernelsPanel>(), kWide);
  EXPECT_EQ(window.text("kernels/source/title"),
            "shaders/edited.comp, written after this run began");
  std::filesystem::remove_all(shaders);
}

TEST(KernelsPanel, SaysWhyCodeCannotBeShown) {
  for (const auto& [sql, why] : std::map<std::string, std::string>{
           {"UPDATE kernels SET spirv = NULL", "has no SPIR-V"},
           {"UPDATE kernels SET spirv = zeroblob(64)", "This is no SPIR-V"},
           {"UPDATE kernels SET spirv = zeroblob(2000000)", "(2000000) bytes"}}) {
    const SampleDatabase database;
    ASSERT_EQ(test::sql(database.path(), sql), "");
    PanelWindow window(database.path(), std::make_unique<KernelsPanel>(), kWide);
    EXPECT_THAT(window.text("kernels/spirv/problem/text"), HasSubstr(why)) << sql;
  }
}

TEST(KernelsPanel, OfACaptureOnTheCpuItNamesTheCall) {
  const SampleDatabase database;
  PanelWindow window(database.path(), std::make_unique<KernelsPanel>(), kWide);
  window.workspace().document.choose({.run = 1, .graph = 1});
  window.run("wait\nfits");
  EXPECT_THAT(window.text("kernels/empty/call"), HasSubstr("open_device(\"vulkan\")"));
}

}  // namespace
}  // namespace reprise::debugger
