# cmake --install: the libraries that reprise::reprise links, their headers, the packages for CMake
# (find_package(Reprise), target Reprise::reprise) and pkg-config (reprise.pc), the programs and the
# documents. Which libraries these are follows from the targets; only those of other projects are
# listed here. Nothing installed names the place it was installed to: the prefix may be moved.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# reprise_dependency(<target> [FIND <package>...] [PKG_CONFIG <module>] [LIBS <flag>...])
# A library of another project that modules link, and how users of the installed package find it:
# CMake by these packages, in this order, or else through pkg-config; pkg-config by its module, or
# by flags.
function(reprise_dependency target)
  cmake_parse_arguments(arg "" "PKG_CONFIG" "FIND;LIBS" ${ARGN})
  set(find ${arg_FIND})
  list(TRANSFORM find REPLACE ".+" "find_dependency(\\0)")
  if(NOT arg_FIND)
    string(REGEX REPLACE "^PkgConfig::" "" prefix ${target})
    set(find "reprise_find_module(${prefix} ${arg_PKG_CONFIG})")
  endif()
  set(find_${target} "${find}" PARENT_SCOPE)
  set(module_${target} "${arg_PKG_CONFIG}" PARENT_SCOPE)
  set(libs_${target} "${arg_LIBS}" PARENT_SCOPE)
endfunction()
reprise_dependency(PkgConfig::XXHASH PKG_CONFIG libxxhash)
reprise_dependency(SPIRV-Tools-opt FIND SPIRV-Tools SPIRV-Tools-opt PKG_CONFIG SPIRV-Tools)
reprise_dependency(SQLite::SQLite3 FIND SQLite3 PKG_CONFIG sqlite3)
reprise_dependency(Threads::Threads FIND Threads LIBS -pthread)
reprise_dependency(Vulkan::Vulkan FIND Vulkan PKG_CONFIG vulkan)
# The packages of glslang name targets of these others and do not find them.
reprise_dependency(glslang::SPIRV FIND Threads SPIRV-Tools SPIRV-Tools-opt SPIRV-Tools-link glslang
                   PKG_CONFIG spirv)
reprise_dependency(glslang::glslang-default-resource-limits FIND glslang
                   LIBS -lglslang-default-resource-limits)
reprise_dependency(hwy::hwy FIND hwy PKG_CONFIG libhwy)

# Adds a target and what it links to `modules`, dependents before dependencies as linkers want them,
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
set(modules "")
set(foreign "")
collect_modules(reprise::reprise)
list(REMOVE_DUPLICATES foreign)

set(find_dependencies "")
set(pc_requires "")
set(pc_libs "")
foreach(target IN LISTS modules)
  list(APPEND pc_libs -l${target})
endforeach()
foreach(target IN LISTS foreign)
  if(NOT DEFINED find_${target})
    message(FATAL_ERROR "'${target}' has no reprise_dependency() in cmake/RepriseInstall.cmake")
  endif()
  list(APPEND find_dependencies ${find_${target}})
  list(APPEND pc_requires ${module_${target}})
  list(APPEND pc_libs ${libs_${target}})
endforeach()
list(REMOVE_DUPLICATES find_dependencies)
list(JOIN find_dependencies "\n" find_dependencies)
list(JOIN pc_requires ", " pc_requires)
list(JOIN pc_libs " " pc_libs)

install(TARGETS ${modules} EXPORT RepriseTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY framework/include/ ${PROJECT_BINARY_DIR}/generated/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Reprise)
install(EXPORT RepriseTargets NAMESPACE Reprise:: DESTINATION ${package_folder})

set(generated ${PROJECT_BINARY_DIR}/generated/package)
configure_package_config_file(cmake/RepriseConfig.cmake.in ${generated}/RepriseConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${generated}/RepriseConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/RepriseConfig.cmake ${generated}/RepriseConfigVersion.cmake
        DESTINATION ${package_folder})

file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/reprise.pc.in ${generated}/reprise.pc @ONLY)
install(FILES ${generated}/reprise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(program reprise reprise-debugger reprise-llama)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(FILES CONTRIBUTING.md LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN *.md PATTERN *.png)
