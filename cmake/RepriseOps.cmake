# reprise_ops(<op>...) is the one list of ops. Every part named after an op must exist, and every
# shader found must belong to an op; otherwise configuration stops and says which. The shaders of an
# op are shaders/<op>.comp, which every device runs, and shaders/<op>.<kernel family>.comp.
# <kind>/<op> is one of several ops that differ in little: their parts are named after the kind, and
# the shader of each is a variant of its name.
# A variant <a>/<b> is compiled with VARIANT_<A> and VARIANT_<B>; its shader is <op>.<a>_<b>.
# It sets in the caller: OP_SOURCES (definitions and their table), OP_SHADER_TABLE (embedded SPIR-V).
function(reprise_ops)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  file(GLOB glsl_includes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shaders/include/*.glsl)
  foreach(entry IN LISTS ARGN)
    string(REGEX REPLACE "/.*" "" kind ${entry})
    string(REGEX REPLACE ".*/" "" op ${entry})
    foreach(part framework/include/reprise/ops/${kind}.h framework/ops/${kind}.cpp
            shaders/${kind}.comp tests/ops/${kind}_cases.cpp)
      if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${part})
        message(FATAL_ERROR "op '${op}': missing ${part}")
      endif()
    endforeach()
    string(APPEND definitions "extern const OpDef ${op}_def;\n")
    string(APPEND table "    &${op}_def,\n")
    if(entry MATCHES "/")
      string(APPEND case_table
             "    {\"${op}\", [] { return ${kind}_cases(\"${op}\"); }},\n")
      file(STRINGS ${PROJECT_SOURCE_DIR}/shaders/${kind}.comp variants REGEX "^// variants: ")
      if(NOT variants MATCHES " ${op}( |_|/|$)")
        message(FATAL_ERROR "op '${op}': no variant in shaders/${kind}.comp")
      endif()
    else()
      string(APPEND case_table "    {\"${op}\", ${op}_cases},\n")
    endif()
    if(kind IN_LIST kinds)
      continue()
    endif()
    list(APPEND kinds ${kind})
    string(APPEND headers "#include \"reprise/ops/${kind}.h\"  // IWYU pragma: export\n")
    if(entry MATCHES "/")
      string(APPEND case_functions "std::vector<OpCase> ${kind}_cases(std::string_view op);\n")
    else()
      string(APPEND case_functions "std::vector<OpCase> ${kind}_cases();\n")
    endif()
    list(APPEND sources ${PROJECT_SOURCE_DIR}/framework/ops/${kind}.cpp)
    list(APPEND cases ${PROJECT_SOURCE_DIR}/tests/ops/${kind}_cases.cpp)

    foreach(family "" "lanes" "gpu")
      set(stem ${kind})
      set(prefix "${kind}.")
      if(family)
        set(stem ${kind}.${family})
        set(prefix "${kind}.${family}_")
      endif()
      set(shader ${PROJECT_SOURCE_DIR}/shaders/${stem}.comp)
      if(NOT EXISTS ${shader})
        continue()
      endif()
      list(APPEND known ${stem}.comp)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${shader})
      file(STRINGS ${shader} variants REGEX "^// variants: ")
      string(REGEX REPLACE "^// variants: " "" variants "${variants}")
      separate_arguments(variants)
      if(NOT variants)
        set(variants "-")
      endif()
      set(arguments "")
      foreach(variant IN LISTS variants)
        set(name ${stem})
        set(macros "")
        if(NOT variant STREQUAL "-")
          string(REPLACE "/" "_" word ${variant})
          set(name ${prefix}${word})
          string(TOUPPER ${variant} upper)
          string(REGEX REPLACE "([^/]+)/?" ",VARIANT_\\1" macros ${upper})
          string(REGEX REPLACE "^," "=" macros ${macros})
        endif()
        string(MAKE_C_IDENTIFIER ${name} symbol)
        list(APPEND arguments ${symbol}${macros})
        string(APPEND shaders "    {\"${name}\", ${symbol}},\n")
      endforeach()
      set(words ${generated}/${stem}.spv.inc)
      if(REPRISE_VULKAN)
        add_custom_command(OUTPUT ${words}
          COMMAND reprise-embed-shader ${shader} ${PROJECT_SOURCE_DIR}/shaders/include ${words}
                  ${arguments}
          DEPENDS ${shader} reprise-embed-shader DEPFILE ${words}.d VERBATIM)
      endif()
      list(APPEND spirv ${words})
      string(APPEND arrays "#include \"${stem}.spv.inc\"\n")
    endforeach()
  endforeach()
  file(GLOB found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/shaders
       ${PROJECT_SOURCE_DIR}/shaders/*.comp)
  foreach(shader IN LISTS found)
    if(NOT shader IN_LIST known)
      message(FATAL_ERROR "shaders/${shader} belongs to no op")
    endif()
  endforeach()

  file(CONFIGURE OUTPUT ${generated}/include/reprise/ops.h @ONLY CONTENT
"// All ops. Generated from the list in framework/ops/CMakeLists.txt.
#pragma once
#include \"reprise/ops/host_step.h\"  // IWYU pragma: export
#include \"reprise/ops/views.h\"  // IWYU pragma: export
@headers@")
  file(CONFIGURE OUTPUT ${generated}/op_table.cpp @ONLY CONTENT
"#include \"framework/core/op.h\"
#include \"reprise/ops/op_named.h\"

namespace reprise {
namespace ops {

@definitions@
namespace {
const OpDef* const kOps[] = {
@table@};
}  // namespace
}  // namespace ops

std::span<const OpDef* const> library_ops() { return ops::kOps; }

}  // namespace reprise
")
  file(CONFIGURE OUTPUT ${generated}/op_case_table.cpp @ONLY CONTENT
"#include \"tests/ops/op_case_table.h\"

namespace reprise::testing {

@case_functions@
std::vector<NamedCases> all_op_cases() {
  return {
@case_table@  };
}

}  // namespace reprise::testing
")
  file(CONFIGURE OUTPUT ${generated}/shader_table.cpp @ONLY CONTENT
"#include \"shaders/shader_table.h\"

namespace reprise::shaders {
namespace {
@arrays@
constexpr Shader kShaders[] = {
@shaders@};
}  // namespace

std::span<const Shader> all() { return kShaders; }

const Shader* find(std::string_view name) {
  for (const Shader& shader : kShaders) {
    if (shader.name == name) {
      return &shader;
    }
  }
  return nullptr;
}

}  // namespace reprise::shaders
")
  reprise_embed_includes(${generated}/include_table.cpp ${glsl_includes})
  set(OP_SOURCES ${sources} ${generated}/op_table.cpp PARENT_SCOPE)
  set(OP_SHADER_TABLE ${generated}/shader_table.cpp ${generated}/include_table.cpp ${spirv} PARENT_SCOPE)
  set_property(GLOBAL PROPERTY REPRISE_OPS ${ARGN})
  set_property(GLOBAL PROPERTY REPRISE_OP_KINDS ${kinds})
  set_property(GLOBAL PROPERTY REPRISE_OP_CASES ${cases} ${generated}/op_case_table.cpp)
endfunction()

# reprise_embed_includes(<output.cpp> <file>...): the table behind shaders/include_table.h.
function(reprise_embed_includes output)
  set(rows "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(GET file FILENAME name)
    file(READ ${file} text)
    string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include \"shaders/include_table.h\"

namespace reprise::shaders {
namespace {
constexpr Include kIncludes[] = {
@rows@};
}  // namespace

std::span<const Include> includes() { return kIncludes; }

}  // namespace reprise::shaders
")
endfunction()

# reprise_cpu_kernels(OUTPUT <variable>) gives the sources of the CPU backend's kernels, and makes the
# one that lists them: ops without a kernel run their reference.
function(reprise_cpu_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT" "")
  get_property(entries GLOBAL PROPERTY REPRISE_OPS)
  get_property(kinds GLOBAL PROPERTY REPRISE_OP_KINDS)
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE "/.*" "" kind ${entry})
    string(REGEX REPLACE ".*/" "" op ${entry})
    if(EXISTS ${PROJECT_SOURCE_DIR}/backends/cpu/kernels/${kind}.cpp)
      string(APPEND declarations "bool plan_${op}(const KernelCall& call, KernelPlan& plan);\n")
      string(APPEND table "    {\"${op}\", plan_${op}},\n")
      list(APPEND sources cpu/kernels/${kind}.cpp)
    endif()
  endforeach()
  file(GLOB found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/backends/cpu/kernels
       ${PROJECT_SOURCE_DIR}/backends/cpu/kernels/*.cpp)
  foreach(file IN LISTS found)
    string(REGEX REPLACE "\\.cpp$" "" op ${file})
    if(NOT op IN_LIST kinds AND NOT op STREQUAL "kernel_table")
      message(FATAL_ERROR "backends/cpu/kernels/${file} belongs to no op")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cpu_kernels.cpp @ONLY CONTENT
"#include \"backends/cpu/kernels/kernel_table.h\"

namespace reprise::cpu {

@declarations@
namespace {
constexpr NamedKernel kKernels[] = {
@table@};
}  // namespace

std::span<const NamedKernel> all_kernels() { return kKernels; }

}  // namespace reprise::cpu
")
  list(REMOVE_DUPLICATES sources)
  set(${arg_OUTPUT} ${sources} ${PROJECT_BINARY_DIR}/generated/cpu_kernels.cpp PARENT_SCOPE)
endfunction()
