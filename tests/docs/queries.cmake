# cmake -DDOC=page.md -DDB=profile.db -DSQLITE3=path -P queries.cmake
# Runs every ```sql block of a page; each has to succeed and return rows, or to end with the comment
# "-- may be empty", and then the page says why.
file(READ ${DOC} text)
string(REPLACE ";" "<semicolon>" text "${text}")
string(REGEX MATCHALL "```sql\n[^`]+```" blocks "${text}")
list(LENGTH blocks count)
if(count EQUAL 0)
  message(FATAL_ERROR "no query in ${DOC}")
endif()
foreach(block IN LISTS blocks)
  string(REGEX REPLACE "^```sql\n|```$" "" query "${block}")
  string(REPLACE "<semicolon>" "" query "${query}")
  execute_process(COMMAND ${SQLITE3} -bail -cmd ".timeout 5000" ${DB} "${query}" RESULT_VARIABLE exit OUTPUT_VARIABLE out
                  ERROR_VARIABLE err)
  if(NOT exit EQUAL 0 OR (out STREQUAL "" AND NOT query MATCHES "-- may be empty\n$"))
    message(FATAL_ERROR "this query returned nothing or failed: ${query}${err}")
  endif()
endforeach()
message(STATUS "${count} queries")
