# cmake -DDOC=README.md -DLANGUAGE=cpp -DSOURCE=hello_session.cpp -P example.cmake
# The example of a page in that language has to be in the source, line for line and in order.
file(READ ${DOC} text)
string(REGEX MATCH "```${LANGUAGE}\n([^`]+)```" block "${text}")
set(example "${CMAKE_MATCH_1}")
if(example STREQUAL "")
  message(FATAL_ERROR "no example in ${DOC}")
endif()
file(READ ${SOURCE} code)
string(FIND "${code}" "${example}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "the example of ${DOC} is not in ${SOURCE}:\n${example}")
endif()
