// The pictures of the documents, of every layout one at least. Drivers and versions of them differ
// in the edges of glyphs and lines: a few pixels may, and no part of the window.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/read_png.h"

namespace reprise::debugger {
namespace {

const std::filesystem::path kDocs = REPRISE_SOURCE_ROOT "/docs";
const std::filesystem::path kCaptures = REPRISE_CAPTURED_SOURCES;

std::vector<std::filesystem::path> scripts() {
  std::vector<std::filesystem::path> found{kDocs / "pictures/debugger.ui"};
  for (const auto& file : std::filesystem::recursive_directory_iterator(kDocs / "tours")) {
    if (file.path().extension() == ".ui") {
      found.push_back(file.path());
    }
  }
  return found;
}

/// What docs/make_pictures.sh opens for a script, copied.
class Captures {
 public:
  explicit Captures(const std::filesystem::path& script)
      : demo_(script.parent_path().filename() == "demo") {
    for (const char* name : {"stories260K.db", "before.db", "after.db"}) {
      std::filesystem::copy_file(kCaptures / name, folder_ / name);
    }
  }
  std::filesystem::path shown() const { return folder_ / (demo_ ? "after.db" : "stories260K.db"); }
  std::filesystem::path against() const { return demo_ ? folder_ / "before.db" : ""; }

 private:
  const test::TempFolder folder_;
  const bool demo_;
};

bool differs(const std::uint8_t* a, const std::uint8_t* b) {
  constexpr int kVisible = 40;  // of 255
  for (int channel = 0; channel < 3; ++channel) {
    if (std::abs(a[channel] - b[channel]) > kVisible) {
      return true;
    }
  }
  return false;
}

/// The largest share of pixels that differ in any square of the pictures.
double worst_difference(const Picture& a, const Picture& b) {
  constexpr std::uint32_t kSquare = 50;
  double worst = 0;
  for (std::uint32_t top = 0; top < a.height; top += kSquare) {
    for (std::uint32_t left = 0; left < a.width; left += kSquare) {
      std::size_t count = 0, different = 0;
      for (std::uint32_t y = top; y < std::min(top + kSquare, a.height); ++y) {
        for (std::uint32_t x = left; x < std::min(left + kSquare, a.width); ++x) {
          const std::size_t at = (std::size_t{y} * a.width + x) * 4;
          ++count;
          different += differs(&a.rgba[at], &b.rgba[at]) ? 1U : 0U;
        }
      }
      worst = std::max(worst, static_cast<double>(different) / static_cast<double>(count));
    }
  }
  return worst;
}

class DebuggerPicture : public ::testing::TestWithParam<std::filesystem::path> {};
INSTANTIATE_TEST_SUITE_P(Of, DebuggerPicture, ::testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param.stem().string(); });

TEST_P(DebuggerPicture, LooksAsInTheDocuments) {
  const std::string name = GetParam().stem().string() + ".png";
  const Picture golden = read_png(kDocs / "pictures" / name);
  ASSERT_GT(golden.width, 0U) << name;
  const Captures captures(GetParam());
  DebuggerWindow window(captures.shown(), {.width = golden.width, .height = golden.height},
                        captures.against());
  std::ifstream script(GetParam());
  window.run({std::istreambuf_iterator<char>(script), {}});
  Picture drawn = window.host().picture();
  ASSERT_EQ(drawn.height, golden.height);
  // The path of the file is another one each time.
  const Widget* const file = window.host().registry().find("status/file");
  ASSERT_NE(file, nullptr);
  for (auto y = static_cast<std::uint32_t>(file->visible.min_y); y < drawn.height; ++y) {
    const std::size_t row = std::size_t{y} * drawn.width * 4;
    std::copy_n(golden.rgba.begin() + static_cast<std::ptrdiff_t>(row), drawn.width * 4,
                drawn.rgba.begin() + static_cast<std::ptrdiff_t>(row));
  }
  const double worst = worst_difference(golden, drawn);
  if (worst > 0.1) {
    write_png(drawn, "drawn_" + name);
  }
  EXPECT_LE(worst, 0.1) << "see drawn_" << name << "; docs/make_pictures.sh draws it anew";
}

}  // namespace
}  // namespace reprise::debugger
