# cmake -DPROGRAM=<program> -DFILTER=<filter> -DPREFIX=<text> -DPROPERTIES=<name;value...>
#       -DOUTPUT=<file> -P discover_suites.cmake
# Writes a test for every suite of the program that the filter leaves. Of a suite with a parameter
# the filter may leave one value: the test runs those alone.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER}
  OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE " +#[^\n]*" "" listed "${listed}\n")
string(REGEX MATCHALL "[^ \n]+\\.\n(  [^ \n]+\n)+" suites "${listed}")
set(tests "")
foreach(suite IN LISTS suites)
  string(REGEX MATCHALL "(/[^ \n/]+)?\n  " ends "${suite}  ")
  list(POP_FRONT ends)
  list(REMOVE_DUPLICATES ends)
  list(LENGTH ends different)
  set(filter "*")
  if(different EQUAL 1)
    string(STRIP "*${ends}" filter)
  endif()
  string(REGEX REPLACE "\\.\n.*" "" suite "${suite}")
  string(APPEND tests
         "add_test([=[${PREFIX}${suite}]=] [=[${PROGRAM}]=] --gtest_brief=1 [=[--gtest_filter=${suite}.${filter}]=])\n"
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
