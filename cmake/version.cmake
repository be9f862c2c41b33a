# Writes version.hpp with the commit and whether the tree differs from it; run at every build, and
# leaves the file alone when nothing changed.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no
  OUTPUT_VARIABLE changes ERROR_QUIET)
set(dirty false)
if(changes)
  set(dirty true)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"// Written by version.cmake.
#pragma once
#define MX_VERSION \"${VERSION}\"
#define MX_COMMIT \"${commit}\"
#define MX_DIRTY ${dirty}
#define MX_BUILD_TYPE \"${BUILD_TYPE}\"
")
