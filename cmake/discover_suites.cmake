# cmake -DPROGRAM=<program> -DFILTER=<filter> -DPREFIX=<text> -DPROPERTIES=<name;value...>
#       -DOUTPUT=<file> -P discover_suites.cmake
# Writes a test for every suite of the program that the filter leaves.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER}
  OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n[^ \n][^ \n]*\\." suites "\n${listed}")
set(tests "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n(.*)\\.$" "\\1" suite "${suite}")
  # Tests that the filter leaves out are in suites that it leaves out.
  string(APPEND tests
         "add_test([=[${PREFIX}${suite}]=] [=[${PROGRAM}]=] --gtest_brief=1 [=[--gtest_filter=${suite}.*]=])\n"
         "set_tests_properties([=[${PREFIX}${suite}]=] PROPERTIES")
  foreach(word IN LISTS PROPERTIES)
    string(APPEND tests " [=[${word}]=]")
  endforeach()
  string(APPEND tests ")\n")
endforeach()
if(NOT tests)
  message(FATAL_ERROR "${PROGRAM} has no suite that ${FILTER} leaves")
endif()
file(WRITE ${OUTPUT} "${tests}")
