# cmake --install: what runs (the component runtime: programs, libreprise.so, documents), and what is
# built with (development: headers, static libraries, the packages for CMake and pkg-config, which
# name the target Reprise::reprise or Reprise::static, and reprise.pc). Which libraries these are follows from the targets; only those of other projects are
# listed here. Nothing installed names the place it was installed to: the prefix may be moved.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(modules GLOBAL PROPERTY REPRISE_MODULES)
get_property(foreign GLOBAL PROPERTY REPRISE_FOREIGN)

set(find_dependencies "")
set(pc_requires "")
set(pc_libs "")
foreach(target IN LISTS modules)
  list(APPEND pc_libs -l${target})
endforeach()
foreach(target IN LISTS foreign)
  if(NOT DEFINED find_${target})
    message(FATAL_ERROR "'${target}' has no reprise_dependency() in cmake/RepriseDependencies.cmake")
  endif()
  list(APPEND find_dependencies ${find_${target}})
  list(APPEND pc_requires ${module_${target}})
  list(APPEND pc_libs ${libs_${target}})
endforeach()
list(REMOVE_DUPLICATES find_dependencies)
list(JOIN find_dependencies "\n  " find_dependencies)
list(JOIN pc_requires ", " pc_requires)
list(JOIN pc_libs " " pc_libs)

install(TARGETS ${modules} EXPORT RepriseStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS reprise_shared EXPORT RepriseTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
        NAMELINK_COMPONENT development)
install(DIRECTORY framework/include/ ${PROJECT_BINARY_DIR}/generated/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Reprise)
foreach(targets RepriseTargets RepriseStaticTargets)
  install(EXPORT ${targets} NAMESPACE Reprise:: DESTINATION ${package_folder}
          COMPONENT development)
endforeach()

set(generated ${PROJECT_BINARY_DIR}/generated/package)
configure_package_config_file(cmake/RepriseConfig.cmake.in ${generated}/RepriseConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${generated}/RepriseConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/RepriseConfig.cmake ${generated}/RepriseConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)

file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(pc reprise reprise-static)
  configure_file(cmake/${pc}.pc.in ${generated}/${pc}.pc @ONLY)
  install(FILES ${generated}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()

foreach(program reprise reprise-debugger reprise-llama)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  endif()
endforeach()
install(FILES CONTRIBUTING.md LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime
        FILES_MATCHING PATTERN *.md PATTERN *.png)
