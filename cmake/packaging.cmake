# Install rules and the CMake package. Included last, when every room has made its targets; knows
# where things lie once installed and nothing of how they are built.
include(CMakePackageConfigHelpers)

set(MX_INSTALL_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/mxcheck)
set(MX_INSTALL_EXAMPLE ${CMAKE_INSTALL_DATADIR}/mxcheck/example)
set(MX_INSTALL_DPI ${CMAKE_INSTALL_DATADIR}/mxcheck/dpi)
set(MX_INSTALL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/mxcheck)
# Not CMAKE_INSTALL_LIBDIR: the program looks for its plug-ins in ../lib/mxcheck, on Debian too.
set(MX_INSTALL_PLUGINS lib/mxcheck)

# mx_package_target(name [LINKS ...] [INCLUDES ...] [FEATURES ...]): mxcheck::name of the package.
# The build's own targets stay at home: their warning flags would become the consumer's.
function(mx_package_target name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINKS;INCLUDES;FEATURES")
  add_library(mx_package_${name} INTERFACE)
  set_target_properties(mx_package_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(mx_package_${name} INTERFACE ${ARG_LINKS})
  target_compile_features(mx_package_${name} INTERFACE ${ARG_FEATURES})
  foreach(directory IN LISTS ARG_INCLUDES)
    target_include_directories(mx_package_${name} INTERFACE $<INSTALL_INTERFACE:${directory}>)
  endforeach()
  install(TARGETS mx_package_${name} EXPORT mxcheckTargets)
endfunction()

mx_package_target(spec INCLUDES ${MX_INSTALL_HEADERS} FEATURES cxx_std_20)
mx_package_target(fast LINKS mx_package_spec)
# Both "device/abi/mx_device.h" and, as a plug-in outside any tree would write, "mx_device.h".
mx_package_target(device_abi INCLUDES ${MX_INSTALL_HEADERS} ${MX_INSTALL_HEADERS}/device/abi)
mx_package_target(device_kit LINKS mx_package_device_abi FEATURES cxx_std_20)

# The library, by CMake and by pkg-config: found again wherever the prefix is moved.
target_include_directories(mx_oracle_shared INTERFACE $<INSTALL_INTERFACE:${MX_INSTALL_HEADERS}>)
install(TARGETS mx_oracle_shared EXPORT mxcheckTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES conformance/library/mx_oracle.h DESTINATION ${MX_INSTALL_HEADERS})
file(RELATIVE_PATH MX_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/mxcheck.pc.in ${PROJECT_BINARY_DIR}/mxcheck.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mxcheck.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY reference/spec reference/fast DESTINATION ${MX_INSTALL_HEADERS}/reference
  FILES_MATCHING PATTERN "*.hpp")
install(FILES device/abi/mx_device.h device/abi/mx_device_clock.h
  DESTINATION ${MX_INSTALL_HEADERS}/device/abi)
install(DIRECTORY device/kit DESTINATION ${MX_INSTALL_HEADERS}/device
  FILES_MATCHING PATTERN "*.hpp")
install(FILES device/example/minimal_plugin.c device/example/kit_plugin.cpp
  device/example/kit_gemm_plugin.cpp DESTINATION ${MX_INSTALL_EXAMPLE})
# Sources, which a simulator compiles: see conformance/dpi/README.md.
install(FILES conformance/dpi/mx_dpi_pkg.sv conformance/dpi/mx_dpi.c
  conformance/dpi/mx_scoreboard_pkg.sv conformance/dpi/mx_uvm_scoreboard.sv
  conformance/dpi/mx_block_model.h conformance/dpi/mx_block_model.c conformance/dpi/README.md
  DESTINATION ${MX_INSTALL_DPI})
install(DIRECTORY conformance/dpi/examples DESTINATION ${MX_INSTALL_DPI})
install(FILES conformance/results/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/mxcheck)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET mxcheck)
  install(TARGETS mxcheck EXPORT mxcheckTargets RUNTIME)
endif()
install(DIRECTORY ${PROJECT_BINARY_DIR}/lib/mutants DESTINATION ${MX_INSTALL_PLUGINS}
  OPTIONAL FILES_MATCHING PATTERN "*.so")

foreach(plugin mx_cuda mx_hip mx_cublaslt mx_hopper)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${MX_INSTALL_PLUGINS})
  endif()
endforeach()

install(EXPORT mxcheckTargets NAMESPACE mxcheck:: DESTINATION ${MX_INSTALL_CMAKE})
configure_package_config_file(cmake/mxcheckConfig.cmake.in
  ${PROJECT_BINARY_DIR}/mxcheckConfig.cmake
  INSTALL_DESTINATION ${MX_INSTALL_CMAKE} PATH_VARS MX_INSTALL_EXAMPLE MX_INSTALL_PLUGINS
  MX_INSTALL_DPI)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mxcheckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mxcheckConfig.cmake
  ${PROJECT_BINARY_DIR}/mxcheckConfigVersion.cmake DESTINATION ${MX_INSTALL_CMAKE})
