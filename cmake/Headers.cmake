# The check that no header depends on what is included before it: each is compiled by itself.
#
# Nearly all of that time would go into the same library headers. So a header that includes one of `shared_headers`, directly
# or not, is compiled with the precompiled form of that one. This hides no missing include, because the precompiled form
# has only what the header includes anyway. The first in the list wins, so those that include most come first.
set(shared_headers features/runs/service.hpp api/request.hpp models/model.hpp base/json/described.hpp base/json/json.hpp
  base/async/task.hpp storage/connection.hpp filesystem memory string)

# check_headers(<target> <header>...): compiles each of these headers of src/ by itself.
function(check_headers target)
  add_library(${target}_flags INTERFACE)
  target_include_directories(${target}_flags INTERFACE src)
  target_include_directories(${target}_flags SYSTEM INTERFACE ${libxml_headers} ${libpq_headers} ${libnats_headers})
  target_compile_definitions(${target}_flags INTERFACE AGW_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target}_flags INTERFACE dependencies GTest::gmock)

  choose_shared_headers(${ARGN})
  add_custom_target(${target})
  # Editors and clang-tidy take their flags from sources, which need no precompiled header.
  set(CMAKE_EXPORT_COMPILE_COMMANDS OFF)
  set(AGW_PRECOMPILED ON)
  foreach(shared none ${shared_headers})
    string(MAKE_C_IDENTIFIER ${target}_${shared} group)
    add_library(${group} OBJECT EXCLUDE_FROM_ALL ${compiled_with_${shared}})
    target_link_libraries(${group} PRIVATE ${target}_flags)
    add_dependencies(${target} ${group})
    if(NOT shared STREQUAL none)
      set(file ${CMAKE_BINARY_DIR}/${target}/${group}.hpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "#include <${shared}>\n" @ONLY)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      precompile(${group}_precompiled ${file} ${target}_flags)
      use_precompiled(${group} ${group}_precompiled)
    endif()
  endforeach()
endfunction()

# choose_shared_headers(<header>...): sets `compiled_with_<shared header>` to the files that include these headers, one each.
# Those in `compiled_with_none` include no shared header.
function(choose_shared_headers)
  foreach(header ${ARGN})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE path)
    list(APPEND paths ${path})
    file(STRINGS ${header} includes REGEX "^#include [<\"]")
    list(TRANSFORM includes REPLACE "^#include [<\"]([^>\"]+).*" "\\1")
    foreach(included ${includes})
      list(APPEND includers_of_${included} ${path})
    endforeach()
  endforeach()
  # A header that loses an include may have to be compiled with another shared header.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})

  foreach(shared ${shared_headers})
    set(found ${shared})
    while(found)
      list(POP_FRONT found header)
      foreach(path ${includers_of_${header}})
        # If it has one already, so have all that include it.
        if(NOT DEFINED shared_by_${path})
          set(shared_by_${path} ${shared})
          list(APPEND found ${path})
        endif()
      endforeach()
    endwhile()
  endforeach()

  foreach(path ${paths})
    if(NOT DEFINED shared_by_${path})
      set(shared_by_${path} none)
    endif()
    set(file ${CMAKE_BINARY_DIR}/headers/${path}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${path}\"\n" @ONLY)
    list(APPEND compiled_with_${shared_by_${path}} ${file})
  endforeach()
  foreach(shared none ${shared_headers})
    set(compiled_with_${shared} ${compiled_with_${shared}} PARENT_SCOPE)
  endforeach()
endfunction()
