# cmake -DDOC=README.md -DLANGUAGE=cpp -DSOURCE=hello_session.cpp -P example.cmake
# The examples of a page in that language have to be in the sources, line for line: the first one in
# the first source, and so on.
file(READ ${DOC} text)
foreach(source ${SOURCE})
  if(NOT text MATCHES "```${LANGUAGE}\n([^`]+)```")
    message(FATAL_ERROR "no example in ${DOC} of ${source}")
  endif()
  set(example "${CMAKE_MATCH_1}")
  string(FIND "${text}" "```${LANGUAGE}\n${example}" begin)
  string(LENGTH "```${LANGUAGE}\n${example}```" length)
  math(EXPR end "${begin} + ${length}")
  string(SUBSTRING "${text}" ${end} -1 text)
  file(READ ${source} code)
  string(FIND "${code}" "${example}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the example of ${DOC} is not in ${source}:\n${example}")
  endif()
endforeach()
