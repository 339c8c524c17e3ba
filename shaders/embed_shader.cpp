// Compiles one shader for each of its variants into arrays of SPIR-V words, as C++ text, and writes
// what it read into OUTPUT.d, as compilers do. A program of the build: the compiler's own start
// takes twenty times as long as a shader. usage:
// reprise-embed-shader SOURCE FOLDER_OF_INCLUDES OUTPUT [ARRAY[=MACRO,...]]...
#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include "shaders/glsl_target.h"

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) {
    throw std::runtime_error(path + " cannot be read.");
  }
  return text;
}

/// Every included file lies in one folder. It adds what it reads to `files`.
class Includes final : public glslang::TShader::Includer {
 public:
  Includes(std::string folder, std::set<std::string>& files)
      : folder_(std::move(folder)), files_(files) {}
  IncludeResult* includeLocal(const char* name, const char* /*includer*/, size_t) override {
    const std::string& file = *files_.insert(folder_ + "/" + name).first;
    const std::string& text = *texts_.emplace_back(std::make_unique<std::string>(read(file)));
    return results_
        .emplace_back(std::make_unique<IncludeResult>(name, text.data(), text.size(), nullptr))
        .get();
  }
  void releaseInclude(IncludeResult* /*result*/) override {}  // all of them go with this

 private:
  std::string folder_;
  std::set<std::string>& files_;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<IncludeResult>> results_;
};

/// "MACRO,MACRO" as lines of GLSL.
std::string definitions(std::string_view macros) {
  std::string text;
  while (!macros.empty()) {
    const std::size_t end = std::min(macros.find(','), macros.size());
    text.append("#define ").append(macros.substr(0, end)).append(" 1\n");
    macros.remove_prefix(std::min(end + 1, macros.size()));
  }
  return text;
}

struct Source {
  std::string path, text, includes;
};

std::vector<std::uint32_t> compile(const Source& source, const std::string& preamble,
                                   std::set<std::string>& files) {
  using reprise::shaders::kGlslMessages, reprise::shaders::kGlslVersion;
  const char* const text = source.text.c_str();
  const int bytes = static_cast<int>(source.text.size());
  const char* const name = source.path.c_str();
  Includes includes(source.includes, files);
  glslang::TShader shader(EShLangCompute);
  shader.setStringsWithLengthsAndNames(&text, &bytes, &name, 1);
  shader.setPreamble(preamble.c_str());
  reprise::shaders::set_target(shader);
  glslang::TProgram program;
  if (!shader.parse(GetDefaultResources(), kGlslVersion, false, kGlslMessages, includes)) {
    throw std::runtime_error(shader.getInfoLog());
  }
  program.addShader(&shader);
  if (!program.link(kGlslMessages)) {
    throw std::runtime_error(source.path + ": " + program.getInfoLog());
  }
  std::vector<std::uint32_t> words;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words);
  return words;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out.write(text.data(), static_cast<std::streamsize>(text.size())).flush()) {
    throw std::runtime_error(path + " cannot be written.");
  }
}

/// A path as make and ninja read it.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    text.append(c == ' ' || c == '#' ? "\\" : c == '$' ? "$" : "").push_back(c);
  }
  return text;
}

void embed(const std::string& path, const std::string& includes, const std::string& output,
           std::span<char*> variants) {
  const Source source{path, read(path), includes};
  std::set<std::string> files{path};
  std::string text;
  for (const std::string_view variant : variants) {
    const std::size_t name = std::min(variant.find('='), variant.size());
    const std::string_view macros = variant.substr(std::min(name + 1, variant.size()));
    text.append("constexpr std::uint32_t ").append(variant.substr(0, name)).append("[] = {");
    for (const std::uint32_t word : compile(source, definitions(macros), files)) {
      text.append(std::to_string(word)).append(",");
    }
    text.append("};\n");
  }
  write(output, text);
  std::string inputs = escaped(output) + ":";
  for (const std::string& file : files) {
    inputs += " " + escaped(file);
  }
  write(output + ".d", inputs + "\n");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span words(argv, static_cast<std::size_t>(argc));
  if (words.size() < 5) {
    throw std::runtime_error("SOURCE FOLDER_OF_INCLUDES OUTPUT ARRAY[=MACRO,...]... is expected.");
  }
  glslang::InitializeProcess();
  embed(words[1], words[2], words[3], words.subspan(4));
  glslang::FinalizeProcess();
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
