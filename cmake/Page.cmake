# page_sources(<variable>): the sources that contain the web page. Node builds the page if it is installed; otherwise
# web/dist is used as it is. Without either, the binary has no page, and /ui/ says so.
option(AGW_BUILD_PAGE "Build the web page if Node is installed" ON)

function(page_sources variable)
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(output ${CMAKE_BINARY_DIR}/page)
  find_program(npm_program npm)
  if(AGW_BUILD_PAGE AND npm_program AND EXISTS ${web}/package.json)
    set(build --build)
    file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${web}/src/* ${web}/public/* ${web}/script/*)
    file(GLOB more CONFIGURE_DEPENDS ${web}/*.json ${web}/*.ts ${web}/*.js ${web}/*.html)
    list(APPEND inputs ${more})
  else()
    set(build "")
    file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${web}/dist/*)
    if(NOT inputs)
      message(STATUS "The web page is left out: there is neither Node to build it nor web/dist")
    endif()
  endif()
  add_custom_command(OUTPUT ${output}/page.S ${output}/page.cpp
    COMMAND ${CMAKE_SOURCE_DIR}/script/pack_page ${build} ${web} ${output}
    DEPENDS ${CMAKE_SOURCE_DIR}/script/pack_page ${inputs} VERBATIM)
  set(${variable} ${output}/page.S ${output}/page.cpp PARENT_SCOPE)
endfunction()
