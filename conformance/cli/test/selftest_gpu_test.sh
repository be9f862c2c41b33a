#!/usr/bin/env bash
# The planted bugs of a GPU: all of them are killed where there is one. Where there is none they are
# listed as not run, with the reason, and the test is skipped, unless MX_REQUIRE_GPU is set.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

got=0
"$mxcheck" selftest --on gpu --mutants "$lib/mutants" --out o >stdout 2>stderr </dev/null || got=$?
cat stdout
count() { grep -c "$1" "$2" || true; }
bugs=$(count '^gpu_' stdout)
not_run=$(count '^gpu_[a-z0-9_]*  *not run ' stdout)
check 'there are bugs of a GPU' test "$bugs" -ge 12
check 'the table in Markdown has them too' test "$(count '^| gpu_' o/kill_table.md)" -eq "$bugs"
check 'so has the one in JSON' test "$(count '"name": "gpu_' o/kill_table.json)" -eq "$bugs"
if [ "$got" -eq "$skipped" ]; then
  check 'none is killed without a GPU' test "$not_run" -eq "$bugs"
  check 'the reason is said' grep -q '^mxcheck: nothing was tested: .' stderr
  check 'a GPU is not required' test -z "${MX_REQUIRE_GPU:-}"
  if [ "$failures" -eq 0 ]; then
    echo "skipped: $(grep '^mxcheck: ' stderr)"
    exit "$skipped"
  fi
else
  cat stderr
  check 'all of them are killed' test "$got" -eq 0
  check 'and none is not run' test "$not_run" -eq 0
fi
finish
