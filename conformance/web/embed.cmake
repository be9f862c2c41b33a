# Writes explain.html with the module inside, compressed, so that it opens from a disk. Called with
# MODULE, TEMPLATE, OUTPUT, VERSION and SOURCE.
execute_process(COMMAND gzip -9nc ${MODULE} OUTPUT_FILE ${MODULE}.gz COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND base64 -w0 ${MODULE}.gz OUTPUT_VARIABLE MODULE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE COMMIT
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT COMMIT)
  set(COMMIT "commit unknown")
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
