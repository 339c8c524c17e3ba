#include "debugger/app/headless_host.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "debugger/app/ui_scale.h"
#include "debugger/ui/icons.h"
#include "tests/expect_error.h"

namespace reprise::debugger {
namespace {

void draw_sample(Ui& ui) {
  ImGui::SetCursorScreenPos({ui.px(20), ui.px(20)});
  const auto region = ui.region("sample", {ui.px(360), ui.px(160)});
  ui.text("title", "decode \xC2\xB7 510 nodes \xC3\x97 2 \xE2\x86\x92 1.82 \xCE\xBCs",
          {.font = FontKind::semibold});
  ui.button("run", "Run");
  ImGui::SameLine();
  ui.icon_button("copy", icon::kCopy, "Copy");
  std::string filter;
  ui.input("filter", "op:matmul", filter, ui.px(200));
  ui.text("numbers", "1234567890  12.3 us", {.font = FontKind::mono, .colour = Colour::dim});
}

Picture picture_at(float scale, std::vector<std::string>& messages) {
  HeadlessHost host({.width = static_cast<std::uint32_t>(400 * scale),
                     .height = static_cast<std::uint32_t>(200 * scale),
                     .scale = scale,
                     .validation = true});
  host.frame(draw_sample);
  host.picture();
  host.frame(draw_sample);
  Picture picture = host.picture();
  messages = host.validation_messages();
  return picture;
}

class HeadlessPicture : public ::testing::TestWithParam<float> {};
INSTANTIATE_TEST_SUITE_P(Scales, HeadlessPicture, ::testing::Values(0.5F, 0.75F, 1.0F, 2.0F, 4.0F));

TEST_P(HeadlessPicture, IsTheSameEachTimeAndKeepsTheRulesOfVulkan) {
  std::vector<std::string> messages;
  const Picture first = picture_at(GetParam(), messages);
  EXPECT_EQ(messages, std::vector<std::string>());
  EXPECT_EQ(first.width, 400 * GetParam());
  EXPECT_EQ(first.height, 200 * GetParam());
  EXPECT_EQ(first, picture_at(GetParam(), messages));
}

TEST(HeadlessPicture, HasTheColoursThatWereDrawn) {
  HeadlessHost host({.width = 40, .height = 20});
  host.frame([](Ui& ui) { ui.fill({{10, 0}, {40, 20}}, ui.colour(Colour::accent)); });
  const Picture picture = host.picture();
  const auto colour_at = [&](std::size_t x, std::size_t y) {
    const std::uint8_t* pixel = &picture.rgba[4 * (y * picture.width + x)];
    return IM_COL32(pixel[0], pixel[1], pixel[2], pixel[3]);
  };
  const Theme theme = theme_of(ThemeKind::dark);
  EXPECT_EQ(colour_at(5, 10), theme[Colour::background]);
  EXPECT_EQ(colour_at(30, 10), theme[Colour::accent]);
}

TEST(Renderer, LeavesNothingBehindWhenTheScaleChanges) {
  Gui gui(1);
  ImGui::GetIO().DisplaySize = {400, 200};
  std::shared_ptr<const ValidationLog> log;
  {
    Renderer renderer(
        gui, {.validation = true, .presents = false, .instance_extensions = {}, .can_present = {}});
    log = renderer.graphics().log();
    for (const float scale : {1.0F, 1.5F, 2.0F}) {
      if (scale != gui.scale()) {
        gui.set_scale(scale);
        renderer.upload_fonts();
      }
      gui.frame(draw_sample);
      renderer.picture();
    }
  }
  EXPECT_EQ(log->messages(), std::vector<std::string>());
}

TEST(Zoom, OutToTheLeastAndBackIsTheSameScale) {
  for (const float screen : {0.5F, 1.0F, 1.25F, 2.0F, 4.0F}) {
    Zoom zoom;
    const float before = zoom.scale(screen);
    int out = 0, in = 0;
    for (; zoom.scale(screen) > kMinScale; ++out) {
      zoom.out(screen);
    }
    zoom.out(screen);  // does nothing
    for (int i = 0; i < out; ++i) {
      zoom.in(screen);
    }
    EXPECT_EQ(zoom.scale(screen), before);
    for (; zoom.scale(screen) < kMaxScale; ++in) {
      zoom.in(screen);
    }
    zoom.in(screen);
    for (int i = 0; i < in; ++i) {
      zoom.out(screen);
    }
    EXPECT_EQ(zoom.scale(screen), before);
  }
}

TEST(Zoom, WhatAScreenReportsIsBroughtIntoRange) {
  const float huge = std::numeric_limits<float>::infinity();
  for (const auto& [screen, scale] :
       {std::pair(0.0F, kMinScale), std::pair(-1.0F, kMinScale), std::pair(100.0F, kMaxScale),
        std::pair(huge, kMaxScale), std::pair(std::nanf(""), 1.0F)}) {
    EXPECT_EQ(Zoom().scale(screen), scale) << screen;
  }
}

TEST(Gui, HasTheSameStyleAfterASmallerScale) {
  Gui gui(1);
  ImGui::GetIO().DisplaySize = {400, 200};
  const ImGuiStyle before = ImGui::GetStyle();
  for (const float scale : {kMinScale, 0.9F, kMaxScale, 1.0F}) {
    gui.set_scale(scale);
    EXPECT_EQ(ImGui::GetStyle().WindowMinSize.x, 1) << scale;  // ImGui aborts below
    gui.frame(draw_sample);
  }
  // All but the flags, behind which there is padding.
  constexpr std::size_t kFlags = offsetof(ImGuiStyle, AntiAliasedLines);
  constexpr std::size_t kBehind = offsetof(ImGuiStyle, CurveTessellationTol);
  const auto* const old_bytes = reinterpret_cast<const std::byte*>(&before);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&ImGui::GetStyle());
  EXPECT_EQ(std::memcmp(old_bytes, bytes, kFlags), 0);
  EXPECT_EQ(std::memcmp(old_bytes + kBehind, bytes + kBehind, sizeof before - kBehind), 0);
  for (const float scale : {0.0F, -1.0F, 0.49F, 4.01F, std::nanf("")}) {
    reprise::testing::expect_error(ErrorCode::invalid_argument, {"out of range", "0.5 to 4"},
                                   [&] { gui.set_scale(scale); });
  }
}

TEST(HeadlessPicture, NeedsAFrame) {
  HeadlessHost host;
  reprise::testing::expect_error(ErrorCode::invalid_argument, {"none was drawn"},
                                 [&] { host.picture(); });
}

TEST(Picture, IsCutToABox) {
  const Picture whole{.width = 3, .height = 2, .rgba = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2,  //
                                                        3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5}};
  EXPECT_EQ(crop(whole, {{1, 1}, {9, 9}}),
            (Picture{.width = 2, .height = 1, .rgba = {4, 4, 4, 4, 5, 5, 5, 5}}));
  EXPECT_EQ(crop(whole, {{5, 5}, {1, 1}}).rgba.size(), 0U);
}

/// Each in a process of its own: the loader looks for drivers once.
TEST(HeadlessPictureDeathTest, WithoutADriverSaysWhatIsMissing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto draw_without_driver = [] {
    setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1);
    setenv("VK_DRIVER_FILES", "/nonexistent.json", 1);
    try {
      HeadlessHost host;
      host.frame(draw_sample);
      host.picture();
    } catch (const Error& e) {
      std::fprintf(stderr, "%s: %s\n", e.code() == ErrorCode::unsupported ? "unsupported" : "other",
                   e.what());
      std::exit(3);
    }
    std::exit(0);
  };
  EXPECT_EXIT(draw_without_driver(), ::testing::ExitedWithCode(3),
              "unsupported: Drawing needs a Vulkan driver");
}

}  // namespace
}  // namespace reprise::debugger
