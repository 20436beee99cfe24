# Precompiled headers and batches (unity builds), as the preset configures them. CMake's own support for both is not used:
# it writes absolute paths, so ccache could not reuse what another checkout compiled.
#
# Both hide missing includes: in a batch, a file sees the includes of the files before it. So the preset `alone` uses
# neither, and .ci/run builds its target `headers`, which compiles each header alone (Headers.cmake).
option(AGW_PRECOMPILED "Precompile the library headers that most files include" OFF)
set(AGW_BATCH 1 CACHE STRING "How many sources of a folder are compiled together, as one file")
set(AGW_LARGE_BATCH 0 CACHE STRING "If not 0: how many sources of the gateway or of its unit tests, of one top folder of src/, instead")
if(AGW_BATCH EQUAL 1)
  # Not for batches: there, names in one file may shadow those of another.
  add_compile_options(-Wshadow)
endif()

# precompile(<name> <header> <library>...): compiles <header> to <name>.pch in the build directory.
#
# ccache does not cache the .pch itself, because Clang writes the checkout's absolute path into it. For files compiled with
# it, ccache hashes the .pch.sum file and each header that the compiler lists, so other checkouts share those objects.
function(precompile name header)
  if(NOT AGW_PRECOMPILED)
    return()
  endif()
  add_library(${name} OBJECT ${header})
  set_source_files_properties(${header} PROPERTIES LANGUAGE CXX)
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_compile_options(${name} PRIVATE -xc++-header -fpch-instantiate-templates -Xclang -fno-pch-timestamp)
  target_link_libraries(${name} PRIVATE ${ARGN})

  # ccache recognizes the file by its extension .pch.
  set(file ${CMAKE_BINARY_DIR}/${name}.pch)
  add_custom_command(OUTPUT ${file} ${file}.sum DEPENDS $<TARGET_OBJECTS:${name}> VERBATIM
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:${name}> ${file}
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${header} > ${file}.sum)
  add_custom_target(${name}_pch DEPENDS ${file})
endfunction()

# use_precompiled(<target> <name>). Clang's validation is off, because it rejects a different optimization level, which is
# harmless here. Ninja keeps the file up to date.
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

# in_batches(<variable> <source>...): sets the variable to files that each include AGW_BATCH of these sources of src/, or to
# the sources themselves. A batch never spans folders, so names in unnamed namespaces must differ only within a folder.
#
# The preset `dev` has only these: they cost a second more after a change of one file, and halve the time after a change
# of a header that everything includes.
function(in_batches variable)
  if(AGW_BATCH EQUAL 1)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  batches_of(batched ${variable} "/$" ${AGW_BATCH} ${ARGN})
  set(${variable} ${batched} PARENT_SCOPE)
endfunction()

# in_large_batches(<variable> <source>...): the same, but in batches of AGW_LARGE_BATCH if the preset has it. They span the
# folders of a top folder, such as src/features. Files of a batch share headers and the instances of templates, which are most of
# what the compiler works on.
function(in_large_batches variable)
  if(AGW_LARGE_BATCH EQUAL 0)
    in_batches(${variable} ${ARGN})
  else()
    batches_of(${variable} ${variable} "/.*" ${AGW_LARGE_BATCH} ${ARGN})
  endif()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# batches_of(<variable> <directory> <ignored> <size> <source>...): sets the variable to files in this directory of the build
# that each include up to `size` sources of one folder, whose path is compared without what matches `ignored`.
function(batches_of variable directory ignored size)
  set(groups "")
  set(batched "")
  foreach(source ${ARGN})
    if(source MATCHES "_implementation\\.cpp$")
      list(APPEND batched ${source})
      continue()
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    string(REGEX REPLACE "${ignored}" "" group "${folder}/")
    list(APPEND groups "${group}/")
    list(APPEND "in_${group}/" ${path})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    string(REPLACE / _ name src/${group})
    list(LENGTH in_${group} count)
    math(EXPR batches "(${count} + ${size} - 1) / ${size}")
    math(EXPR last "${batches} - 1")
    foreach(batch RANGE ${last})
      # Batches of equal size, so that none delays the end of the build.
      math(EXPR begin "${batch} * ${count} / ${batches}")
      math(EXPR length "(${batch} + 1) * ${count} / ${batches} - ${begin}")
      list(SUBLIST in_${group} ${begin} ${length} paths)
      list(TRANSFORM paths REPLACE ".+" "#include \"\\0\"\n")
      string(JOIN "" includes ${paths})
      set(file ${CMAKE_BINARY_DIR}/${directory}/${name}${batch}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${includes}" @ONLY)
      list(APPEND batched ${file})
    endforeach()
  endforeach()
  set(${variable} ${batched} PARENT_SCOPE)
endfunction()
