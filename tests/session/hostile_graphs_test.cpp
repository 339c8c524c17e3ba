// Graph files that are damaged, or made to do harm: an error or a graph, never anything else.
#include <fstream>
#include <functional>

#include "framework/graph/hasher.h"
#include "framework/graph/saved_graph.h"
#include "reprise/ops/op_named.h"
#include "tests/file_contents.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/session/saved_pass.h"

namespace reprise::testing {
namespace {

constexpr std::size_t kHashBytes = 32;

/// With the hash of what it says.
Bytes sealed(Bytes bytes) {
  const std::span content(bytes.data(), bytes.size() - kHashBytes);
  const std::string hash = Hasher().bytes(content).hex();
  std::ranges::copy(std::as_bytes(std::span(hash)), bytes.end() - kHashBytes);
  return bytes;
}

class HostileGraphs : public ::testing::Test {
 protected:
  HostileGraphs() {
    pass_.capture(8, {.slots = 1, .run = false}).graph.save(file_);
    bytes_ = test::bytes_of_file(file_);
  }
  CapturedGraph load(const Bytes& bytes) {
    std::ofstream(file_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return pass_.load(file_).graph;
  }
  void refuse(const Bytes& bytes, ErrorCode code, const std::vector<std::string>& parts) {
    expect_error(code, parts, [&] { (void)load(bytes); });
  }
  /// The file with its rows changed.
  Bytes changed(const std::function<void(SavedGraph&)>& change) const {
    SavedGraph graph = decode_graph(bytes_);
    change(graph);
    return encode_graph(graph);
  }
  void refuse_change(const std::function<void(SavedGraph&)>& change,
                     const std::vector<std::string>& parts,
                     ErrorCode code = ErrorCode::invalid_argument) {
    refuse(changed(change), code, parts);
  }
  static std::uint32_t node_of(const SavedGraph& g, std::string_view op) {
    for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
      if (g.ops[g.nodes[n].op].name == op) {
        return n;
      }
    }
    ADD_FAILURE() << "no op " << op;
    return 0;
  }
  /// Where an attribute of the first node of an op lies.
  static std::byte* attribute(SavedGraph& g, std::string_view op, std::string_view name) {
    const auto& all = op_named(op)->attributes;
    return g.nodes[node_of(g, op)].attributes.data() +
           std::ranges::find(all, name, &Attribute::name)->offset;
  }
  static void set_word(std::byte* to, std::uint32_t value) {
    std::memcpy(to, &value, sizeof value);
  }

  test::TempFolder folder_;
  std::filesystem::path file_ = folder_ / "graph";
  SavedPass pass_{test_device("cpu")};
  Bytes bytes_;
};

TEST_F(HostileGraphs, AreRefusedWhenCutAnywhere) {
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    EXPECT_THROW((void)decode_graph(std::span(bytes_).first(size)), Error) << size;
  }
}

TEST_F(HostileGraphs, AreRefusedWithAnyBitFlipped) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    Bytes bytes = bytes_;
    bytes[at] ^= std::byte{static_cast<unsigned char>(1U << rng() % 8)};
    EXPECT_THROW((void)decode_graph(bytes), Error) << at;
  }
}

TEST_F(HostileGraphs, AreRefusedWhenCutAnywhereAndSealedAgain) {
  for (std::size_t size = kHashBytes; size < bytes_.size(); ++size) {
    const auto part = std::span(bytes_).first(size);
    EXPECT_THROW((void)decode_graph(sealed({part.begin(), part.end()})), Error) << size;
  }
}

TEST_F(HostileGraphs, RunOrAreRefusedWithAByteChangedAndSealedAgain) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  std::size_t ran = 0;
  for (std::size_t at = rng() % 4; at < bytes_.size() - kHashBytes; at += 1 + rng() % 6) {
    Bytes bytes = bytes_;
    const bool bit = rng() % 2 == 0;
    bytes[at] ^= std::byte{static_cast<unsigned char>(bit ? 1U << rng() % 8 : 1 + rng() % 255)};
    try {
      CapturedGraph graph = load(sealed(std::move(bytes)));
      pass_.state.set("pos", 0);
      graph.launch({.iterations = 2});
      ++ran;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): as good as running
    }
  }
  EXPECT_GT(ran, bytes_.size() / 100);  // texts, names of sources, values of inputs
}

TEST_F(HostileGraphs, SayThatAnotherVersionOfTheFormatIsNotReadHere) {
  Bytes bytes = bytes_;
  bytes[8] = std::byte{kGraphFileVersion + 1};
  refuse(bytes, ErrorCode::unsupported,
         {file_.string(), "version (" + std::to_string(kGraphFileVersion + 1) + ")",
          "reads versions " + std::to_string(kOldestGraphFileVersion) + " to " +
              std::to_string(kGraphFileVersion)});
}

TEST_F(HostileGraphs, SayThatTheyAreNoGraphFiles) {
  refuse({}, ErrorCode::invalid_argument, {"no graph file", "0 bytes"});
  refuse(Bytes(500), ErrorCode::invalid_argument, {"no graph file"});
}

TEST_F(HostileGraphs, AreRefusedWithOpsOfAnotherLibrary) {
  refuse(changed([](SavedGraph& g) { g.ops[0].name = "fold"; }), ErrorCode::unsupported,
         {"'fold'", "no such op"});
  refuse(changed([](SavedGraph& g) { g.ops[0].schema += "more"; }), ErrorCode::unsupported,
         {"'plan'", "more", "this library's has"});
}

TEST_F(HostileGraphs, AreRefusedWithOperandsNobodyMade) {
  refuse_change([](SavedGraph& g) { g.nodes[node_of(g, "add")].operands[0] = 1000; },
                {"(1000)", "before it is made"});
  refuse_change([](SavedGraph& g) { g.nodes[node_of(g, "add")].operands[0] = kNoIndex; },
                {"add", "empty tensor"});
  refuse_change([](SavedGraph& g) { g.nodes[node_of(g, "add")].operands.pop_back(); },
                {"add", "(1) operands", "schema"});
}

TEST_F(HostileGraphs, AreRefusedWithResultsOfAnotherShape) {
  refuse_change(
      [](SavedGraph& g) {
        const SavedNode& node = g.nodes[node_of(g, "rms_norm")];
        g.tensors[node.results[0]].spec = TensorSpec({1, 8}, DType::f32);
      },
      {"rms_norm", "layer.3/attn", "f32 [1, 8]", "f32 [1, 16]"});
}

TEST_F(HostileGraphs, AreRefusedWithViewsOfWhatIsNotThere) {
  const auto view = [](SavedGraph& g) -> SavedTensor& {
    return *std::ranges::find_if(
        g.tensors, [&](const SavedTensor& t) { return t.alias_of != kNoIndex && t.offset != 0; });
  };
  refuse_change([&](SavedGraph& g) { view(g).offset += 4; }, {"no reshape, permute or slice"});
  refuse_change([&](SavedGraph& g) { view(g).spec.strides[1] = 0; }, {"no reshape"});
  refuse_change([&](SavedGraph& g) { view(g).alias_of = 100000; }, {"(100000)", "before"});
}

TEST_F(HostileGraphs, AreRefusedWithStateThatIsNotThere) {
  refuse_change([](SavedGraph& g) { set_word(attribute(g, "rope", "position") + 4, 900); },
                {"'position'", "rope", "(900)"});
  refuse_change([](SavedGraph& g) { set_word(attribute(g, "advance", "rows_word"), 900); },
                {"(900)", "6 fields"});
}

TEST_F(HostileGraphs, AreRefusedWithBooleansThatAreNeither) {
  refuse_change([](SavedGraph& g) { *attribute(g, "attention", "causal") = std::byte{7}; },
                {"'causal'", "(7)"});
}

TEST_F(HostileGraphs, AreRefusedWithNumbersThatNameNoDType) {
  const auto count = static_cast<std::uint32_t>(kDTypeCount);
  for (const std::uint32_t number : {count, 0x80000000U, 0xFFFFFFFEU}) {
    refuse_change([&](SavedGraph& g) { set_word(attribute(g, "copy", "dtype"), number); },
                  {"copy knows the dtypes 0 to " + std::to_string(count - 1)});
  }
}

TEST_F(HostileGraphs, AreRefusedWithAttributesOfAnotherSize) {
  refuse_change([](SavedGraph& g) { g.nodes[node_of(g, "rope")].attributes.pop_back(); },
                {"rope", "bytes of attributes"});
}

TEST_F(HostileGraphs, AreRefusedWithASecondPlan) {
  refuse_change([](SavedGraph& g) { g.nodes.push_back(g.nodes[0]); },
                {"plan", "decides which iterations run"});
}

TEST_F(HostileGraphs, AreRefusedWithIterationsNobodyCounts) {
  refuse_change([](SavedGraph& g) { g.max_iterations = 5000; }, {"(5000)", "4096"});
  refuse_change([](SavedGraph& g) { g.max_iterations = 0; }, {"(0)"});
  refuse_change([](SavedGraph& g) { g.max_iterations = 1; }, {"iteration"});
}

TEST_F(HostileGraphs, AreRefusedWithPortsOfOneName) {
  refuse_change([](SavedGraph& g) { g.outputs.push_back(g.outputs[0]); }, {"two", "(logits)"});
}

TEST_F(HostileGraphs, AreRefusedWithTooFewValuesOfAnInput) {
  refuse_change([](SavedGraph& g) { g.inputs[0].values.pop_back(); }, {"'bias'", "(63) bytes"},
                ErrorCode::size_mismatch);
}

TEST_F(HostileGraphs, AreRefusedWithInputsThatAreWeights) {
  refuse_change(
      [](SavedGraph& g) {
        const auto weights = std::ranges::find_if(g.tensors, [&](const SavedTensor& t) {
          return t.origin == StorageOrigin::caller && t.spec.bytes() == 64;
        });
        g.inputs.push_back({"norm", static_cast<std::uint32_t>(weights - g.tensors.begin()),
                            std::vector<std::byte>(64)});
      },
      {"The input 'norm' is memory of something else"});
}

TEST_F(HostileGraphs, AreNotReadIfTheyAreLargerThanAny) {
  std::filesystem::resize_file(file_, std::uint64_t{1} << 40U);  // of holes
  expect_error(ErrorCode::io, {"larger than any"}, [&] { (void)pass_.load(file_); });
}

TEST_F(HostileGraphs, AreRefusedWithAnotherStructureThanTheySay) {
  refuse_change([](SavedGraph& g) { g.structure_hash[0] = 'x'; }, {"structure", "(x"});
}

TEST_F(HostileGraphs, AreNotWrittenWithScopesNestedTooDeep) {
  EXPECT_NO_THROW((void)changed([](SavedGraph& g) {
    for (std::uint32_t i = 0; i < 200; ++i) {
      g.scopes.push_back({static_cast<std::uint32_t>(g.scopes.size()), 1, 7});
    }
  }));
  expect_error(ErrorCode::invalid_argument, {"at most 256 deep", "(257)"}, [&] {
    (void)changed([](SavedGraph& g) {
      for (std::uint32_t i = 0; i < 300; ++i) {
        g.scopes.push_back({static_cast<std::uint32_t>(g.scopes.size()), 1, 7});
      }
    });
  });
}

}  // namespace
}  // namespace reprise::testing
