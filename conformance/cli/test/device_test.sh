#!/usr/bin/env bash
# Plug-ins that are none, are of another contract, crash, hang or answer wrongly.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
mutants=$lib/mutants/mutants.so
plugins=$lib/test_plugins

small='convert format=e4m3 dialect=ocp input=f32 shape=1x32 data=edge.tie'

opened_never() { # CODE TEXT DEVICE
  refuse "$1" "$2" run --device "$3" --level smoke --timeout 1 --out refused
  refuse "$1" "$2" replay "$small" --device "$3" --timeout 1
  check "no results of $3, which did not open" [ ! -e refused ]
}

# The argument is wrong: 2. There is a file, but no device in it: 3.
opened_never 2 'does not exist' ./none.so
opened_never 2 'does not exist' none.so
mkdir folder.so && opened_never 2 'is not a file' ./folder.so
echo text >text.so && opened_never 3 'is not a shared library' ./text.so
: >empty.so && opened_never 3 'is not a shared library' ./empty.so
head -c 2000 "$mutants" >half.so && opened_never 3 'half.so' ./half.so
opened_never 3 'exports no function mx_device_get_api' "$plugins/test_no_plugin.so"
for flaw in other_abi_only other_abi_table null_table short_table missing_run; do
  opened_never 3 "test_plugin_$flaw.so" "$plugins/test_plugin_$flaw.so"
done
opened_never 3 'the unit is asleep' "$plugins/test_plugin_failed_open.so"
opened_never 3 'Segmentation fault' "$plugins/test_plugin_segfault_in_open.so"
opened_never 3 'no answer within 1 s' "$plugins/test_plugin_hang_in_open.so"

# A crash or a hang is a record among the others, which survive.
recorded() { # DEVICE VERDICT
  expect 3 "Not conformant" run --device "$mutants:bug=$1" --level smoke --timeout 1 --out "$1" \
    --dialect ocp
  check "$1 leaves a valid results file" is_results_file "$1/results.jsonl"
  check "$1 leaves a footer with the exit code" \
    grep -q '"kind":"footer".*"exit_code":3' "$1/results.jsonl"
  check "$1 is recorded as $2" grep -q "\"verdict\":\"$2\"" "$1/results.jsonl"
  check "the other cases of $1 ran" grep -q '"verdict":"pass_exact"' "$1/results.jsonl"
  check "a case after the first $2 ran" \
    grep -q '"verdict":"pass_exact"' <(sed "1,/\"verdict\":\"$2\"/d" "$1/results.jsonl")
  replay_of "$1" "$2" 3
}

# replay_of FOLDER WORD CODE: the first repro line of the report, typed as it stands.
replay_of() {
  local line
  line=$(grep -o "mxcheck replay '.*" stdout | sed -n 1p)
  check "$1 prints a repro line" [ -n "$line" ]
  checks=$((checks + 1))
  local got=0
  (
    mxcheck() { timeout 60 "$mxcheck" "$@"; }
    eval "$line --timeout 1"
  ) >replayed 2>&1 || got=$?
  [ "$got" -eq "$3" ] || fail "the replay of $1 ended with $got, not $3: $line" replayed
  check "the replay of $1 tells of $2" grep -q "$2" replayed
}

recorded crash_on_nan crash
recorded hang_on_zero_block timeout

# A crash when the device is closed spoils no case, and is told. Its casts are right, in one process
# and in several, and in parts.
closes=(run --level smoke --suite convert --format e8m0 --dialect ocp,onednn)
segfault=(--device "$plugins/test_plugin_segfault_in_close.so")
did_not_close='did not close: killed by signal 11 (Segmentation fault)'
for jobs in 1 2; do
  expect 3 "$did_not_close" "${closes[@]}" "${segfault[@]}" --jobs "$jobs" --out closes
  check "the record has it, $jobs jobs" grep -q '"exit_code":3,"close_fault":"device ' \
    closes/results.jsonl
done
expect 3 'did not close: did not end within 1 s' "${closes[@]}" --out hangs --timeout 1 \
  --device "$plugins/test_plugin_hang_in_close.so"
check 'no case failed' never grep -qE '"verdict":"(fail|crash)"' closes/results.jsonl
check 'JUnit has an error' grep -q '<error.*did not close' closes/junit.xml
for i in 0 1; do
  expect 3 "$did_not_close" "${closes[@]}" "${segfault[@]}" --shard "$i/2" --out closes.parts
done
sed -i '1s/"process","value":"[0-9]*"/"process","value":"1"/' closes.parts/*/results.jsonl
expect 3 "$did_not_close" merge closes.parts
expect 3 "$did_not_close" replay "$(grep -o 'convert format=[^"]*' closes/results.jsonl |
  head -n 1)" "${segfault[@]}"
expect 3 "$did_not_close" relate "${segfault[@]}"
expect 3 "$did_not_close" identify "${segfault[@]}"

# A device that hangs is given up after some cases, and what was not asked is said to be so.
expect 3 'did not pass (2 timeout, ' run --device "$plugins/test_plugin_hang_in_run.so" \
  --level smoke --suite convert --format e8m0 --dialect ocp,nv,onednn,cudnn --timeout 1 \
  --max-timeouts 2 --out hanging
check 'the rest was not asked' grep -q 'not asked: 2 cases of convert in a row' hanging/report.md

# What a plug-in prints is shown, and obeyed by no terminal.
prints=(run --level smoke --suite convert --format e8m0 --dialect ocp --out prints)
expect 0 'hello from the plug-in' "${prints[@]}" --device "$plugins/test_plugin_prints_to_stdout.so"

# A wrong answer: 1, the same class again, and the case passes on a right device.
wrong() { # MUTANT CLASS DIALECT
  expect 1 'Not conformant' run --device "$mutants:bug=$1" --level smoke --suite quantize \
    --dialect "$3" --out "$1"
  check "$1 is classed as $2" grep -q "^FAIL quantize .*  $2  " stdout
  cp stdout first
  grep "^FAIL" -A 9 first >failures
  grep -m 1 -A 9 "  $2  " failures >stdout
  replay_of "$1" "  $2  " 1
  case_text=$(grep -o "mxcheck replay '[^']*'" stdout | sed -n 1p | cut -d "'" -f 2)
  expect 0 'pass_exact: ' replay "$case_text"
}
wrong ties_away tie ocp
wrong scale_plus_one scale ocp
wrong minus_zero_lost sign_of_zero nv
wrong last_block_unwritten unwritten ocp

# Rows and columns at once: the wrong side is named, and a plug-in of before is not asked.
both='quantize format=mxfp8-e4m3 axis=both shape=70x41 data=random.spread'
expect 0 'pass_exact: ' replay "$both"
expect 1 'of axis col' replay "$both" --device "$mutants:bug=both_columns_scaled_as_rows"
check 'no row is wrong' eval '! grep -q "of axis row" stdout'
replay_of both 'of axis col' 1
expect 0 'of axis col' explain "$both" --axis col --block 3
expect 77 'has no axis both' replay "$both" --device "$plugins/test_plugin_abi_version_3.so"
refuse 2 'a file holds the blocks of one axis' quantize none.npy --format mxfp8-e4m3 --axis both \
  --out none.safetensors

# What the standard leaves open is a deviation: no fault, but recorded.
expect 0 'No fault found' run --device "$mutants:bug=minus_zero_lost" --level smoke \
  --suite quantize --dialect ocp --out open
check 'a deviation is recorded' grep -q '"verdict":"deviation"' open/results.jsonl
check 'and its open decision named in the Markdown' grep -qi 'deviation' open/report.md

# In a case that fails elsewhere, too: its lines do not say FAIL, and its block alone passes.
rotates=(--device "$lib/mutants/real_scale_mutants.so:bug=rotation_rounded_between")
expect 1 'fail: quantize' replay "${rotates[@]}" \
  'quantize format=nvfp4 dialect=te-nvfp4-rht input=bf16 shape=64x64 data=random.spread'
cp stdout parted
check 'what is open is a deviation' \
  [ "$(grep -c '^DEVIATION' parted)" = "$(grep -c 'the source leaves this open' parted)" ]
lone='quantize format=nvfp4 dialect=te-nvfp4-rht input=bf16 shape=1x16 data=random.spread index=33'
expect 0 'DEVIATION quantize' replay "$lone tensor=0x43de0000" "${rotates[@]}"

# A plug-in rebuilt between a run and its --resume is another device.
cp "$mutants" mine.so
expect 0 'No fault found' run --device ./mine.so --level smoke --dialect ocp --out rebuilt
head -n 5 rebuilt/results.jsonl >part && mv part rebuilt/results.jsonl
cp "$lib/mutants/gemm_mutants.so" mine.so
refuse 2 'cannot resume' run --device ./mine.so --level smoke --dialect ocp --out rebuilt --resume

# So is one with another configuration.
refuse 2 'cannot resume' run --device "./mine.so:bug=none" --level smoke --dialect ocp \
  --out rebuilt --resume

# A configuration that the device cannot read, and devices of before that take none.
opened_never 3 'there is no planted bug "ties_awry"' "$mutants:bug=ties_awry"
opened_never 3 'there is nothing called "bog" to configure; this device knows bug' \
  "$mutants:bog=ties_away"
opened_never 3 'takes no configuration, and "unit=3" was given' \
  "$plugins/test_plugin_abi_version_3.so:unit=3"
opened_never 2 'does not exist' ./none.so:unit=3
expect 0 'pass_exact' replay "$small" --device "$mutants"

# A line of before the planted bugs were one library says what to write now.
refuse 2 'write --device lib/mutants/mutants.so:bug=ties_away' replay "$small" \
  --device lib/mutants/mutant_ties_away.so
refuse 2 'write --device gemm_mutants.so:bug=canary' replay "$small" --device gemm_canary.so

# A closed stream lends its number to nothing of ours: the verdicts are those of open streams. The
# earlier results are announced, so that there is something to print.
streams=(run --device "$mutants" --level smoke --suite quantize --dialect ocp)
expect 0 'No fault found' "${streams[@]}" --out streams
cp streams/results.jsonl open_streams
closed() { # WHICH: the streams that it closes
  checks=$((checks + 1))
  eval "\"\$mxcheck\" \"\${streams[@]}\" --out streams $1" || fail "exit code $? with $1"
  check "the same verdicts with $1" same_cases open_streams streams/results.jsonl
}
closed '<&- >stdout 2>stderr'
closed '</dev/null >stdout 2>&-'
closed '</dev/null >&- 2>&-'
closed '<&- >&- 2>&-'

# A device that supports little is not green where more is demanded of it.
little=(run --device "$plugins/test_plugin_none.so" --level smoke --suite convert --dialect ocp)
expect 0 'No fault found' "${little[@]}" --out little
expect 0 'No fault found' "${little[@]}" --out little --require e8m0/convert
expect 4 'INCOMPLETE: --require e?m?/convert is not met: nothing was compared of e2m1/convert, ' \
  "${little[@]}" --out little --require 'e?m?/convert'
check 'the record has it' grep -q '"exit_code":4,"unmet":\["--require e' little/results.jsonl
check 'JUnit has an error' grep -q '<error.*--require' little/junit.xml
expect 4 'INCOMPLETE: --max-not-supported 3 is exceeded: ' "${little[@]}" --out little \
  --max-not-supported 3
expect 0 'No fault found' "${little[@]}" --out little --max-not-supported 1000
refuse 2 "fits no case of this run; did you mean 'e8m0/convert'?" "${little[@]}" \
  --require e8m0/convrt
refuse 2 "--max-not-supported 'x' is not a whole number" "${little[@]}" --max-not-supported x
nothing=(run --device "$plugins/test_plugin_message_without_end.so" --level smoke --suite quantize)
expect 4 'INCOMPLETE' "${nothing[@]}" --out unsupported --require '*/quantize'

# A part cannot know what the whole has tested: merge judges.
part=(run --level smoke --suite quantize --max-not-supported 0)
for i in 0 1; do expect 0 'No fault found' "${part[@]}" --shard "$i/2" --out part; done
expect 4 'INCOMPLETE: --max-not-supported 0 is exceeded' merge part
refuse 2 'cannot resume, demands was "max-not-supported=0" and is now ""' \
  run --level smoke --suite quantize --shard 0/2 --out part --resume

# Nothing supported is nothing tested.
expect 77 'Nothing was tested' run --device "$plugins/test_plugin_message_without_end.so" \
  --level smoke --suite quantize --out unsupported
check 'nor is anything called equal' never grep -q 'all equal' stdout
check 'and the device says why' grep -q '^not_supported: quantize, [0-9]* cases: ' stdout
finish
