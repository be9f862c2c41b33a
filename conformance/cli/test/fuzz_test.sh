#!/usr/bin/env bash
# The search: what it finds, shrinks and stores, and that it can be stopped, gone on with and
# repeated. Planted bugs of every kind are found from random starts.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
set -m # a search is a process group of its own, as under a terminal

plugin() { echo "$lib/mutants/mutants.so:bug=$1"; }
few=(--operation quantize --format 'mxfp8-*,mxfp4-*' --dialect ocp,nv)

# A clean device, and what the summary says.
expect 0 'No fault found' fuzz --device cpu --blocks 200000 "${few[@]}" --corpus clean --jobs 2
check 'says what it covered' grep -qE 'decisions reached: [0-9,]+ of [0-9,]+ \([0-9.]+ %\)' stdout
check 'says which rules would show' grep -qE 'wrong rules .*: [0-9,]+ of [0-9,]+' stdout
check 'says how fast it was' grep -q 'blocks a second' stdout
check 'each worker has a state' [ -s clean/worker-0.json -a -s clean/worker-1.json ]

# A find: shrunk, printed with a repro line, stored; the stored line fails when replayed.
expect 1 'FOUND quantize' fuzz --device "$(plugin ties_away)" --blocks 100000 "${few[@]}" \
  --corpus ties
check 'a tie is one element' grep -q 'shrunk to 1 element not zero' stdout
check 'the repro line is printed' grep -q "mxcheck replay 'quantize .*data=bits:" stdout
for file in ties/finds/*.case; do
  expect 1 'fail: quantize' replay "$(grep -v '^#' "$file" | tail -n 1)" \
    --device "$(plugin ties_away)"
  expect 0 'pass_exact' replay "$(grep -v '^#' "$file" | tail -n 1)"
done

# The next search asks what was found before first: it fails still, or no longer.
expect 1 'still fails' fuzz --device "$(plugin ties_away)" --blocks 1 "${few[@]}" --corpus ties
expect 0 'fails no longer' fuzz --device "$(plugin none)" --blocks 1 "${few[@]}" --corpus ties
echo 'quantize format=mxfp9' >ties/finds/damaged.case
refuse 2 'ties/finds/damaged.case:1' fuzz --blocks 1 --corpus ties "${few[@]}"

# The same seed and number of blocks find the same; another seed asks something else.
same=(fuzz --device "$(plugin amax_signed)" --blocks 20000 "${few[@]}" --jobs 2)
expect 1 'FOUND' "${same[@]}" --corpus one
grep -v 'a second' stdout | sed 's/one\///' >one.txt
expect 1 'FOUND' "${same[@]}" --corpus two
grep -v 'a second' stdout | sed 's/two\///' >two.txt
check 'two runs find the same' cmp one.txt two.txt
check 'and store the same' diff -r one/finds two/finds
check 'and end in the same state' cmp one/worker-1.json two/worker-1.json
expect 1 'FOUND' "${same[@]}" --corpus three --seed 1
check 'another seed asks something else' never cmp -s one/worker-1.json three/worker-1.json

# What only shows in shapes, layouts, other operations, crashes, time, or after another call.
patience=$((60 * ${MX_TIME_FACTOR:-1}))s
finds() { # CODE TEXT MUTANT ARGUMENT...
  expect "$1" "$2" fuzz --device "$(plugin "$3")" --time "$patience" --first --jobs 2 \
    --corpus "find.$3" "${@:4}"
}
finds 1 'FOUND quantize' nv_ratio_divided --operation quantize --format mxint8 --dialect nv
finds 1 'FOUND' nan_payload_lost
finds 1 'FOUND quantize' partial_block_padding_read
finds 1 'FOUND quantize' swizzle_assumes_32 --operation quantize
finds 1 'unwritten' rows_beyond_65535_unwritten --operation quantize
finds 1 'FOUND convert' stochastic_x4_words_run_on --operation convert --dialect ocp
finds 1 'FOUND dequantize' dequantize_tile_scales_transposed
finds 1 'FOUND encode_scale' nv_power_of_two_up --operation encode_scale
finds 1 'after another case' stale_output --operation quantize
# A bug of one call alone is stored beside it (both axes share an output); this is of two calls.
mapfile -t both < <(grep -l 'once those before it were asked' find.stale_output/finds/*.case)
check 'both cases are stored' [ "$(grep -vc '^#' "${both[0]}")" -eq 2 ]
# One worker: of two it is chance who is first, and a bit that flips in both runs is not flaky.
expect 1 'flaky' fuzz --device "$(plugin random_flake)" --time "$patience" --first --jobs 1 \
  --corpus find.random_flake --operation quantize
finds 3 'crash' crash_on_nan
check 'a crash is shrunk too' grep -q 'shrunk to 1 element not zero' stdout
finds 3 'timeout' hang_on_zero_block --timeout 1 --operation quantize

# Ctrl-C: the state is stored, the summary printed, and the search goes on from there.
stopped() { # SIGNAL FOLDER
  local search code=0 i
  "$mxcheck" fuzz --device cpu --time 100s "${few[@]}" --corpus "$2" --jobs 2 \
    >"$work/stdout" 2>"$work/stderr" </dev/null &
  search=$!
  within_seconds 60 handles_interrupts "$search"
  sleep 1
  kill "-$1" -- "-$search"
  wait "$search" 2>/dev/null || code=$?
  check "after SIG$1 the exit code is 4, not $code" [ "$code" -eq 4 ]
  check "SIG$1: the summary is printed" grep -q 'INTERRUPTED, --resume goes on' stdout
}
stopped INT stop
expect 0 'and a search before' fuzz --device cpu --time 1s "${few[@]}" --corpus stop --jobs 2 \
  --resume
stopped TERM stop
refuse 2 'cannot resume, the search was' fuzz --device cpu --time 1s --corpus stop --jobs 2 --resume
refuse 2 'there is no search to go on with' fuzz --time 1s --corpus nothing --resume
echo rubbish >stop/worker-0.json
refuse 2 'is not the state of a search' fuzz --device cpu --time 1s "${few[@]}" --corpus stop \
  --jobs 2 --resume

# Bad usage, and a device that does none of it.
refuse 2 "did you mean 'quantize'?" fuzz --operation quantise
refuse 2 "did you mean 'mxfp8-e4m3'?" fuzz --format mxfp8-e4m4
refuse 2 "--time 'soon' is no time" fuzz --time soon
refuse 2 "--time '0s' is no time" fuzz --time 0s
refuse 2 "--jobs '0'" fuzz --jobs 0
refuse 2 'there is nothing to search' fuzz --operation encode_scale --format e8m0
refuse 2 'no-such.so' fuzz --device ./no-such.so
expect 77 'nothing was tested' fuzz --device "$(plugin none)" --time 2s --dialect 'torchao-*' \
  --corpus none
refuse 2 "fuzz does not search format 'fp8-e4m3-tensor' yet" fuzz --format fp8-e4m3-tensor
refuse 2 "fuzz does not search dialect 'te-nvfp4-rht' yet" fuzz --dialect te-nvfp4-rht

# NVFP4 and FP8: a clean device is clean, and planted bugs are found and replayed.
expect 0 'No fault found' fuzz --device cpu --format 'nvfp4*,fp8-*' --blocks 100000 --corpus real
real() { # BUG OPERATION FORMAT DIALECT
  local device=$lib/mutants/real_scale_mutants.so:bug=$1
  expect 1 "FOUND $2 $3" fuzz --device "$device" --operation "$2" --format "$3" --dialect "$4" \
    --blocks 200000 --first --corpus "real.$1"
  expect 1 "fail: $2" replay "$(cat "real.$1"/finds/*.case | grep -v '^#' | tail -n 1)" \
    --device "$device"
}
real scale_toward_zero quantize nvfp4 te-nvfp4
real scale_ties_away quantize nvfp4 te-nvfp4
real amax_divided_by_6 quantize nvfp4 te-nvfp4
real reciprocal_one_ulp_up quantize nvfp4 te-nvfp4
real scale_overflows_to_nan quantize nvfp4 te-nvfp4
real nan_passed_over quantize nvfp4 torchao-nvfp4
real tile_scale_of_first_row quantize nvfp4-16x16 te-nvfp4
real amax_min_forgotten quantize fp8-e4m3-1x128 deepgemm-fp8
real power_of_two_above quantize fp8-e4m3-1x128 te-fp8-block-pow2
real number_ignored quantize nvfp4 te-nvfp4
real dequantize_forgets_number dequantize nvfp4 te-nvfp4

finish
