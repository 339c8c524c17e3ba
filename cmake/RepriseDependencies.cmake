# The libraries of other projects that the framework links: found here, once, and by the users of the
# installed package in the same way.

# reprise_dependency(<target> [FIND <package>...] [PKG_CONFIG <module>] [LIBS <flag>...])
# CMake finds it by these packages, in this order, or else through pkg-config; pkg-config by its
# module, or by flags.
macro(reprise_dependency target)
  cmake_parse_arguments(arg "" "PKG_CONFIG" "FIND;LIBS" ${ARGN})
  set(find_${target} ${arg_FIND})
  list(TRANSFORM find_${target} REPLACE ".+" "find_dependency(\\0)")
  foreach(package IN LISTS arg_FIND)
    find_package(${package} REQUIRED)
  endforeach()
  if(NOT arg_FIND)
    string(REGEX REPLACE "^PkgConfig::" "" prefix ${target})
    set(find_${target} "reprise_find_module(${prefix} ${arg_PKG_CONFIG})")
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET ${arg_PKG_CONFIG})
  endif()
  set(module_${target} "${arg_PKG_CONFIG}")
  set(libs_${target} "${arg_LIBS}")
endmacro()
reprise_dependency(PkgConfig::XXHASH PKG_CONFIG libxxhash)
reprise_dependency(SQLite::SQLite3 FIND SQLite3 PKG_CONFIG sqlite3)
reprise_dependency(Threads::Threads FIND Threads LIBS -pthread)
reprise_dependency(hwy::hwy FIND hwy PKG_CONFIG libhwy)
if(REPRISE_VULKAN)
  reprise_dependency(Vulkan::Vulkan FIND Vulkan PKG_CONFIG vulkan)
  reprise_dependency(SPIRV-Tools-opt FIND SPIRV-Tools SPIRV-Tools-opt PKG_CONFIG SPIRV-Tools)
  # The packages of glslang name targets of these others and do not find them.
  reprise_dependency(glslang::SPIRV FIND Threads SPIRV-Tools SPIRV-Tools-opt SPIRV-Tools-link glslang
                     PKG_CONFIG spirv)
  reprise_dependency(glslang::glslang-default-resource-limits FIND glslang
                     LIBS -lglslang-default-resource-limits)
endif()
# Headers alone.
find_package(nlohmann_json REQUIRED)
