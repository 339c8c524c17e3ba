// One picture of everything. Drivers and versions of them differ in the edges of glyphs and lines:
// a few pixels may, and no part of the window.
#include <cstdlib>
#include <fstream>

#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/read_png.h"

namespace reprise::debugger {
namespace {

constexpr const char* kGolden = REPRISE_SOURCE_ROOT "/docs/pictures/debugger.png";
constexpr const char* kScript = REPRISE_SOURCE_ROOT "/docs/pictures/debugger.ui";

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

TEST(DebuggerPicture, LooksAsInTheDocuments) {
  const SampleDatabase database;
  const Picture golden = read_png(kGolden);
  ASSERT_GT(golden.width, 0U) << kGolden;
  DebuggerWindow window(database.path(), {.width = golden.width, .height = golden.height});
  std::ifstream script(kScript);
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
    write_png(drawn, "debugger_drawn.png");
  }
  EXPECT_LE(worst, 0.1) << "see debugger_drawn.png; docs/make_pictures.sh draws the picture anew";
}

}  // namespace
}  // namespace reprise::debugger
