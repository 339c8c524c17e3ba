#include "backends/vulkan/compile_glsl.h"

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include "backends/vulkan/large_stack.h"
#include "reprise/core/error.h"
#include "shaders/glsl_target.h"
#include "shaders/include_table.h"

namespace reprise::vulkan {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 20U;
constexpr std::size_t kMaxDepth = 32;       // of includes
constexpr std::size_t kMaxMessages = 4096;  // bytes of them in an error
// glslang descends into its trees by recursion. "a+a+a+..." is one of as many levels as it has
// operands, half a million in the longest text, and takes about 1 KiB of stack a level.
constexpr std::size_t kStack = std::size_t{1} << 30U;

/// The process-wide part of glslang, which is there as long as anything may compile.
class Compiler {
 public:
  Compiler() { glslang::InitializeProcess(); }
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  ~Compiler() { glslang::FinalizeProcess(); }
  std::mutex mutex;  // one compilation at a time
};

Compiler& compiler() {
  static Compiler only;
  return only;
}

void require_text(const std::string& kernel, const std::string& what, std::string_view text) {
  const std::string subject = "The " + what + " of the kernel '" + kernel + "' ";
  if (text.size() > kMaxText) {
    throw_invalid_argument(subject, "has (", text.size(), ") bytes; at most ", kMaxText,
                           " are possible.");
  }
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw_invalid_argument(subject, "has a zero byte at (", zero, "); GLSL is text.");
  }
}

/// Finds the caller's files, then the project's.
class Includes final : public glslang::TShader::Includer {
 public:
  explicit Includes(const ShaderSource& source) : source_(source), bytes_(source.glsl.size()) {}

  IncludeResult* includeSystem(const char* name, const char* includer, size_t depth) override {
    return includeLocal(name, includer, depth);
  }
  IncludeResult* includeLocal(const char* name, const char* /*includer*/, size_t depth) override {
    const std::optional<std::string_view> text = find(name);
    if (!text) {
      return refuse("unknown file; there are " + names() + ",");
    }
    bytes_ += text->size();
    if (depth > kMaxDepth || bytes_ > kMaxText) {
      return refuse("files include each other deeper than " + std::to_string(kMaxDepth) +
                    " times, or make up more than " + std::to_string(kMaxText) + " bytes,");
    }
    return &results_.emplace_back(name, text->data(), text->size(), nullptr);
  }
  void releaseInclude(IncludeResult* /*result*/) override {}  // all of them go with this

 private:
  std::optional<std::string_view> find(std::string_view name) const {
    const auto own = source_.includes.find(std::string(name));
    if (own != source_.includes.end()) {
      return own->second;
    }
    for (const shaders::Include& include : shaders::includes()) {
      if (include.name == name) {
        return include.text;
      }
    }
    return std::nullopt;
  }
  std::string names() const {
    std::string list;
    for (const auto& [name, text] : source_.includes) {
      list += (list.empty() ? "" : ", ") + name;
    }
    for (const shaders::Include& include : shaders::includes()) {
      list += (list.empty() ? "" : ", ") + std::string(include.name);
    }
    return list;
  }
  IncludeResult* refuse(const std::string& why) {
    const std::string& text = messages_.emplace_back(why);
    return &results_.emplace_back("", text.data(), text.size(), nullptr);
  }

  const ShaderSource& source_;
  std::size_t bytes_;
  std::deque<IncludeResult> results_;  // glslang keeps pointers to them
  std::deque<std::string> messages_;
};

[[noreturn]] void refuse(const ShaderSource& source, std::string_view log) {
  std::string messages(log.substr(0, kMaxMessages));
  messages.erase(messages.find_last_not_of('\n') + 1);
  throw_invalid_argument("The kernel '", source.name, "' does not compile:\n", messages);
}

/// A source as the compiler has to be given it each time it reads it.
struct Reading {
  explicit Reading(const ShaderSource& source)
      : text(source.glsl.c_str()),
        bytes(static_cast<int>(source.glsl.size())),
        name(source.name.c_str()),
        includes(source) {
    shader.setStringsWithLengthsAndNames(&text, &bytes, &name, 1);
    shader.setPreamble("#extension GL_GOOGLE_include_directive : require\n");
    shaders::set_target(shader);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  const char* text;
  int bytes;
  const char* name;
  Includes includes;
  glslang::TShader shader{EShLangCompute};  // keeps pointers to all of these
};

/// Macros may make much of little text.
void require_short_expansion(const ShaderSource& source) {
  Reading reading(source);
  std::string expanded;
  if (!reading.shader.preprocess(GetDefaultResources(), shaders::kGlslVersion, ENoProfile, false,
                                 false, shaders::kGlslMessages, &expanded, reading.includes)) {
    refuse(source, reading.shader.getInfoLog());
  }
  require_text(source.name, "GLSL, with its macros and includes,", expanded);
}

std::vector<std::uint32_t> compile(const ShaderSource& source) {
  require_short_expansion(source);
  Reading reading(source);
  if (!reading.shader.parse(GetDefaultResources(), shaders::kGlslVersion, false,
                            shaders::kGlslMessages, reading.includes)) {
    refuse(source, reading.shader.getInfoLog());
  }
  glslang::TProgram program;
  program.addShader(&reading.shader);
  if (!program.link(shaders::kGlslMessages)) {
    refuse(source, program.getInfoLog());
  }
  std::vector<std::uint32_t> words;
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &options);
  return words;
}

}  // namespace

std::vector<std::uint32_t> compile_glsl(const ShaderSource& source) {
  require_text(source.name, "GLSL", source.glsl);
  for (const auto& [name, text] : source.includes) {
    require_text(source.name, "include '" + name + "'", text);
  }
  const std::lock_guard lock(compiler().mutex);
  std::vector<std::uint32_t> words;
  run_on_large_stack(kStack, [&] { words = compile(source); });
  return words;
}

}  // namespace reprise::vulkan
