# What a build with HIP needs. MX_ENABLE_HIP: OFF leaves it out, ON demands hipcc, AUTO takes one
# that works. Afterwards MX_HAS_HIP says whether there is one. CMake's own language HIP wants the
# packages of a whole ROCm; this wants hipcc and its runtime alone.
set(MX_ENABLE_HIP AUTO CACHE STRING "HIP: AUTO, ON (needs hipcc and libamdhip64), OFF")
set_property(CACHE MX_ENABLE_HIP PROPERTY STRINGS AUTO ON OFF)
if(NOT MX_ENABLE_HIP MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "MX_ENABLE_HIP is '${MX_ENABLE_HIP}'; it may be AUTO, ON or OFF")
endif()
set(MX_HIP_ARCHITECTURES "gfx90a;gfx942;gfx1030;gfx1100" CACHE STRING
  "AMD GPUs to compile for; those that hipcc does not know are left out")
set(MX_HAS_HIP OFF)
if(MX_ENABLE_HIP STREQUAL "OFF" OR CMAKE_CROSSCOMPILING)
  return()
endif()

find_program(MX_HIPCC hipcc HINTS ENV ROCM_PATH ENV HIP_PATH PATHS /opt/rocm PATH_SUFFIXES bin)
get_filename_component(hip_folder "${MX_HIPCC}" DIRECTORY)
find_library(MX_HIP_RUNTIME amdhip64 HINTS ${hip_folder}/../lib ENV ROCM_PATH ENV HIP_PATH
  PATHS /opt/rocm PATH_SUFFIXES lib lib64)
# Every product and quotient rounded on its own, and subnormals kept.
set(MX_HIP_OPTIONS -std=c++20 -O2 -DNDEBUG -fPIC -fvisibility=hidden -Wall -Wextra
  -ffp-contract=off -fno-fast-math -fno-gpu-flush-denormals-to-zero
  -fhip-fp32-correctly-rounded-divide-sqrt)
set(MX_HIP_COMMAND ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd ${MX_HIPCC})

# Which of the architectures it compiles for; asked once of each hipcc and list.
function(mx_find_hip_architectures)
  set(asked "${MX_HIPCC};${MX_HIP_ARCHITECTURES}")
  if("${MX_HIP_ASKED}" STREQUAL "${asked}")
    return()
  endif()
  set(probe ${PROJECT_BINARY_DIR}/CMakeFiles/mx_hip_probe)
  file(WRITE ${probe}.hip "#include <hip/hip_runtime.h>\n#include <bit>\n"
    "__global__ void probe(float* x) { *x = std::bit_cast<float>(1u) / *x; }\n"
    "void start(float* x) { probe<<<1, 1>>>(x); }\n")
  set(usable "")
  foreach(architecture IN LISTS MX_HIP_ARCHITECTURES)
    execute_process(COMMAND ${MX_HIP_COMMAND} ${MX_HIP_OPTIONS} --offload-arch=${architecture}
        -c ${probe}.hip -o ${probe}.o
      RESULT_VARIABLE failed OUTPUT_FILE ${probe}.${architecture}.log
      ERROR_FILE ${probe}.${architecture}.log)
    if(NOT failed)
      list(APPEND usable ${architecture})
    endif()
  endforeach()
  set(MX_HIP_ASKED "${asked}" CACHE INTERNAL "")
  set(MX_HIP_USABLE "${usable}" CACHE INTERNAL "")
endfunction()

set(reason "")
if(NOT MX_HIPCC)
  set(reason "no hipcc in ROCM_PATH, HIP_PATH, /opt/rocm or the PATH")
elseif(NOT MX_HIP_RUNTIME)
  set(reason "no libamdhip64 for ${MX_HIPCC}")
else()
  mx_find_hip_architectures()
  if(NOT MX_HIP_USABLE)
    set(reason "${MX_HIPCC} compiles for none of ${MX_HIP_ARCHITECTURES}; see mx_hip_probe.*.log")
  endif()
endif()
if(reason AND MX_ENABLE_HIP STREQUAL "ON")
  message(FATAL_ERROR "MX_ENABLE_HIP is ON, but ${reason}")
elseif(reason)
  message(STATUS "HIP is left out: ${reason}")
  return()
endif()
message(STATUS "HIP: ${MX_HIPCC} for ${MX_HIP_USABLE}, unverified on any AMD GPU")
set(MX_HAS_HIP ON)

# mx_hip_objects(variable file.hip ...): their objects, as sources of a library.
function(mx_hip_objects variable)
  string(REPLACE ";" " " architectures "${MX_HIP_USABLE}")
  list(TRANSFORM MX_HIP_USABLE PREPEND --offload-arch= OUTPUT_VARIABLE targets)
  set(objects "")
  foreach(source IN LISTS ARGN)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${MX_HIP_COMMAND} ${MX_HIP_OPTIONS} ${targets} -I${PROJECT_SOURCE_DIR}
        "-DMX_HIP_ARCHITECTURES=\"${architectures}\"" -MD -MF ${object}.d -MT ${object}
        -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "hipcc ${source}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()
