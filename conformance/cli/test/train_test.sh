#!/usr/bin/env bash
# train: a few steps, the same twice; quantized runs part from the plain one; what is refused.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

few=(train --steps 3 --dialect ocp,nv)
expect 0 'weights off by %' "${few[@]}"
check 'a plain run and four quantized ones for each of two tasks' \
  [ "$(grep -c 'mxfp8-e4m3' stdout)/$(grep -cE ' f32 +f32 +' stdout)" = 8/2 ]
check 'the plain run is off by nothing' grep -qE ' f32 +f32 .* 0 +0 +none$' stdout
check 'a quantized one is not' [ "$(grep -cE 'mxfp8-.* 0 +0 +[a-z, ]*$' stdout)" = 0 ]
check 'the limits are counted' \
  grep -qE '^limits: loss 5 %, first gradient 5 %, weights 3 %; [0-9]+ of 8 quantized' stdout
check 'as the table says' [ "$(grep -cE 'mxfp8-.* none$' stdout)" = \
  "$(grep -oE '[0-9]+ of 8 quantized runs' stdout | cut -d ' ' -f 1)" ]
check 'a gradient beyond its limit is named' grep -qE 'mxfp8-.* first gradient$' stdout
cp stdout first
expect 0 '' "${few[@]}"
check 'the same numbers again' cmp first stdout
expect 0 '' "${few[@]}" --json
check 'ten runs with their losses' [ "$(grep -c '"losses"' stdout)" = 10 ]

expect 0 '' train --steps 1 --gradient-format mxfp8-e5m2
cp stdout every
expect 0 '' train --steps 1 --gradient-format mxfp8-e5m2 --dialect every,ocp,gfloat
check 'every rule, one of them by name too, and another' \
  [ "$(grep -c mxfp8-e5m2 stdout)" = "$(($(grep -c mxfp8-e5m2 every) + 2))" ]
cp every stdout
check 'every scale rule, not one dialect alone' [ "$(grep -c mxfp8-e5m2 stdout)" -gt 6 ]

# On a device: where the arithmetic is the same, so are the bits.
device=(train --steps 2 --dialect ocp --gradient-format mxfp8-e5m2)
expect 0 'same bits' "${device[@]}" --device cpu
expect 0 'same bits' "${device[@]}" --device cpu --gemm-device cpu --algorithm fma-chain \
  --model fma-chain-mx
expect 1 'differs, first the loss of step 0' "${device[@]}" --gemm-device cpu \
  --algorithm fma-chain --model hopper-mx-wgmma
expect 1 'differs, first the loss of step 0' "${device[@]}" \
  --device "$lib/mutants/mutants.so:bug=ties_away"
expect 77 'not compared' "${device[@]}" --gemm-device cpu
expect 2 'say how --gemm-device multiplies' "${device[@]}" --model fma-chain-mx

expect 2 '--steps 0: from 1 to' train --steps 0
expect 2 "unknown format 'mxpf8'" train --format mxpf8
expect 2 "unknown format 'mxpf8'" train --gradient-format mxpf8
expect 1 'nan' "${device[@]}" --model blackwell-mx \
  --gemm-device "$lib/mutants/gemm_mutants.so:bug=canary"
check 'a training that ran away is not off by nothing' \
  [ "$(grep -cE ' nan +nan +0 ' stdout)" = 0 ]
expect 2 "unknown dialect 'ocpp'; did you mean 'ocp'?" train --dialect ocpp
expect 2 "mxfp8-e4m3 needs a dialect" train --dialect ''
expect 0 'same bits' train --steps 2 --device cpu --dialect te-nvfp4,te-nvfp4-sr \
  --format nvfp4 --gradient-format nvfp4
expect 77 'products of nvfp4 in te-nvfp4 are made here alone' train --steps 1 --device cpu \
  --gemm-device cpu --dialect te-nvfp4 --format nvfp4 --gradient-format nvfp4
# Where no dialect and no gradient is named, they fit the format.
expect 0 '' train --steps 1 --format nvfp4
check 'NVFP4 gradients beside NVFP4' grep -qE ' nvfp4 +nvfp4 +te-nvfp4 ' stdout
expect 2 'no dialect quantizes values of f32 to all of the formats asked for; nvfp4: te-nvfp4, ' \
  train --steps 1 --format nvfp4 --gradient-format mxfp8-e4m3
finish
