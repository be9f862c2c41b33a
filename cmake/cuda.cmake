# What a build with CUDA needs. MX_ENABLE_CUDA: OFF leaves it out, ON demands a compiler, AUTO takes
# one where it is. Afterwards MX_HAS_CUDA says whether there is one.
set(MX_HAS_CUDA OFF)
if(MX_ENABLE_CUDA STREQUAL "OFF")
  return()
endif()

# check_language looks at CUDACXX and the PATH only.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(MX_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
    PATH_SUFFIXES bin)
  if(MX_NVCC)
    set(CMAKE_CUDA_COMPILER ${MX_NVCC})
  endif()
endif()
# One g++ for both halves of a program, wherever it lies, unless the user names another.
if(NOT CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX}
    AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
endif()
# A toolkit compiles for another machine where it has that machine's headers and libraries; those of
# 64-bit Arm servers, such as Grace, lie in targets/sbsa-linux, which nvcc takes when it is told to.
set(reason "")
if(CMAKE_CROSSCOMPILING AND CMAKE_CUDA_COMPILER AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  get_filename_component(toolkit ${CMAKE_CUDA_COMPILER} REALPATH)
  get_filename_component(toolkit ${toolkit}/../.. ABSOLUTE)
  if(EXISTS ${toolkit}/targets/sbsa-linux/include)
    string(APPEND CMAKE_CUDA_FLAGS " -target-dir sbsa-linux")
  else()
    set(reason "${toolkit} has no targets/sbsa-linux to compile for ${CMAKE_SYSTEM_PROCESSOR} with")
  endif()
endif()
if(NOT reason)
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    set(reason "no nvcc in CUDACXX, CUDA_HOME, CUDA_PATH, /usr/local/cuda or the PATH")
  else()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.9)
      set(reason "${CMAKE_CUDA_COMPILER} is CUDA ${CMAKE_CUDA_COMPILER_VERSION}, 12.9 is needed")
    endif()
  endif()
endif()
if(reason AND MX_ENABLE_CUDA STREQUAL "ON")
  message(FATAL_ERROR "MX_ENABLE_CUDA is ON, but ${reason}")
elseif(reason)
  message(STATUS "CUDA is left out: ${reason}")
  return()
endif()
message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER}")
set(MX_HAS_CUDA ON)

# 9.0 is the Hopper of H100, H200 and GH200; the others are Blackwell, where nothing has run yet:
# the family of 10.0 is B200 and B300, that of 12.0 RTX and GB10. Code for the chips themselves:
# nothing is left for the driver to compile. CMake 3.25 knows no families, so nvcc is told here,
# where a library does not name an architecture of its own.
set(CMAKE_CUDA_ARCHITECTURES OFF)
foreach(target 90a 100f 120f)
  set(code --generate-code=arch=compute_${target},code=[sm_${target}])
  set(of_all $<NOT:$<BOOL:$<TARGET_PROPERTY:CUDA_ARCHITECTURES>>>)
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CUDA>,${of_all}>:${code}>)
endforeach()

# The host's half of a kernel file is compiled by the same g++ (compiler.cmake).
include(CheckCompilerFlag)
if(MX_WITHOUT_PEEPHOLE2)
  check_compiler_flag(CUDA -Xcompiler=${MX_WITHOUT_PEEPHOLE2} MX_CUDA_HOST_HAS_PEEPHOLE2)
  if(MX_CUDA_HOST_HAS_PEEPHOLE2)
    target_compile_options(mx_options INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${MX_WITHOUT_PEEPHOLE2}>)
  endif()
endif()

# CMake before 3.25.2 does not know how nvcc is told of C++20.
if(CMAKE_VERSION VERSION_LESS 3.25.2)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)

# After CMAKE_CUDA_FLAGS, so that --use_fast_math and its parts change nothing the kernels do, which
# call no function of math: subnormals are kept, and quotients and roots are rounded right.
set(MX_CUDA_OPTIONS -Xcompiler=-Wall,-Wextra -ftz=false -prec-div=true -prec-sqrt=true)

function(mx_cuda_library name)
  mx_library(${name} ${ARGN})
  target_include_directories(${name} SYSTEM PUBLIC ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${MX_CUDA_OPTIONS}>")
endfunction()
