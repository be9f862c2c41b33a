# Installs the build, moves it elsewhere, builds the consumer project against it, loads the plug-in
# that came out of that into the installed program. Run by ctest as consumer_test with:
#   BUILD, CONSUMER, WORK, GENERATOR, C_COMPILER, CXX_COMPILER, C_FLAGS, CXX_FLAGS, PROGRAM
# PROGRAM is the file name of the program; nothing else of the build is used.
function(step title)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${title} ended with ${code}:\n${output}")
  endif()
  message(STATUS "${title}: ok")
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
step("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
# A package that remembers its first place would not be found again.
file(RENAME ${WORK}/first ${WORK}/moved)

step("configure the consumer" ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK}/moved -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
  -DCMAKE_C_FLAGS=${C_FLAGS} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
step("build the consumer" ${CMAKE_COMMAND} --build ${WORK}/build)
step("run the consumer" ${WORK}/build/consumer)
step("run the consumer of the library" ${WORK}/build/oracle)

find_program(pkg_config pkg-config)
file(GLOB_RECURSE pc ${WORK}/moved/*/mxcheck.pc)
cmake_path(GET pc PARENT_PATH pc_folder)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${pc_folder})
  step("ask pkg-config" ${pkg_config} --cflags --libs mxcheck)
  separate_arguments(flags UNIX_COMMAND "${C_FLAGS} ${output}")
  step("build with pkg-config" ${C_COMPILER} -std=c99 -pedantic -Wall -Wextra -Werror
    ${CONSUMER}/oracle.c -o ${WORK}/oracle_by_pkg_config ${flags})
  step("ask pkg-config for the folder" ${pkg_config} --variable=libdir mxcheck)
  string(STRIP "${output}" folder)
  step("run what pkg-config built" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folder}
    ${WORK}/oracle_by_pkg_config)
else()
  message(STATUS "pkg-config is not here: mxcheck.pc was not tested")
endif()

if(NOT PROGRAM)
  message(STATUS "the program is not part of this build: the package alone was tested")
  return()
endif()
set(program ${WORK}/moved/bin/${PROGRAM})
step("ask the version" ${program} --version)
if(NOT output MATCHES "${VERSION}")
  message(FATAL_ERROR "mxcheck --version does not say ${VERSION}: ${output}")
endif()
step("run the example plug-in" ${program} run --device ${WORK}/build/minimal_plugin.so
  --level smoke --out ${WORK}/out)
step("run the example on the kit" ${program} run --device ${WORK}/build/kit_plugin.so
  --dialect ocp --level smoke --out ${WORK}/kit)
step("run the product on the kit" ${program} run --device ${WORK}/build/kit_gemm_plugin.so
  --suite gemm --level smoke --out ${WORK}/product)
if(NOT EXISTS ${WORK}/out/results.jsonl)
  message(FATAL_ERROR "no results.jsonl was written:\n${output}")
endif()
