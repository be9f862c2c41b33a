#!/usr/bin/env bash
# One whole run of a device. Its fourth argument is the device, the fifth the level, the sixth the
# exit code that the run must end with. A device that is not built in is skipped, and one that needs
# a GPU where there is none, unless MX_REQUIRE_GPU is set.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
device=$4
level=$5
code=$6

case $device in
  */*) ;;
  *)
    if ! grep -q "^$device " <("$mxcheck" list devices); then
      echo "skipped: the device $device is not built in"
      exit "$skipped"
    fi
    no_gpu=$("$mxcheck" doctor | grep "^device $device .*no GPU can be used here" || true)
    if [ -n "$no_gpu" ] && [ -z "${MX_REQUIRE_GPU:-}" ]; then
      echo "skipped: $no_gpu"
      exit "$skipped"
    fi
    ;;
esac
sentence='No fault found: all of '
if [ "$code" -eq 1 ]; then sentence='Not conformant: '; fi
expect "$code" "$sentence" run --device "$device" --level "$level" --out o
tail -n 1 stdout
check 'the results file is valid' is_results_file o/results.jsonl
check 'the footer has the exit code' grep -q "^{\"kind\":\"footer\".*\"exit_code\":$code[,}]" \
  o/results.jsonl
if [ "$code" -eq 1 ]; then
  check 'an always wrong device passes no case' never grep -q '"verdict":"pass_' o/results.jsonl
else
  check 'nothing differs' grep -q '"mismatched_elements":0,"mismatched_scales":0,"seconds"' \
    o/results.jsonl
fi
finish
