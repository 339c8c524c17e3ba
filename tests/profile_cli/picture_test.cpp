// `reprise db export --svg` and `--html`: well-formed, complete, and nothing that a name in a file
// says becomes markup.
#include <fstream>
#include <regex>
#include <set>

#include "debugger/cli/db_commands.h"
#include "debugger/model/markup.h"
#include "tests/profile_cli/markup_check.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using test::elements_of;
using test::printed;
using test::write_run;

const std::string kHostile = "</title></svg></td>\"'><script>alert(1)</script>&amp\xFF\xEF\xBF\xBF";

class PictureTest : public test::TimedDatabase {
 protected:
  std::string svg() const {
    return printed([&] { cli::export_capture({path(), {}, "", "", "-"}); });
  }
  std::string html() const {
    return printed([&] { cli::export_capture({path(), {}, "", "", "", "-"}); });
  }
  void write_hostile_run() const {
    write_run(path_, {.label = kHostile,
                      .graph = {.name = kHostile, .scope = kHostile, .input_name = kHostile}});
    test::sql(path_,
              "UPDATE nodes SET op=g.name, label=g.name, src_file=g.name FROM graphs g; "
              "UPDATE tensors SET name=g.name, dtype=g.name, shape_json=g.name, role=g.name "
              "FROM graphs g; UPDATE devices SET name=g.name FROM graphs g; UPDATE barriers "
              "SET reason=g.name, kind=g.name FROM graphs g; UPDATE buffers SET name=g.name "
              "FROM graphs g; UPDATE hosts SET hostname=g.name FROM graphs g; INSERT INTO "
              "pass_decisions SELECT id, name, 0, name, 0, 1, name, 5 FROM graphs");
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  }
};

TEST_F(PictureTest, AGraphIsWellFormed) {
  write_run(path_, {.graph = {.scales = 12}});
  EXPECT_TRUE(elements_of(svg()).starts_with("svg rect text text ")) << elements_of(svg());
}

TEST_F(PictureTest, EveryNodeIsDrawnWithItsTime) {
  write_run(path_, {.graph = {.scales = 12}});
  const std::string text = svg();
  const std::regex node(
      R"re(<g id="node(\d+)">\n<title>\d+ (\w+)[^\n]*, \d[^,<]* [^,<]*s, [^<]*GB/s)re");
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), node), end; i != end; ++i) {
    found.insert((*i)[1].str() + " " + (*i)[2].str());
  }
  EXPECT_EQ(found.size(), 15U) << text;
  EXPECT_TRUE(found.contains("0 norm") && found.contains("1 add") && found.contains("14 norm"));
}

TEST_F(PictureTest, ATimeIsABrighterColourTheLongerItIs) {
  write_run(path_);
  const std::string text = svg();
  const auto fill = [&](int node) {
    const std::size_t at = text.find("fill=\"#", text.find("id=\"node" + std::to_string(node)));
    return text.substr(at + 7, 6);
  };
  // 1, 2, 7 (of two steps) and 5 us.
  EXPECT_EQ(fill(2), "f48c3c");
  EXPECT_LT(fill(2), fill(3));
  EXPECT_LT(fill(3), fill(1));
  EXPECT_LT(fill(1), fill(0));
}

TEST_F(PictureTest, WithoutTimesItSaysSo) {
  write_run(path_, {.mode = TimingMode::off});
  EXPECT_EQ(count(svg(), "4 nodes, without times"), 1U);
}

TEST_F(PictureTest, HostileNamesAreNoMarkupInAPicture) {
  write_hostile_run();
  const std::string elements = elements_of(svg());
  EXPECT_TRUE(elements.starts_with("svg ")) << elements;
  EXPECT_EQ(count(elements, "script"), 0U) << elements;
}

TEST_F(PictureTest, APageHasEveryPart) {
  write_run(path_);
  const std::string text = html();
  std::string headings;
  const std::regex heading("<h2>([^<]*)</h2>");
  for (std::sregex_iterator i(text.begin(), text.end(), heading), end; i != end; ++i) {
    headings += (*i)[1].str() + "\n";
  }
  EXPECT_EQ(headings,
            "Run, device and graph\nMedian time of each node\nNodes by time\nTimeline of the "
            "replay\nReplays\nMemory plan\nBuffers of the run\nBarriers\nPasses\nGraph\n");
  EXPECT_EQ(count(text, "<rect class=\"bar\""), 4U);
  EXPECT_EQ(count(text, "<g id=\"node"), 4U);
}

TEST_F(PictureTest, APageIsWellFormedAndAsksForNothing) {
  write_run(path_, {.graph = {.scales = 12}});
  const std::string text = html();
  EXPECT_TRUE(elements_of(text).starts_with("html head meta meta style title body h1 "))
      << elements_of(text);
  for (const char* part : {" src=", " href=", "@import", "url(", "http://", "https://"}) {
    const std::size_t known = std::string(part) == "http://" ? 2 : 0;  // the namespace of SVG
    EXPECT_EQ(count(text, part), known) << part;
  }
}

TEST_F(PictureTest, HostileNamesAreNoMarkupInAPage) {
  write_hostile_run();
  const std::string elements = elements_of(html());
  EXPECT_TRUE(elements.starts_with("html ")) << elements;
  EXPECT_EQ(count(elements, "script "), 1U) << elements;
}

TEST_F(PictureTest, LongTablesAreCutAndSayHow) {
  write_run(path_, {.replays = 2'100, .mode = TimingMode::off});
  const std::string text = html();
  EXPECT_EQ(count(text, "The last 2,000 of 2,100."), 1U);
}

TEST(Markup, EscapesWhatEndsTextsAndAttributes) {
  EXPECT_EQ(debugger::markup_text("a<b>&\"c'd"), "a&lt;b&gt;&amp;&quot;c&#39;d");
}

TEST(Markup, LeavesOutWhatIsNoCharacterOfXml) {
  EXPECT_EQ(debugger::markup_text("a\x01"
                             "b\xFF\xEF\xBF\xBE\xEF\xBF\xBDz"),
            "a?b??\xEF\xBF\xBDz");
}

TEST(MarkupCheck, FindsWhatIsNotWellFormed) {
  EXPECT_EQ(elements_of("<a x=\"1\"><b/></a>"), "a b ");
  for (const char* broken : {"<a>", "<a></b>", "</a>", "<a>&x</a>", "<a x=1></a>", "<a x=\"<\"/>",
                             "<a>\x01</a>", "<a"}) {
    EXPECT_TRUE(elements_of(broken).starts_with("problem: ")) << broken;
  }
}

}  // namespace
}  // namespace reprise
