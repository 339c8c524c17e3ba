include(GNUInstallDirs)

# One static library per module, and all modules of the framework in one shared library. A module or
# program outside of the framework links reprise::reprise: the shared library, or the modules in a
# program that is STATIC, which tests are that look inside. No program has both.
add_library(reprise_warnings INTERFACE)
# g++ 12 sees overlaps in std::string's operator+ that cannot happen (GCC bug 105651).
target_compile_options(reprise_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${REPRISE_WERROR}>:-Werror>)

# How many sources are compiled together.
set(REPRISE_BATCH 12)

# What every target here is compiled with, and where programs and libraries are put.
function(reprise_settings name)
  set_target_properties(${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    BUILD_RPATH_USE_ORIGIN ON
    INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
endfunction()

# reprise_batches(<target>): its sources are compiled together, but those in REPRISE_ALONE; that list leaves the others
# where they are, so that no batch has names which another does not.
function(reprise_batches target)
  get_target_property(sources ${target} SOURCES)
  set(n 0)
  foreach(source IN LISTS sources)
    math(EXPR batch "${n} / ${REPRISE_BATCH}")
    math(EXPR n "${n} + 1")
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE file)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(NOT file IN_LIST REPRISE_ALONE)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# reprise_includes(<name> <PUBLIC|INTERFACE>): the headers of the framework.
function(reprise_includes name scope)
  target_include_directories(${name}
    ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework/include>
             $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated/include>
             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} ${scope} cxx_std_20)
endfunction()

# What most sources include, read once per module (reprise_module's PRECOMPILED) or test program.
set(REPRISE_STANDARD_HEADERS <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map>
  <memory> <mutex> <optional> <ranges> <span> <sstream> <string> <string_view> <unordered_map>
  <utility> <variant> <vector>)

# reprise_module(<name> SOURCES <file>... [PUBLIC <target>...] [PRIVATE <target>...]
#                [PRECOMPILED <header>...] [ONE_BY_ONE])
# The library reprise_<name>, or reprise::<name>: link lines show the graph. What reprise::backends
# links is installed (cmake/RepriseInstall.cmake). A library of another project that is needed to compile
# a module, but not to link it, is linked as $<BUILD_INTERFACE:...>. Headers
# are PRECOMPILED where most sources include them: reading them is half of compiling. For the same reason several
# sources are compiled together if REPRISE_UNITY is on, unless the module is ONE_BY_ONE: its sources then may use
# names alike. A module of few batches reads its headers sooner than it precompiles them.
function(reprise_module name)
  cmake_parse_arguments(arg "ONE_BY_ONE" "" "SOURCES;PUBLIC;PRIVATE;PRECOMPILED" ${ARGN})
  add_library(reprise_${name} STATIC ${arg_SOURCES})
  add_library(reprise::${name} ALIAS reprise_${name})
  reprise_settings(reprise_${name})
  reprise_includes(reprise_${name} PUBLIC)
  target_include_directories(reprise_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(reprise_${name}
    PUBLIC ${arg_PUBLIC}
    PRIVATE $<BUILD_INTERFACE:reprise_warnings> ${arg_PRIVATE})
  set_target_properties(reprise_${name} PROPERTIES EXPORT_NAME ${name})
  list(LENGTH arg_SOURCES compiled)
  if(REPRISE_UNITY AND NOT arg_ONE_BY_ONE)
    reprise_batches(reprise_${name})
    math(EXPR compiled "${compiled} / ${REPRISE_BATCH}")
  endif()
  if(arg_PRECOMPILED AND compiled GREATER 3)
    target_precompile_headers(reprise_${name} PRIVATE ${REPRISE_STANDARD_HEADERS}
      ${arg_PRECOMPILED})
  endif()
endfunction()

# collect_modules(<target>) adds a target and what it links to `modules`, dependents before dependencies as linkers want them,
# and to `foreign`.
function(collect_modules target)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  if(target IN_LIST modules)
    return()
  endif()
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    # Only for building, or the scope that CMake notes of a link from another folder.
    if(NOT link OR link MATCHES "^\\$<BUILD_INTERFACE:|^::@")
      continue()
    endif()
    if(link MATCHES "^reprise")
      collect_modules(${link})
    else()
      list(APPEND foreign ${link})
    endif()
  endforeach()
  set(modules ${target} ${modules} PARENT_SCOPE)
  set(foreign ${foreign} PARENT_SCOPE)
endfunction()

# reprise_program(<name> [STATIC] [TOGETHER] SOURCES <file>... LIBRARIES <target>...)
# What takes time at run time is in libraries, so that a program's own files are not optimised, and TOGETHER where
# most of them read the same large headers.
function(reprise_program name)
  cmake_parse_arguments(arg "STATIC;TOGETHER" "" "SOURCES;LIBRARIES" ${ARGN})
  if(REPRISE_KEEP_LOADED)
    list(APPEND arg_SOURCES ${PROJECT_SOURCE_DIR}/tests/keep_loaded.cpp)
  endif()
  add_executable(${name} ${arg_SOURCES})
  reprise_settings(${name})
  set_target_properties(${name} PROPERTIES REPRISE_STATIC "${arg_STATIC}")
  if(REPRISE_UNITY AND arg_TOGETHER)
    reprise_batches(${name})
  endif()
  target_compile_options(${name} PRIVATE -O0)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE reprise_warnings reprise_every_program ${arg_LIBRARIES})
endfunction()

# reprise_embed_text(<output.cpp> <input> <namespace> <name>): a file as a std::string_view.
function(reprise_embed_text output input namespace name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${input})
  file(READ ${input} text)
  # String literals may be limited to 64 KiB; neighbours are joined.
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces "R\"embedded(${piece})embedded\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  # Alone, so that a program may have a text of its own instead.
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <string_view>
namespace ${namespace} {
extern const std::string_view ${name};
const std::string_view ${name} =
@pieces@;
}  // namespace ${namespace}
")
endfunction()
