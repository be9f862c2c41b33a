#!/usr/bin/env bash
# diff, audit, identify --file and explain --file: what they print and how they end. What each finds
# out is held by test_files; here are exit codes, and one of each sentence.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

# Just below 2, so that the dialects part: of 1.9375 the floor keeps 1, the ceiling takes 2.
for ((i = 0; i < 64; ++i)); do printf '\0\0\xf8\x3f\0\0\x90\x3e'; done | npy x.npy '<f4' '(4, 32)'
for dialect in ocp nv; do
  expect 0 '128 elements' quantize x.npy --format mxfp4-e2m1 --dialect $dialect \
    --packing low_first --out $dialect.safetensors
done
expect 0 '128 elements' quantize x.npy --format mxfp4-e2m1 --packing high_first \
  --out swapped.safetensors

expect 0 'equal bytes' diff ocp.safetensors ocp.safetensors
expect 1 'A follows ocp' diff ocp.safetensors nv.safetensors --original x.npy
check 'B has its dialect too' grep -q 'B follows nv' stdout
check 'and the file says so' grep -q 'made by dialect nv' stdout
expect 1 'equal values in another encoding' diff ocp.safetensors swapped.safetensors
expect 0 'equal values in another encoding' diff ocp.safetensors swapped.safetensors --values
expect 1 '"verdict": "equal values in another encoding"' \
  diff ocp.safetensors swapped.safetensors --json
refuse 2 'cannot open' diff ocp.safetensors none.gguf
refuse 2 'unknown quantized tensor' diff ocp.safetensors nv.safetensors --tensor weight
refuse 2 'quantizers read f32' diff ocp.safetensors nv.safetensors --original ocp.safetensors

expect 0 '1 quantized tensor: 0 with something impossible' audit ocp.safetensors
expect 0 '"convention": "mxcheck"' audit ocp.safetensors --json
# Fifteen bytes of elements, of which no block of gpt-oss is made.
blocks='"w_blocks":{"dtype":"U8","shape":[1,1,15],"data_offsets":[0,15]}'
scales='"w_scales":{"dtype":"U8","shape":[1,2],"data_offsets":[15,17]}'
zeros 17 | safetensors bad.safetensors "{$blocks,$scales}"
expect 1 'impossible' audit bad.safetensors
printf 'GGUX' >x.gguf
refuse 2 'is no GGUF file' audit x.gguf

expect 0 'follows nv' identify --file nv.safetensors --original x.npy
expect 0 '"dialects"' identify --file ocp.safetensors --original x.npy --json
refuse 2 'needs --original' identify --file ocp.safetensors
expect 0 'the file has the same scale and elements' \
  explain --file nv.safetensors --block 2 --original x.npy
expect 0 'the file has scale' explain --file nv.safetensors --block 2 --original x.npy --dialect ocp
expect 0 'block 3 (row 3, column 0)' explain --file ocp.safetensors --block 3
refuse 2 'block 4 does not exist' explain --file ocp.safetensors --block 4
refuse 2 'no CASE' explain --file ocp.safetensors --values 1
finish
