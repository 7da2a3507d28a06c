# SPDX-License-Identifier: Apache-2.0
# How every library, program and test of the project is declared.

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)

add_library(tw_options INTERFACE)
target_include_directories(tw_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(tw_options INTERFACE $<$<CONFIG:Debug>:TW_VERIFY_PASSES>)
target_compile_options(tw_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
if(MOLD_PROGRAM)
  target_link_options(tw_options INTERFACE -fuse-ld=mold)
endif()
if(TW_SANITIZE)
  target_compile_options(tw_options INTERFACE -fsanitize=${TW_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tw_options INTERFACE -fsanitize=${TW_SANITIZE})
endif()

# Precompiled, these headers cost each file a tenth of what reading them does. The list names what is slow and read by most files.
# A file still includes what it uses: TW_PCH=OFF (the presets of the sanitizers have it) shows what is missing.
option(TW_PCH "Precompile slow headers" ON)
set(TW_PCH_HEADERS <algorithm> <array> <cmath> <fmt/format.h> <functional> <map> <memory> <optional> <set> <span> <string> <unordered_map> <variant> <vector>)

# Files of one layer share most of what the compiler reads and instantiates: eight at a time cost half the time of eight alone. Names in unnamed namespaces
# must therefore differ within a layer.
option(TW_UNITY "Compile the files of a layer a few at a time: quicker as a whole, slower after a change of one" OFF)

# tw_portable(PROGRAM SOURCES...): the program once more, in portable/bin of the build folder, as installers/portable packs it: it looks for all libraries, and they
# for each other, in ../lib first, and brings what an older C library lacks. The target `portable` builds all of them.
add_custom_target(portable)
function(tw_portable program)
  add_executable(${program}-portable EXCLUDE_FROM_ALL ${ARGN} ${CMAKE_SOURCE_DIR}/installers/portable/compat.cpp)
  get_target_property(libraries ${program} LINK_LIBRARIES)
  target_link_libraries(${program}-portable PRIVATE ${libraries})
  set_target_properties(${program}-portable PROPERTIES TW_PORTABLE ON OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/portable/bin
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${program}-portable PRIVATE LINKER:--disable-new-dtags LINKER:--export-dynamic-symbol=arc4random LINKER:--gc-sections)
  add_dependencies(portable ${program}-portable)
endfunction()

# tw_layer(NAME [HOT] [DEPENDS layer...] [LIBS lib...] [EXCLUDE regex...] [OWN_PCH header...]): one static library from all sources of the calling folder.
# DEPENDS names layers below; the include check in the tests holds them to it. HOT is for layers whose own code takes the time of a search or a run: a
# release compiles them with -O2, and all others with -O1, which takes a third less time to build.
function(tw_layer name)
  cmake_parse_arguments(ARG "HOT" "" "DEPENDS;LIBS;EXCLUDE;OWN_PCH" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(pattern IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  set(scope PUBLIC)
  if(sources)
    add_library(tw_${name} STATIC ${sources})
  else()
    add_library(tw_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(tw_${name} ${scope} tw_options)
  if(sources)
    set_target_properties(tw_${name} PROPERTIES UNITY_BUILD ${TW_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  endif()
  if(ARG_HOT)
    target_compile_options(tw_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  # The base layer precompiles for all of the engine; targets with headers of Qt have lists of their own.
  if(TW_PCH AND name STREQUAL base)
    target_precompile_headers(tw_base PRIVATE ${TW_PCH_HEADERS})
  elseif(TW_PCH AND sources AND NOT ARG_OWN_PCH)
    target_precompile_headers(tw_${name} REUSE_FROM tw_base)
  elseif(TW_PCH AND ARG_OWN_PCH)
    target_precompile_headers(tw_${name} PRIVATE ${ARG_OWN_PCH})
  endif()
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(tw_${name} ${scope} tw_${dep})
  endforeach()
  target_link_libraries(tw_${name} ${scope} ${ARG_LIBS})
endfunction()
