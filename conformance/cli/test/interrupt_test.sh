#!/usr/bin/env bash
# Ctrl-C, a kill and a second try: what is on disk stays valid, and --resume ends where an
# uninterrupted run ends, byte for byte.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
set -m # each run is a process group of its own, as under a terminal, and does not ignore Ctrl-C

# The run that is interrupted: some hundreds of cases.
campaign=(run --level quick --suite quantize --dialect ocp)

cases_in() {
  if [ -e "$1" ]; then grep -c '^{"kind":"case".*}$' "$1"; else echo 0; fi
}

# stop_after COUNT SIGNAL FOLDER ARGUMENT...: starts the run, signals its whole group when COUNT
# cases are on disk, leaves the exit code in $stopped.
stop_after() {
  local count=$1 signal=$2 folder=$3 run i
  shift 3
  "$mxcheck" "${campaign[@]}" --out "$folder" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null &
  run=$!
  for ((i = 0; i < 3000; ++i)); do
    if [ "$(cases_in "$folder/results.jsonl")" -ge "$count" ]; then break; fi
    kill -0 "$run" 2>/dev/null || break
    sleep 0.01
  done
  kill "-$signal" -- "-$run"
  stopped=0
  wait "$run" 2>/dev/null || stopped=$?
}

expect 0 'No fault found' "${campaign[@]}" --out whole
check 'an uninterrupted run leaves a valid file' is_results_file whole/results.jsonl
check 'an uninterrupted run has a footer' grep -q '^{"kind":"footer"' whole/results.jsonl
total=$(cases_in whole/results.jsonl)

for signal in INT TERM; do
  stop_after 3 "$signal" "$signal"
  check "after SIG$signal the exit code is 4, not $stopped" [ "$stopped" -eq 4 ]
  check "SIG$signal: says that it is stopping" grep -q 'stopping after this case' stderr
  check "SIG$signal: names --resume" grep -q "cases; --resume goes on" stderr
  check "SIG$signal: the console says so" grep -q 'INTERRUPTED after' stdout
  check "SIG$signal: so does the page" grep -q 'INTERRUPTED' "$signal/report.html"
  check "SIG$signal: so does the Markdown" grep -q 'INTERRUPTED' "$signal/report.md"
  check "SIG$signal: the file is valid" is_results_file "$signal/results.jsonl"
  check "SIG$signal: no footer" never grep -q '^{"kind":"footer"' "$signal/results.jsonl"
  check "SIG$signal: not all cases ran" [ "$(cases_in "$signal/results.jsonl")" -lt "$total" ]
done

# Another run must not be mixed in, and a refusal changes nothing.
cp INT/results.jsonl before
mixed() { # TEXT ARGUMENT...
  refuse 2 "$1" "${campaign[@]}" --out INT --resume "${@:2}"
  check "refused, but changed: $*" cmp before INT/results.jsonl
}
mixed 'cannot resume, seed was "0" and is now "1"' --seed 1
mixed 'cannot resume, device was "cpu"' --device "$lib/mutants/mutants.so:bug=none"
campaign=(run --level quick --suite quantize --dialect nv)
mixed 'cannot resume, dialects was "ocp" and is now "nv"'
campaign=(run --level smoke --suite quantize --dialect ocp)
mixed 'cannot resume, level was "quick" and is now "smoke"'
campaign=(run --level quick --suite convert --dialect ocp)
mixed 'cannot resume, suites was "quantize" and is now "convert"'
campaign=(run --level quick --suite quantize --dialect ocp)

resumes() { # FOLDER
  expect 0 "of $total cases are already done" "${campaign[@]}" --out "$1" --resume
  check "$1 after --resume is valid" is_results_file "$1/results.jsonl"
  check "$1 after --resume has the cases of the uninterrupted run" \
    same_cases whole/results.jsonl "$1/results.jsonl"
  check "$1 after --resume has a footer" grep -q '^{"kind":"footer"' "$1/results.jsonl"
}
resumes INT
resumes TERM
expect 0 "$total of $total cases are already done" "${campaign[@]}" --out INT --resume
check 'resuming what is complete adds no case' same_cases whole/results.jsonl INT/results.jsonl

# Several processes write the same cases in the same order, and stop and go on the same way.
expect 0 'No fault found' "${campaign[@]}" --jobs 3 --out many
check 'three processes find what one finds' same_cases whole/results.jsonl many/results.jsonl
for signal in INT KILL; do
  stop_after 3 "$signal" "many$signal" --jobs 3
  check "SIG$signal stops three processes, not $stopped" \
    [ "$stopped" -eq "$([ "$signal" = INT ] && echo 4 || echo 137)" ]
  check "three processes, SIG$signal: not all cases ran" \
    [ "$(cases_in "many$signal/results.jsonl")" -lt "$total" ]
  resumes "many$signal"
done

# A launcher that ends a job signals each of its processes, that of the device first of all.
"$mxcheck" "${campaign[@]}" --out job >stdout 2>stderr </dev/null &
job=$!
check 'the job begins' within_seconds 30 grep -sq '"kind":"case"' job/results.jsonl
for device in $(cat "/proc/$job/task/$job/children"); do kill -TERM "$device"; done
sleep 0.2
kill -TERM "$job"
wait "$job" 2>/dev/null
check 'a signal to all processes of a job is no crash of the device' \
  never grep -q '"verdict":"crash"' job/results.jsonl
resumes job

# Killed without warning, with half a line on disk.
stop_after 3 KILL killed
check "SIGKILL ends it, not $stopped" [ "$stopped" -eq 137 ]
check 'every whole line survives a kill' [ "$(cases_in killed/results.jsonl)" -ge 3 ]
printf '{"kind":"case","index":99' >>killed/results.jsonl
resumes killed

# A device that hangs: the second interrupt ends the wait for it. It refuses three cases and says
# where it is in the fourth, so that no clock has to guess.
cat >hangs.sh <<'DEVICE'
echo '{"mxpipe":1,"form":"hex","facts":{"name":"hangs"}}'
asked=0
while read -r head; do
  id=${head#*:} && id=${id%%,*}
  answer=ok
  case $head in
    *supports*) [ $((asked += 1)) -gt 3 ] || answer=not_supported ;;
    *) echo >reached && exec sleep 100 ;;
  esac
  echo "{\"id\":$id,\"status\":\"$answer\"}"
done
DEVICE
"$mxcheck" run --level smoke --suite quantize --out hung --device-cmd 'exec bash hangs.sh' \
  >"$work/stdout" 2>"$work/stderr" </dev/null &
run=$!
check 'the device hangs' within_seconds 60 test -e reached
kill -INT -- "-$run"
check 'says how to stop at once' \
  within_seconds 60 grep -q 'interrupt again to stop at once' stderr
sleep 0.5
check 'the first interrupt waits for the device' kill -0 "$run"
kill -INT -- "-$run"
stopped=0
wait "$run" 2>/dev/null || stopped=$?
check "the second interrupt ends it, not $stopped" [ "$stopped" -eq 130 ]
check 'what there is after two interrupts is valid' is_results_file hung/results.jsonl
check 'and has the cases before the hang' [ "$(cases_in hung/results.jsonl)" -eq 3 ]

# Without --resume an earlier file is moved aside, not lost. --resume in a new folder starts.
cp whole/results.jsonl before
expect 0 'the earlier results are now whole/results.previous.jsonl' "${campaign[@]}" --out whole
check 'the earlier results are kept' cmp before whole/results.previous.jsonl
expect 0 'the earlier results are now whole/results.previous.2.jsonl' \
  "${campaign[@]}" --out whole
check 'and stay' cmp before whole/results.previous.jsonl

# A kill leaves no report of an earlier run, and before the first case the earlier record.
killed_by() { # DEVICE
  rm -f reached
  "$mxcheck" "${campaign[@]}" --out whole --device-cmd "exec bash $1" \
    >"$work/stdout" 2>"$work/stderr" </dev/null &
  run=$!
  check "$1 hangs" within_seconds 60 test -e reached
  kill -KILL -- "-$run"
  wait "$run" 2>/dev/null
  for file in report.html report.md junit.xml; do
    check "$1 leaves no $file of an earlier run" [ ! -e "whole/$file" ]
  done
}
sed 's/-gt 3/-gt 0/' hangs.sh >hangs_at_once.sh
cp whole/results.jsonl before
killed_by hangs_at_once.sh
check 'without a case the earlier record stays' cmp before whole/results.jsonl
expect 0 'a later run into whole was ended before its first case' report whole
expect 0 'No fault found' "${campaign[@]}" --out whole --resume
check '--resume begins anew after that' cmp before whole/results.previous.3.jsonl
check 'and takes its name' [ ! -e whole/results.new.jsonl ]
killed_by hangs.sh
check 'with cases it is kept' same_cases before whole/results.previous.4.jsonl
check 'beside those' [ "$(cases_in whole/results.jsonl)" -eq 3 ]

expect 0 'No fault found' run --level smoke --suite encode_scale --resume --out fresh
echo rubbish >fresh/results.jsonl
refuse 2 'fresh/results.jsonl' run --level smoke --suite encode_scale --resume --out fresh
check 'a file that is no results file is left alone' grep -qx rubbish fresh/results.jsonl
finish
