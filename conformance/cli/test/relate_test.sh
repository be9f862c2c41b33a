#!/usr/bin/env bash
# A device's own answers held against each other: what is said of a clean device, of planted bugs,
# of a format that no table has; and that the line a failure prints asks it again.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

bug() { printf '%s' "$lib/mutants/mutants.so:bug=$1"; }
product() { printf '%s' "$lib/mutants/gemm_mutants.so:bug=$1"; }

expect 0 ', 0 broken' relate --device cpu --op quantize,dequantize --dialect nv --samples 2
check 'relations that hold are counted' grep -q '^[1-9][0-9]* relations held' stdout
expect 0 ', 0 broken' relate --device "$(product none)" --op gemm --samples 1

# Both inputs, and the line that asks again, which fails again.
expect 1 'BROKEN' relate --device "$(bug amax_signed)" --op quantize --samples 2
check 'both inputs are shown' grep -q 'second input: ' stdout
again=$(grep -m 1 -o 'mxcheck relate .*--bits [0-9a-f,]*' stdout)
eval "words=(${again#mxcheck })"
expect 1 'BROKEN' "${words[@]}"
expect 1 'BROKEN' relate --device "$(product d_transposed)" --op gemm --samples 1
again=$(grep -m 1 -o 'mxcheck relate .*--shape [0-9x]*' stdout)
eval "words=(${again#mxcheck })"
expect 1 'BROKEN' "${words[@]}"

# What nobody claims is no fault, and what a device claims is.
expect 0 'nothing is claimed' relate --device "$(bug none)" --op quantize --format mxint8 \
  --samples 2
expect 1 'BROKEN' relate --device "$(bug none)" --op quantize --format mxint8 --samples 2 \
  --relation signs_pass_through --claim signs_pass_through
# What a device does not do is not run, and never held.
expect 77 'nothing was tested' relate --device cpu --format myfp5 --dialect mine --op quantize
check 'relations that are not run are counted' grep -q ', [1-9][0-9]* not run' stdout
expect 3 'FAILED' relate --device "$(bug crash_on_nan)" --op quantize --samples 4

# Codes of a type that no table has, whose signs nobody knows; and a gemm's own blocks.
expect 77 'not run' relate --device cpu --op gemm --elements u8 --samples 1
expect 0 ', 0 broken' relate --device "$(product none)" --op gemm --samples 1 --block 16

# The record, as a run leaves it: read back by report, with the line that asks again.
expect 0 'NOT A CONFORMANCE RUN' relate --device cpu --op quantize --dialect nv --samples 1 \
  --out held
check 'a relation is a case' grep -q '"verdict":"pass_exact"' held/results.jsonl
check 'with the command that asks it' \
  grep -qF "\"case\":\"relate --op quantize --format 'mxfp8-e4m3' --dialect 'nv'" held/results.jsonl
check 'and a footer' grep -q '"kind":"footer"' held/results.jsonl
expect 0 'relations' report held
expect 1 'BROKEN' relate --device "$(product d_transposed)" --op gemm --samples 1 \
  --out broken
expect 0 'Not conformant: ' report broken
check 'the report has the line that asks again' \
  grep -q 'mxcheck relate --device .* --relation .* --shape' broken/report.md
expect 3 'FAILED' relate --device "$(bug crash_on_nan)" --op quantize --samples 4 --out failed
check 'a case of a relation does not name its device' \
  grep -q '"case":"relate --op' failed/results.jsonl
check 'the line that asks again does' grep -q 'relate --op .* --samples 4 --device' failed/report.md
expect 1 BROKEN relate --device "$(bug random_flake)" --op quantize --samples 2 \
  --relation repeated --out flaky
check 'what broke at once was compared all the same' \
  grep -q '"verdict":"fail","reason":"","elements":[1-9]' flaky/results.jsonl
: >occupied
expect 2 'cannot make the folder' relate --device cpu --op quantize --out occupied
check 'a folder that cannot be made is told before the device is asked' \
  [ "$(grep -c held stdout)" = 0 ]
check 'a device that failed is recorded' grep -q '"verdict":"device_error"' failed/results.jsonl
expect 77 'nothing was tested' relate --device cpu --format myfp5 --dialect mine --op quantize \
  --out none
check 'what was not run is not passed' [ "$(grep -c pass_exact none/results.jsonl)" = 0 ]

refuse 2 'of at most 2^22 codes' relate --op gemm --relation repeated --shape 65536x65536x1
refuse 2 "did you mean 'quantize'?" relate --op quantise
refuse 2 "did you mean 'repeated'?" relate --relation repeatd
refuse 2 'is no type of at most 8 bits' relate --elements f32
refuse 2 'is no shape such as 1x32' relate --op quantize --relation repeated --shape 7
refuse 2 'is no code of f32' relate --op quantize --relation repeated --shape 1x2 --bits 1,2,3
refuse 2 'goes with one --op and one --relation' relate --op quantize --shape 1x32
refuse 2 'is not from 1 to' relate --samples 0
# Rows whose scale has a mantissa; what is claimed of powers of two alone is told.
expect 0 ', 0 broken' relate --device cpu --format nvfp4 --dialect te-nvfp4 --op quantize,dequantize
expect 0 ', 0 broken' relate --device cpu --format fp8-e4m3-1x128 --dialect deepgemm-fp8 \
  --op quantize,dequantize --samples 1
refuse 2 "gives no random bits, which dialect 'te-nvfp4-sr' takes" \
  relate --format nvfp4 --dialect te-nvfp4-sr
expect 0 'quantize nvfp4 te-nvfp4 f32' relate --device cpu --format nvfp4 --op quantize --samples 1
refuse 2 'is no even number' relate --block 3
finish
