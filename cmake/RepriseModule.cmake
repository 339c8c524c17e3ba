include(GNUInstallDirs)

# reprise_module(<name> SOURCES <file>... [PUBLIC <target>...] [PRIVATE <target>...])
# One static library per module, named reprise_<name> and reprise::<name>: link lines show the graph.
# What reprise::reprise links is installed (RepriseInstall.cmake). A library of another project that
# is needed to compile a module, but not to link it, is linked as $<BUILD_INTERFACE:...>.
add_library(reprise_warnings INTERFACE)
# g++ 12 sees overlaps in std::string's operator+ that cannot happen (GCC bug 105651).
target_compile_options(reprise_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${REPRISE_WERROR}>:-Werror>)

function(reprise_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(reprise_${name} STATIC ${arg_SOURCES})
  add_library(reprise::${name} ALIAS reprise_${name})
  target_include_directories(reprise_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework/include>
           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(reprise_${name} PUBLIC cxx_std_20)
  target_link_libraries(reprise_${name}
    PUBLIC ${arg_PUBLIC}
    PRIVATE $<BUILD_INTERFACE:reprise_warnings> ${arg_PRIVATE})
  set_target_properties(reprise_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()

# reprise_program(<name> SOURCES <file>... LIBRARIES <target>...)
function(reprise_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(REPRISE_KEEP_LOADED)
    list(APPEND arg_SOURCES ${PROJECT_SOURCE_DIR}/tests/keep_loaded.cpp)
  endif()
  add_executable(${name} ${arg_SOURCES})
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
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <string_view>
namespace ${namespace} {
extern const std::string_view ${name};
const std::string_view ${name} =
@pieces@;
}  // namespace ${namespace}
")
endfunction()
