# Precompiled headers and batches, as the preset asks for them. CMake's own kinds of both are not used, because absolute
# paths in them would keep ccache from finding what another checkout compiled.
#
# Both hide a missing include: in a batch, a file sees what those before it included. So the preset `alone` uses neither, and
# .ci/run builds its target `headers`: there every header is compiled alone.
option(AGW_PRECOMPILED "Precompile what most files include of the libraries" OFF)
set(AGW_BATCH 1 CACHE STRING "How many sources of a folder are compiled together, as one file")
if(AGW_BATCH EQUAL 1)
  # In a batch, a name of one file would be shadowed by another's.
  add_compile_options(-Wshadow)
endif()

# precompile(<name> <header> <library>...): compiles <header> to <name>.pch in the build directory.
#
# ccache does not keep it: Clang writes the checkout's absolute path into it. For what is compiled with it, ccache hashes the
# checksum file beside it and each header in it, which the compiler lists, so that another checkout finds that all the same.
function(precompile name header)
  if(NOT AGW_PRECOMPILED)
    return()
  endif()
  add_library(${name} OBJECT ${header})
  set_source_files_properties(${header} PROPERTIES LANGUAGE CXX)
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_compile_options(${name} PRIVATE -xc++-header -fpch-instantiate-templates -Xclang -fno-pch-timestamp)
  target_link_libraries(${name} PRIVATE ${ARGN})

  # A name in .pch tells ccache what the file is.
  set(file ${CMAKE_BINARY_DIR}/${name}.pch)
  add_custom_command(OUTPUT ${file} ${file}.sum DEPENDS $<TARGET_OBJECTS:${name}> VERBATIM
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:${name}> ${file}
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${header} > ${file}.sum)
  add_custom_target(${name}_pch DEPENDS ${file})
endfunction()

# use_precompiled(<target> <name>). Clang's check of it is off, because it refuses another level of optimization, which does not
# matter here; that it is up to date is Ninja's to see to.
function(use_precompiled target name)
  if(NOT AGW_PRECOMPILED)
    return()
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${name}.pch -Xclang -fno-validate-pch>")
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${name}.pch)
  add_dependencies(${target} ${name}_pch)
endfunction()

# check_headers(<target> <header>...): compiles each of these headers of src/ by itself, so that none leans on what its users
# include before it.
function(check_headers target)
  set(sources "")
  foreach(header ${ARGN})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE path)
    set(file ${CMAKE_BINARY_DIR}/headers/${path}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${path}\"\n" @ONLY)
    list(APPEND sources ${file})
  endforeach()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_include_directories(${target} PRIVATE src)
  target_compile_definitions(${target} PRIVATE AGW_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE dependencies GTest::gmock)
endfunction()

# in_batches(<variable> <source>...): files that include AGW_BATCH of these sources of src/ each, or the sources themselves.
# A batch never crosses folders, so that names in unnamed namespaces need to differ within a folder only.
#
# The preset `dev` has small batches: after a change of one file they cost a second more, after a change of a header that
# everything includes they halve the time.
function(in_batches variable)
  if(AGW_BATCH EQUAL 1)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(folders "")
  set(batched "")
  foreach(source ${ARGN})
    if(source MATCHES "_implementation\\.cpp$")
      list(APPEND batched ${source})
      continue()
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    list(APPEND folders "${folder}/")
    list(APPEND "in_${folder}/" ${path})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    string(REPLACE / _ name src/${folder})
    list(LENGTH in_${folder} count)
    math(EXPR batches "(${count} + ${AGW_BATCH} - 1) / ${AGW_BATCH}")
    math(EXPR last "${batches} - 1")
    foreach(batch RANGE ${last})
      # Of equal size, so that none is left for the end.
      math(EXPR begin "${batch} * ${count} / ${batches}")
      math(EXPR length "(${batch} + 1) * ${count} / ${batches} - ${begin}")
      list(SUBLIST in_${folder} ${begin} ${length} paths)
      list(TRANSFORM paths REPLACE ".+" "#include \"\\0\"\n")
      string(JOIN "" includes ${paths})
      set(file ${CMAKE_BINARY_DIR}/${variable}/${name}${batch}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${includes}" @ONLY)
      list(APPEND batched ${file})
    endforeach()
  endforeach()
  set(${variable} ${batched} PARENT_SCOPE)
endfunction()
