# The target `api`: pages of the installed headers, made by Doxygen from their comments. They say //
# and not ///, so a filter tells Doxygen what the house's style means.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  if(MX_BUILD_TESTS)
    add_test(NAME api_page COMMAND sh -c "echo 'skipped: doxygen is not here'; exit 77")
    set_tests_properties(api_page PROPERTIES LABELS package SKIP_RETURN_CODE 77)
  endif()
  return()
endif()

set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/api)
set(DOXYGEN_PROJECT_NAME mxcheck)
set(DOXYGEN_INPUT_FILTER "sed -E -f ${CMAKE_CURRENT_LIST_DIR}/api_page.sed")
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_FILE_PATTERNS *.hpp *.h *.md)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE reference/fast/README.md)
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED MX_FOLDED= MX_HOST_DEVICE=)
set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR})
doxygen_add_docs(api reference/spec reference/fast device/abi device/kit
  conformance/library/mx_oracle.h
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Pages of the installed headers in api/html")
install(DIRECTORY ${PROJECT_BINARY_DIR}/api/html DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

if(MX_BUILD_TESTS)
  add_test(NAME api_page COMMAND sh -c "${CMAKE_COMMAND} --build . --target api && \
    grep -q 'writes one element code' api/html/block_8hpp.html"
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(api_page PROPERTIES LABELS package)
  mx_time_limit(api_page 120)
endif()
