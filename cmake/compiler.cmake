# The flags that every target is compiled with, and why. Included once, before any target is made.
add_library(mx_options INTERFACE)
target_include_directories(mx_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_features(mx_options INTERFACE cxx_std_20)
target_compile_options(mx_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wconversion -ffp-contract=off>)
if(MX_WARNINGS_ARE_ERRORS)
  target_compile_options(mx_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()

# g++ for x86-64, from 12 on, can compile `x < 0 ? -x : x` to -x. Its pass peephole2 rewrites
#   mov x, a;  mov x, b;  neg b;  cmovs a, b     to     neg x;  mov x, b;  cmovns x, b
# and forgets that its second copy wants the x from before (reference/test/gcc_peephole2_test.c).
# Which source meets these instructions is up to the register allocator. g++ 13.3 of Ubuntu 24.04 at
# -O3 met them in reference/exact/rational.cpp, and the exact oracle shifted by -1. So the pass is
# off, in the host code that nvcc hands to g++ too. Clang and other processors lack it.
set(MX_WITHOUT_PEEPHOLE2 "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
  set(MX_WITHOUT_PEEPHOLE2 -fno-peephole2)
  target_compile_options(mx_options INTERFACE
    $<$<COMPILE_LANG_AND_ID:C,GNU>:${MX_WITHOUT_PEEPHOLE2}>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:${MX_WITHOUT_PEEPHOLE2}>)
endif()

# In g++ 12 an assignment of a literal to a std::string is an overlapping copy (GCC bug 105651): its
# own header is meant, in any file. g++ 13 says nothing of the kind.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(mx_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# g++ collects garbage each time its memory has doubled. With the first collection at 500 MB a file
# takes up to a sixth less time and a third more memory: 1.1 GB, the largest of those looked at.
target_compile_options(mx_options INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=500000>)

if(MX_SANITIZE)
  target_compile_options(mx_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer>)
  target_link_options(mx_options INTERFACE -fsanitize=address,undefined)
endif()
