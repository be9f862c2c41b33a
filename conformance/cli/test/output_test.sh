#!/usr/bin/env bash
# What a run writes, and where it cannot: folders, a full disk, reports, colours.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
smoke=(run --level smoke --suite encode_scale)

# Below the level full every output says that it is no conformance run.
expect 0 'NOT A CONFORMANCE RUN' "${smoke[@]}" --out o
for file in report.html report.md junit.xml; do
  check "o/$file says NOT A CONFORMANCE RUN" grep -q 'NOT A CONFORMANCE RUN' "o/$file"
  check "the console names o/$file" grep -qx "wrote o/$file" stdout
done
check 'the results file holds the level' grep -q '"level":"smoke"' o/results.jsonl
check 'the page needs no network' never grep -qE '(src|href)="(https?:)?//' o/report.html
check 'half files are gone' \
  [ "$(cd o && echo * .[!.]*)" = 'junit.xml report.html report.md results.jsonl .[!.]*' ]

# Rendering again needs the results file alone, and gives the same bytes.
mkdir again && cp o/results.jsonl again/
expect 0 'NOT A CONFORMANCE RUN' report again
for file in report.html report.md junit.xml; do
  check "report renders $file as the run did" cmp "o/$file" "again/$file"
done
mkdir bare
refuse 2 'bare/results.jsonl: cannot open: No such file' report bare
refuse 2 'nowhere/results.jsonl: cannot open' report nowhere
refuse 2 'results.jsonl' report o/report.md
check 'nothing is written into a folder without results' [ -z "$(ls -A bare)" ]
echo '{"kind":"header"' >bare/results.jsonl && refuse 2 'bare/results.jsonl' report bare
: >bare/results.jsonl && refuse 2 'bare/results.jsonl' report bare

# Places that take no file.
: >file
refuse 2 'cannot make the folder file' "${smoke[@]}" --out file
refuse 2 'cannot make the folder file/below' "${smoke[@]}" --out file/below
check 'a file in the way is left alone' [ -f file ]
if [ -d /proc/self ]; then
  refuse 2 'cannot make the folder /proc/mxcheck' "${smoke[@]}" --out /proc/mxcheck
fi
if [ "$(id -u)" -ne 0 ]; then
  mkdir -m 555 locked
  refuse 2 'locked' "${smoke[@]}" --out locked
  refuse 2 'locked' "${smoke[@]}" --out locked/below
  check 'nothing is left in a locked folder' [ -z "$(ls -A locked)" ]
fi

# A disk that is full at once, or after some cases. A mount of our own, gone with the process.
full_disk() { # SIZE ARGUMENT...
  local size=$1
  shift
  mkdir -p disk
  # shellcheck disable=SC2016
  unshare -rm bash -c 'mount -t tmpfs -o size="$1" none disk || exit 99
    "${@:2}" --out disk/o; code=$?; cp -r disk/. seen 2>/dev/null; exit $code' \
    full_disk "$size" "$mxcheck" "$@" >stdout 2>stderr </dev/null
}
if unshare -rm bash -c 'mkdir -p probe && mount -t tmpfs -o size=8k none probe' 2>/dev/null; then
  mkdir seen && full_disk 16k run --level quick
  check "a full disk is exit code 2, not $?" [ $? -eq 2 ]
  check 'a full disk is named' grep -q 'results.jsonl: cannot write: No space left' stderr
  check 'what fits on a full disk is valid' is_results_file seen/o/results.jsonl
  rm -rf seen && mkdir seen
  size=$(($(stat -c %s o/results.jsonl) / 1024 + 8))k
  full_disk "$size" "${smoke[@]}"
  check "no room for the reports is exit code 2, not $?" [ $? -eq 2 ]
  check 'no room for the reports is named' grep -q 'No space left' stderr
  check 'the results outlive the reports' grep -q '"kind":"footer"' seen/o/results.jsonl
  check 'no half report is left' \
    eval '[ -z "$(find seen/o -name "report.html*" -o -name ".*tmp*" | grep -v "^$")" ]'
else
  echo 'skipped: no full disk can be made here (no unshare, or no right to mount)'
fi

# What could not be printed is no success; a fault that was found stays one.
lost() { # CODE ARGUMENT...
  local got=0
  checks=$((checks + 1))
  "$mxcheck" "${@:2}" >/dev/full 2>stderr </dev/null || got=$?
  [ "$got" -eq "$1" ] || fail "exit code $got, not $1, where standard output is full: ${*:2}" stderr
  check "and it is said: ${*:2}" grep -q 'standard output could not be written' stderr
}
if [ -w /dev/full ]; then
  lost 2 --help
  lost 2 list formats
  lost 2 accuracy --data normal --elements 4096 --json
  lost 2 "${smoke[@]}" --out lost
  lost 1 "${smoke[@]}" --dialect ocp --device "$lib/mutants/mutants.so:bug=canary" --out lost
else
  echo 'skipped: there is no /dev/full here'
fi

# A reader that goes, as head does, ends no run.
failing=("${smoke[@]}" --dialect ocp --device "$lib/mutants/mutants.so:bug=canary" --out gone)
{ "$mxcheck" "${failing[@]}" 2>stderr || echo $? >code; } | true
check 'the record is whole' grep -q '^{"kind":"footer"' gone/results.jsonl
check 'its reports are there' [ -e gone/junit.xml ]
check "and the exit code is that of the run, 1 and not $(<code)" [ "$(<code)" = 1 ]
check 'that the output is lost is said' grep -q 'standard output could not be written' stderr

# Expected and actual stand below each other, what is exact fits the width, and no number has dozens
# of digits.
(
  unset COLUMNS
  "$mxcheck" run --level smoke --suite dequantize --dialect ocp --out columns \
    --device "$lib/mutants/mutants.so:bug=canary"
) >stdout 2>&1
check 'a failure has columns' grep -qE '^               expected +actual$' stdout
check 'of elements' grep -qE '^     element   0x[0-9a-f]+ \([^)]*\) +0x[0-9a-f]+ \(' stdout
check 'powers of two stand for long fractions' never grep -qE '^     exact .*[0-9]{30}' stdout
check 'it fits 80 columns' never grep -qE '^     (exact|scale|element|input) .{76}' stdout

"$mxcheck" run --level smoke --suite nvfp4 --out columns \
  --device "$lib/mutants/real_scale_mutants.so:bug=canary" >stdout 2>&1
grep -A2 'the number of the tensor' stdout >number
check 'the number of a tensor has columns, too' grep -qE '^     scale     0x[0-9a-f]{8} ' number

# Escape codes go to terminals alone, and not there either if NO_COLOR is set.
escape=$'\033'
failing=("${smoke[@]}" --dialect ocp --device "$lib/mutants/mutants.so:bug=canary" --out colour)
expect 1 'FAIL encode_scale' "${failing[@]}"
check 'no escape codes without a terminal' never grep -q "$escape" both
if [ -z "$(type -P script)" ] || ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  echo 'skipped: no terminal can be made here (no script, or no /dev/pts)'
else
  printf -v line '%q ' "$mxcheck" "${failing[@]}"
  TERM=xterm script -qec "$line" /dev/null >seen_on_terminal </dev/null
  check 'a terminal gets colours' grep -q "${escape}\[31mFAIL" seen_on_terminal
  NO_COLOR=1 TERM=xterm script -qec "$line" /dev/null >seen_on_terminal </dev/null
  check 'NO_COLOR is respected' never grep -q "${escape}\[[0-9;]*m" seen_on_terminal
  check 'the words are the same' grep -q 'FAIL encode_scale' seen_on_terminal
fi
finish
