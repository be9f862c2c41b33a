#!/usr/bin/env bash
# A device whose last code is wrong is found by the suite, and at that place: exit code 1, and a
# FAIL of the last lane of the last block. Any other end, a crash or a missing file, is none.
# Run by ctest with mxcheck, the plug-in, a folder, a suite and what that line looks like.
set -u
found=0
"$1" run --level smoke --suite "$4" --device "$2:plant=last_code" --out "$3" >"$3.txt" 2>&1 ||
  found=$?
cat "$3.txt"
if [ "$found" -ne 1 ]; then
  echo "the exit code is $found, and not 1"
  exit 1
fi
grep -Eq "$5" "$3.txt" || {
  echo 'no FAIL names the last code'
  exit 1
}
