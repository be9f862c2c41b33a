#!/usr/bin/env bash
# gemm on small tensors: sums worked by hand, exact and under a model, every type of D, batches;
# bad input leaves no file; an interrupt leaves none either.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
set -m # what runs in the background does not ignore Ctrl-C

pairs() { for ((i = 0; i < $1; ++i)); do printf '\0\0\x80\x3f\0\0\0\x40'; done; } # 1.0, 2.0
words() { for ((i = 0; i < $1; ++i)); do bytes_le 4 $(($2)); done; }
data_of() { tail -c "$2" "$1" | od -An -v -tx1 | tr -d ' \n'; }

pairs 96 | npy a.npy '<f4' '(3, 64)'
pairs 64 | npy b.npy '<f4' '(2, 64)'
expect 0 '192 elements' quantize a.npy --format mxfp8-e4m3 --out a.safetensors
expect 0 '128 elements' quantize b.npy --format mxfp4-e2m1 --out b.safetensors
gemm=(gemm a.safetensors b.safetensors)

# 32 * (1 * 1 + 2 * 2) = 160 = 0x43200000
expect 0 'd.npy: f32 of shape (3, 2), exact sums rounded once; 6 outputs, 0 NaN, 0 Inf' \
  "${gemm[@]}" --out d.npy
words 6 0x43200000 | npy expected.npy '<f4' '(3, 2)'
check 'every output is 160' cmp d.npy expected.npy
expect 0 'accumulated as blackwell-mx, then rounded once; 6 outputs' \
  "${gemm[@]}" --model blackwell-mx --out d.npy
check 'a prediction says so' grep -qF \
  'blackwell-mx: predicted, nothing of it has run here (microsoft/MMA-Sim@' stdout
check 'the model sums small integers exactly' cmp d.npy expected.npy

# As a case of a run says it.
expect 0 'accumulated as blackwell-mx, then rounded once, in 1 part along K; 6 outputs' \
  "${gemm[@]}" --model blackwell-mx --algorithm id=66,splitk=2 --out d.npy
check 'K of 64 is one tile' cmp d.npy expected.npy
for algorithm in split-k=2 splitk=0 splitk= splitk=2x splitk=-2 nosplitk=2 id=66 ''; do
  refuse 2 "says no splitk=N, where N is a number of parts from 1 on" \
    "${gemm[@]}" --model blackwell-mx --algorithm "$algorithm" --out never.npy
done

# 2^30 in the first of two tiles, and 128 ones in the second: added to 2^30 they are lost.
{ printf '\0\0\x80\x4e' && zeros 508 && words 128 0x3f800000; } | npy far.npy '<f4' '(1, 256)'
words 256 0x3f800000 | npy ones.npy '<f4' '(1, 256)'
for name in far ones; do
  expect 0 '256 elements' quantize $name.npy --format mxfp8-e4m3 --out $name.safetensors
done
split=(gemm far.safetensors ones.safetensors --model blackwell-mx)
expect 0 'then rounded once; 1 outputs' "${split[@]}" --algorithm splitk=1 --out d.npy
check 'lost in one sum' [ "$(data_of d.npy 4)" = 0000804e ]
for parts in 2 3; do # of the tiles there are
  expect 0 'in 2 parts along K; 1 outputs' "${split[@]}" --algorithm splitk=$parts --out d.npy
  check "kept in $parts parts" [ "$(data_of d.npy 4)" = 0100804e ]
done
expect 0 'in parts of 128 along K' "${split[@]}" --algorithm splitk=2 --explain 0,0
refuse 2 'only a model splits K' "${gemm[@]}" --algorithm splitk=2 --out never.npy

# What K leaves over of tiles of 64 comes first: 2^14 and -2^14 at the border of two steps meet in
# one, and the 2^-12 behind them is kept. A part of a split K is whole eights, 72 of 203.
halves() { # K INDEX=CODE...
  local -A codes=()
  local length=$1 pair
  for pair in "${@:2}"; do codes[${pair%=*}]=${pair#*=}; done
  for ((i = 0; i < length; ++i)); do bytes_le 2 $((${codes[$i]:-0})); done |
    npy a.npy '<f2' "(1, $length)"
  for ((i = 0; i < length; ++i)); do bytes_le 2 $((0x3c00)); done |
    npy b.npy '<f2' "(1, $length)"
}
sum_is() { # BYTES MODEL ALGORITHM TEXT
  expect 0 '1 outputs' gemm a.npy b.npy --model "$2" --algorithm "$3" --out d.npy
  check "$2 by $3 is $1" [ "$(data_of d.npy 4)" = "$1" ]
  expect 0 "$4" gemm a.npy b.npy --model "$2" --algorithm "$3" --explain 0,0
  check 'the last accumulator that is shown is D' [ \
    "$(awk '/^  [0-9]+ +0x/ {last = $2} END {print last}' stdout)" = \
    "$(awk '/^D: / {print $2}' stdout)" ]
}
mv a.npy kept_a.npy && mv b.npy kept_b.npy
halves 65 15=0x7400 16=0xf400 17=0x0c00
sum_is 00000000 hopper-half splitk=1 'step by step'
sum_is 00008039 hopper-half-residue-64 splitk=1 'step by step'
halves 203 15=0x7400 16=0xf400 24=0x0c00
sum_is 00008039 hopper-half-residue-64 splitk=3 'in parts of 72 along K, part by part'
sum_is 00000000 hopper-half splitk=3 'in parts of 128 along K, step by step'
mv kept_a.npy a.npy && mv kept_b.npy b.npy

# 160 in every other type: 0x4320, 0x5900, 2^7 * 1.25.
while read -r type bytes; do
  expect 0 "$type of shape (3, 2)" "${gemm[@]}" --type "$type" --out d.safetensors
  check "160 is $bytes in $type" \
    [ "$(data_of d.safetensors $((6 * ${#bytes} / 2)))" = "$(printf "$bytes%.0s" {1..6})" ]
done <<'TYPES'
f32 00002043
bf16 2043
f16 0059
e4m3 72
e5m2 59
TYPES
expect 0 '6 outputs, 6 NaN, 0 Inf' "${gemm[@]}" --type e4m3 --alpha 100 --out d.npy
expect 0 '6 outputs, 0 NaN, 0 Inf' "${gemm[@]}" --type e4m3 --alpha 100 --overflow saturate \
  --out d.npy
check 'the largest e4m3' [ "$(data_of d.npy 6)" = 7e7e7e7e7e7e ]
expect 0 '6 outputs, 0 NaN, 6 Inf' "${gemm[@]}" --alpha -inf --out d.npy

# 0.5 * 160 + 2 * 3 = 86
words 6 0x40400000 | npy c.npy '<f4' '(3, 2)'
expect 0 'exact sums' "${gemm[@]}" --alpha 0.5 --beta bits:0x40000000 --c c.npy --out d.npy
words 6 0x42ac0000 | npy expected.npy '<f4' '(3, 2)'
check 'every output is 86' cmp d.npy expected.npy
expect 0 '--alpha: 0.1 is no f32 value' "${gemm[@]}" --alpha 0.1 --out d.npy

# Batches: B of their own, or one for all.
pairs 192 | npy batches.npy '<f4' '(2, 3, 64)'
expect 0 '384 elements' quantize batches.npy --format mxfp6-e2m3 --block 16 \
  --out batches.safetensors
expect 0 'shape (2, 3, 2), exact' gemm batches.safetensors b.safetensors --out d.npy
expect 0 'shape (2, 3, 3), exact' gemm batches.safetensors batches.safetensors --out d.npy
words 18 0x43200000 | npy expected.npy '<f4' '(2, 3, 3)'
check 'every output of every batch is 160' cmp d.npy expected.npy
zeros 0 | npy empty.npy '<f4' '(0, 64)'
expect 0 '0 elements' quantize empty.npy --format mxfp8-e5m2 --out empty.safetensors
expect 0 'shape (3, 0), exact sums rounded once; 0 outputs' \
  gemm a.safetensors empty.safetensors --out d.npy

# Recipes of other scales, and a factor of each kind: the sums are whole numbers.
expect 0 '128 elements' quantize b.npy --format nvfp4 --dialect te-nvfp4 --out nvfp4.safetensors
expect 0 '128 elements' quantize b.npy --format fp8-e4m3-1x128 --dialect te-fp8-block-pow2 \
  --out blocks.safetensors
words 6 0x43200000 | npy expected.npy '<f4' '(3, 2)'
for b in nvfp4 blocks; do
  expect 0 'exact sums rounded once' gemm a.safetensors "$b.safetensors" --out d.npy
  check "every output of $b is 160" cmp d.npy expected.npy
done
# Their numbers are amaxes of 2, so that alpha is 4 times 0x34149b93, which is 1 / 2688^2 rounded;
# times 32 * (1344^2 + 2688^2) it is next to 160.
expect 0 'blackwell-fp4: predicted' gemm nvfp4.safetensors nvfp4.safetensors \
  --model blackwell-fp4 --out d.npy
check 'each output is 160' [ "$(data_of d.npy 16)" = "$(printf 00002043%.0s {1..4})" ]
expect 0 'alpha with the numbers of both tensors, in binary32: 0x35149b93' \
  gemm nvfp4.safetensors nvfp4.safetensors --model blackwell-fp4 --explain 0,0
check 'which D is made with' grep -qx 'D: 0x43200000 = 160' stdout
expect 2 'with f32 scales for 128' gemm blocks.safetensors blocks.safetensors \
  --model blackwell-mx --out d.npy

# Blocks with scales of their own: 160 and 160 are one block of two, 1.25 * 2^7 = 160 * 2^0, and
# dequantize reads them. NVIDIA's scale of 160 is that of 160 / 448: 2^-1, and the element 320.
expect 0 '6 elements in 3 blocks; saturated: 0, flushed to zero: 0, NaN scales: 0' \
  "${gemm[@]}" --output-format mxfp8-e4m3 --dialect ocp --out blocks_d.safetensors
check 'it is said that nothing was rounded before' \
  grep -qF 'exact sums quantized to format mxfp8-e4m3' stdout
expect 0 'f32 of shape (3, 2), from' dequantize blocks_d.safetensors --out back.npy
check 'every output is 160 again' cmp back.npy expected.npy
expect 0 'blocks' "${gemm[@]}" --output-format mxfp8-e4m3 --dialect nv --axis col \
  --out blocks_d.safetensors
check 'scales of columns' [ "$(data_of blocks_d.safetensors 8)" = 7a7a7a7a7a7a7e7e ]
expect 0 'exact sums rounded once to f32, then quantized to format mxfp8-e4m3' \
  "${gemm[@]}" --type f32 --output-format mxfp8-e4m3 --out blocks_d.safetensors
expect 0 'exact sums rounded once to bf16, then quantized to format nvfp4' \
  "${gemm[@]}" --type bf16 --output-format nvfp4 --dialect te-nvfp4 --out blocks_d.safetensors
# cuBLASLt's: 160 / 6 lies next to the scale 26, and 160 / 26 becomes 6, which is 156.
expect 0 'exact sums rounded once to f32, then quantized to format nvfp4' \
  "${gemm[@]}" --type f32 --output-format nvfp4 --dialect cublaslt-nvfp4 --out blocks_d.safetensors
expect 0 'f32 of shape (3, 2), from' dequantize blocks_d.safetensors --out back.npy
words 6 0x431c0000 | npy nvfp4_d.npy '<f4' '(3, 2)'
check 'every output is 156' cmp back.npy nvfp4_d.npy
expect 0 'blackwell-mx: predicted' "${gemm[@]}" --model blackwell-mx --output-format mxfp6-e2m3 \
  --out blocks_d.safetensors
expect 2 'give --type, which D is rounded to' "${gemm[@]}" --output-format nvfp4 \
  --dialect te-nvfp4 --out blocks_d.safetensors

# A number for each row, as cuBLASLt has them: 160 times 0.5, 1 and 2 by rows of A, 1 and -3 of B.
printf '\x00\x00\x00\x3f\x00\x00\x80\x3f\x00\x00\x00\x40' | npy rows_a.npy '<f4' '(3,)'
printf '\x00\x00\x80\x3f\x00\x00\x40\xc0' | npy rows_b.npy '<f4' '(2,)'
expect 0 '6 outputs, 0 NaN, 0 Inf' "${gemm[@]}" --row-scales-a rows_a.npy \
  --row-scales-b rows_b.npy --out d.npy
check '80 -240 160 -480 320 -960' \
  [ "$(data_of d.npy 24)" = 0000a042000070c3000020430000f0c30000a043000070c4 ]
expect 0 'times the number of B: -3' "${gemm[@]}" --row-scales-b rows_b.npy --explain 0,1
expect 2 'rows_b.npy: has shape (2,), and a.safetensors of shape (3, 64) needs (3,), a number' \
  "${gemm[@]}" --row-scales-a rows_b.npy --out d.npy
printf '\x00\x3c\x00\x3c\x00\x3c' | npy halves.npy '<f2' '(3,)'
expect 2 'halves.npy: is of type f16, and the numbers of rows are f32' \
  "${gemm[@]}" --row-scales-a halves.npy --out d.npy
expect 2 'and a number for each row' "${gemm[@]}" --row-scales-a rows_a.npy --model blackwell-mx \
  --out d.npy

# Plain values, and what comes after the sum: ReLU of -0.5 * 160 + 3, and twice 0.5 * 160 -+ 3.
for model in exact fma-chain; do
  expect 0 '6 outputs' gemm a.npy b.npy --model "$model" --out d.npy
  check "every output of f32 values is 160 by $model" cmp d.npy expected.npy
done
expect 0 '6 outputs' gemm a.npy b.safetensors --out d.npy
check 'values times MX' cmp d.npy expected.npy
expect 0 '6 outputs' "${gemm[@]}" --model blackwell-mx --alpha -0.5 --beta 1 --c c.npy \
  --activation relu --out d.npy
check 'ReLU leaves 0' [ "$(data_of d.npy 24)" = "$(printf '0%.0s' {1..48})" ]
printf '\x00\x00\x40\xc0\x00\x00\x40\x40' | npy bias.npy '<f4' '(2,)'
for model in exact blackwell-mx; do
  expect 0 '6 outputs' "${gemm[@]}" --model "$model" --alpha 0.5 --bias bias.npy --scale-d 2 \
    --out d.npy
  check "154 and 166 by $model" \
    [ "$(data_of d.npy 24)" = "$(printf '00001a4300002643%.0s' {1..3})" ]
done
# 160 has a code in E4M3; two squares are 51,200, a quarter of it where both rows have 0.5.
expect 0 'e4m3 of shape' "${gemm[@]}" --type e4m3 --out narrow.safetensors
for model in hopper-fp8 ada-fp8 mma-sync-fp8 blackwell-narrow; do
  expect 0 "accumulated as $model" gemm narrow.safetensors narrow.safetensors --model "$model" \
    --row-scales-a rows_a.npy --row-scales-b rows_a.npy --out d.npy
  check "rows of $model" [ "$(data_of d.npy 36 | cut -c1-8)" = 00004846 ]
done

# One output with every step: 32 times 1 + 4, in blocks of 32 lanes.
expect 0 'row 2 and column 1' "${gemm[@]}" --explain 2,1
check 'each block sums to 80' [ "$(grep -c '^  [0-9]*\.\.[0-9]* .* 80$' stdout)" -eq 2 ]
check 'the sum' grep -qx 'exact: 160' stdout
check 'its codes' grep -qx '  in bf16: 0x4320 = 160' stdout
check 'what machines make of it' grep -q '^  blackwell-mx  *0x43200000 = 160  *0$' stdout
expect 0 'blackwell-mx, step by step' "${gemm[@]}" --model blackwell-mx --explain 0,0
check 'after 32 products' grep -q '^  32  *0x42a00000 = 80  *80  *0$' stdout
expect 2 'outside D, which has 3 rows and 2 columns' "${gemm[@]}" --explain 3,0
expect 2 "takes ROW,COLUMN, and not" "${gemm[@]}" --explain x
expect 2 'leave --out away' "${gemm[@]}" --explain 0,0 --out d.npy

# Bad input leaves no file, and an older one as it was.
refused() { # TEXT ARGUMENT...
  echo old >kept.npy && echo old >kept.safetensors
  refuse 2 "$@" --out kept.npy
  check "an older output is kept: ${*:2}" grep -qx old kept.npy
}
pairs 64 | npy wide.npy '<f4' '(1, 128)'
expect 0 '128 elements' quantize wide.npy --format mxfp8-e4m3 --out wide.safetensors
refused 'a.safetensors of shape (3, 64) and wide.safetensors of shape (1, 128) do not go together' \
  gemm a.safetensors wide.safetensors
refused 'before the last two dimensions B has those of A' gemm a.safetensors batches.safetensors
zeros 64 | npy whole.npy '|u1' '(1, 64)'
refused 'mxcheck quantize makes them' gemm whole.npy b.safetensors
refused 'missing.safetensors: cannot open' gemm a.safetensors missing.safetensors
expect 0 '128 elements' quantize b.npy --format mxfp8-e4m3 --axis col --out col.safetensors
refused 'col.safetensors: its blocks are of axis col' gemm a.safetensors col.safetensors
refused "did you mean 'blackwell-mx'?" "${gemm[@]}" --model blackwel-mx
refused "unknown model ''" "${gemm[@]}" --model ''
refused 'with e8m0 scales for 32; the models that take both factors: ' \
  "${gemm[@]}" --model hopper-fp8
refused 'only a model says which bits it gives' "${gemm[@]}" --activation gelu
refused "did you mean 'relu'?" "${gemm[@]}" --activation rel
refused 'c.npy of shape (3, 2) is no bias: D has 2 columns' "${gemm[@]}" --bias c.npy
refused "did you mean 'bf16'?" "${gemm[@]}" --type bf17
refused 'give it as --output-format' "${gemm[@]}" --type mxfp8-e4m3
refused 'must end in .safetensors' "${gemm[@]}" --output-format mxfp8-e4m3
refused '--dialect is of D'"'"'s blocks' "${gemm[@]}" --dialect ocp
refused "did you mean 'saturate'?" "${gemm[@]}" --overflow saturat
refused "--alpha: value 'abc' is not a number" "${gemm[@]}" --alpha abc
refused '--c and --beta go together' "${gemm[@]}" --beta 1
refused '--c and --beta go together' "${gemm[@]}" --c c.npy
refused 'c.npy of shape (3, 2) cannot be added: D has shape (1, 1)' \
  gemm wide.safetensors wide.safetensors --beta 1 --c c.npy
refused 'a.safetensors: was quantized already' "${gemm[@]}" --beta 1 --c a.safetensors
refused '.npy has no bf16' "${gemm[@]}" --type bf16
refuse 2 'must end in .npy or .safetensors' "${gemm[@]}" --out d.bin
refuse 2 '--out nowhere/d.npy: there is no folder nowhere' "${gemm[@]}" --out nowhere/d.npy
refuse 2 '--out is required' "${gemm[@]}"
cp a.safetensors same.safetensors
refuse 2 'is the input file itself' gemm same.safetensors b.safetensors --out same.safetensors
refuse 2 'is the input file itself' gemm b.safetensors same.safetensors --out same.safetensors
check 'the input is kept' cmp a.safetensors same.safetensors

# Four thousand million products of a model on one thread take longer than a second.
zeros $((1024 * 4096 * 4)) | npy long.npy '<f4' '(1024, 4096)'
expect 0 'elements' quantize long.npy --format mxfp8-e4m3 --out long.safetensors
"$mxcheck" gemm long.safetensors long.safetensors --model blackwell-mx --jobs 1 \
  --out kept.npy >stdout 2>stderr &
within_seconds 60 handles_interrupts $!
kill -INT $!
stopped=0
wait $! || stopped=$?
check "after SIGINT the exit code is 4, not $stopped" [ "$stopped" -eq 4 ]
check 'how far it came is said' grep -q 'INTERRUPTED after .* of 1,048,576 outputs' stdout
check 'an older output is kept' grep -qx old kept.npy
check 'nothing else is left' [ "$(find . -name '*kept.npy*' | wc -l)" -eq 1 ]

expect 0 'predicted, nothing of it has run here' list models
for name in exact hopper-fp8-promoted blackwell-mx fma-chain; do
  check "list models has $name" grep -q "^$name " stdout
done
finish
