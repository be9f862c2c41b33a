#!/usr/bin/env bash
# accuracy: numbers worked by hand on a tensor of one block, named data, and what is refused.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

# 500 and 1: under ocp the scale is 1 and 500 becomes 448; under nv it is 2, and 500 becomes 512.
printf '\0\0\xfa\x43\0\0\x80\x3f' | npy x.npy '<f4' '(1, 2)'
expect 0 '' accuracy x.npy
check 'ocp: 10 log10(250001 / 52^2), half is saturated, an error of 52/32 ulp' \
  grep -qE '^ +x +mxfp8-e4m3 +ocp +19\.66 +5\.200 +10\.40 +50\.000 .* 1\.625$' stdout
check 'nv: 10 log10(250001 / 12^2), nothing is saturated' \
  grep -qE '^ +x +mxfp8-e4m3 +nv +32\.40 +1\.200 +2\.40 +0\.000 .* 0\.375$' stdout
expect 0 '' accuracy x.npy --dialect nv --json
check 'the scale of the one block' grep -qF '"byte": 128' stdout
printf '\0\0\x80\x3f\0\0\xc0\x7f' | npy nan.npy '<f4' '(2, 1)'
expect 0 '1 values are NaN or Inf and left out, 0 became NaN or Inf' accuracy nan.npy --dialect nv
check 'a value that is an element is exact' grep -qE ' nv +exact ' stdout

expect 0 '' accuracy --data normal --elements 4096 --format mxfp4-e2m1 --dialect ocp --stochastic
check 'once to nearest, once stochastically' [ "$(grep -c mxfp4-e2m1 stdout)" = 2 ]
cp stdout first
expect 0 '' accuracy --data normal --elements 4096 --format mxfp4-e2m1 --dialect ocp --stochastic
check 'the same seed, the same numbers' cmp first stdout
expect 0 '' accuracy --data normal --elements 4096 --format mxfp4-e2m1 --dialect ocp --stochastic \
  --seed 1
check 'another seed, other numbers' [ "$(cmp -s first stdout && echo same)" = '' ]

expect 0 '' accuracy --data normal --elements 4096 --format nvfp4 --dialect te-nvfp4-sr --stochastic
check 'what is stochastic by itself has one row' [ "$(grep -c te-nvfp4-sr stdout)" = 1 ]
expect 0 '' accuracy --data normal --elements 4096 --format nvfp4,mxfp8-e4m3
check 'without a name, the first dialect of a format that ocp and nv do not have' \
  [ "$(grep -oE ' (ocp|nv|te-nvfp4) ' stdout | tr -d '\n')" = ' te-nvfp4  ocp  nv ' ]

# A device beside the oracle: the embedded one agrees, a planted bug does not.
expect 0 "of cpu's codes 0 elements and 0 scales differ" accuracy x.npy --device cpu --dialect ocp
expect 0 '' accuracy x.npy --device cpu --dialect ocp --json
check 'a row of each' [ "$(grep -cE '"source": "(oracle|cpu)"' stdout)" = 3 ]
expect 1 'scales differ from the oracle' accuracy --data normal --elements 4096 --dialect ocp \
  --device "$lib/mutants/mutants.so:bug=scale_plus_one"
expect 77 'does not: ' accuracy x.npy --dialect ocp \
  --device "$lib/test_plugins/test_plugin_message_without_end.so"

gemm=(accuracy --op gemm --side 4 --k 64 --data normal)
expect 0 'hopper-mx-wgmma' "${gemm[@]}" --format mxfp8-e4m3 --dialect ocp
check 'the exact sum is off by half an ulp at most' \
  [ "$(awk '$7 == "exact" && $9 <= 0.5' stdout | wc -l)" = 1 ]
expect 0 'cpu fma-chain' "${gemm[@]}" --format mxfp8-e4m3 --device cpu --algorithm fma-chain \
  --model fma-chain-mx --dialect ocp
expect 0 '"share_max"' "${gemm[@]}" --format bf16 --json
expect 2 'model fma-chain-mx multiplies e4m3 e5m2 e3m2 e2m3 e2m1, not bf16' \
  "${gemm[@]}" --format bf16 --model fma-chain-mx
expect 0 'mxfp8-e4m3 ocp to f32' "${gemm[@]}" --format bf16 --format-b mxfp8-e4m3 --dialect ocp
expect 0 'cpu default' "${gemm[@]}" --format mxfp8-e4m3 --device cpu --model exact --dialect ocp
expect 2 'makes no factor of nvfp4' "${gemm[@]}" --format nvfp4
expect 2 'multiplies named data' accuracy --op gemm x.npy
expect 2 "unknown operation 'quantise'; did you mean 'quantize'?" accuracy --op quantise

expect 2 "unknown data 'norml'; did you mean 'normal'?" accuracy --data norml
expect 2 '--elements 0: from 1 to' accuracy --elements 0
expect 2 '--block 20: blocks have 16, 32 or 64' accuracy --block 20
expect 2 "unknown format 'mxfp8'" accuracy --format mxfp8
expect 2 "unknown dialect 'ocpp'; did you mean 'ocp'?" accuracy --dialect ocpp
expect 2 'contradict each other' accuracy x.npy --data normal
expect 0 "of cpu's codes 0 elements and 0 scales differ" accuracy --data normal --elements 4096 \
  --format nvfp4,nvfp4-16x16 --dialect te-nvfp4 --device cpu
expect 0 "of cpu's codes 0 elements and 0 scales differ" accuracy --data normal --elements 4096 \
  --format fp8-e4m3-1x128,fp8-e4m3-128x128 --dialect deepgemm-fp8 --device cpu
expect 2 'te-nvfp4-rht does not read f32' accuracy --format nvfp4 --dialect te-nvfp4-rht
expect 2 'te-fp8-delayed takes its scale from earlier tensors' \
  accuracy --format fp8-e4m3-tensor --dialect te-fp8-delayed
expect 2 '--block is for MX formats' \
  accuracy --format nvfp4 --dialect te-nvfp4 --block 16
printf '' | npy empty.npy '<f4' '(0, 32)'
expect 2 'empty.npy: holds no tensor of f32, bf16 or f16 with values' accuracy empty.npy
expect 2 'gone.npy' accuracy gone.npy
finish
