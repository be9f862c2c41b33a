#!/usr/bin/env bash
# quantize, dequantize and explain on small tensors: round trips, known bytes, bad input.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
quantize=(quantize in.npy --format mxfp8-e4m3)

# Sixteen pairs of 1.0 and 2.0: with amax 2 the scale is 2^(1 - 8), byte 0x78; the elements are
# 128 and 256, bytes 0x70 and 0x78.
for ((i = 0; i < 16; ++i)); do printf '\0\0\x80\x3f\0\0\0\x40'; done | npy in.npy '<f4' '(1, 32)'
expect 0 '32 elements in 1 blocks' "${quantize[@]}" --out out.safetensors
data_of() { tail -c 33 "$1" | od -An -v -tx1 | tr -d ' \n'; }
pairs=$(printf '7078%.0s' {1..16})
check "the bytes of elements and scale: $(data_of out.safetensors)" \
  eval "case $(data_of out.safetensors) in ${pairs}78 | 78${pairs}) ;; *) false ;; esac"
check 'the types have names' grep -q 'F8_E4M3.*' out.safetensors
check 'and the scales too' grep -q 'F8_E8M0' out.safetensors
expect 0 'f32 of shape (1, 32)' dequantize out.safetensors --out back.npy
check 'powers of two come back as they were' \
  cmp <(tail -c 128 in.npy) <(tail -c 128 back.npy)
for type in bf16 f16 f32; do
  expect 0 "$type of shape (1, 32)" dequantize out.safetensors --type "$type" \
    --out "$type.safetensors"
  expect 0 '32 elements' quantize "$type.safetensors" --format mxfp8-e4m3 --out re.safetensors
  check "through $type and back" [ "$(data_of re.safetensors)" = "$(data_of out.safetensors)" ]
done
for dialect in ocp nv torchao-floor torchao-ceil torchao-even torchao-rceil; do
  for axis in row col; do
    expect 0 ' blocks; ' "${quantize[@]}" --dialect "$dialect" --axis "$axis" --out x.safetensors
    expect 0 "dialect $dialect, axis $axis" dequantize x.safetensors --out x.npy
  done
done

# Bad input leaves no file, and an older one as it was.
refused() { # TEXT ARGUMENT...
  echo old >kept.safetensors && echo old >kept.npy
  refuse 2 "$@"
  check "an older output is kept: ${*:2}" grep -qx old kept.safetensors kept.npy
}
refused "did you mean 'mxfp8-e4m3'?" quantize in.npy --format mxfp8-e4m4 --out kept.safetensors
refused '--format is required' quantize in.npy --out kept.safetensors
refused "did you mean 'ocp'?" "${quantize[@]}" --dialect ocq --out kept.safetensors
refused "did you mean 'row'?" "${quantize[@]}" --axis raw --out kept.safetensors
refused '--out is required' "${quantize[@]}"
refused 'must end in .safetensors' "${quantize[@]}" --out kept.npy
refused 'missing.npy: cannot open' quantize missing.npy --format mxfp8-e4m3 --out kept.safetensors
refused 'nowhere/x.safetensors' "${quantize[@]}" --out nowhere/x.safetensors
zeros 128 | npy i32.npy '<i4' '(1, 32)'
refused 'i32' quantize i32.npy --format mxfp8-e4m3 --out kept.safetensors
head -c 200 in.npy >short.npy
refused 'short.npy: ' quantize short.npy --format mxfp8-e4m3 --out kept.safetensors
refused "did you mean 'f32'?" dequantize out.safetensors --type f33 --out kept.npy
refused 'give --format' dequantize in.npy --out kept.npy
head -c 100 out.safetensors >short.safetensors
refused 'short.safetensors: ' dequantize short.safetensors --out kept.npy
cp out.safetensors same.safetensors
refused 'is the input file itself' dequantize same.safetensors --out same.safetensors
check 'the input is kept' cmp out.safetensors same.safetensors

# explain: 2.8 and -1.2 under ocp. amax 2.8, scale 2^(1 - 8); 2.8 * 2^7 = 358.4 lies between the
# codes 352 (0x7b) and 384; -1.2 * 2^7 = -153.6 between -152 (0xf1 is -144, 0xf2 is -160).
expect 0 'quantize format=mxfp8-e4m3 dialect=ocp' explain --values 2.8,-1.2 --format mxfp8-e4m3
for text in 0x78 0x7b 0xf2 torchao-even; do
  check "the explanation shows $text" grep -q "$text" stdout
done
expect 0 '0x40333333' explain --values bits:0x40333333 --format mxfp8-e4m3
expect 0 'dialect=nv' explain --block 1 \
  'quantize format=mxfp8-e4m3 dialect=nv shape=2x32 data=edge.tie'
refuse 2 "value 'abc' is not a number" explain --values abc --format mxfp8-e4m3
refuse 2 '--values needs --format' explain --values 1
refuse 2 'explain needs a CASE' explain
refuse 2 'not both' explain 'quantize format=mxfp8-e4m3 dialect=nv' --values 1
refuse 2 "did you mean 'mxfp8-e5m2'?" explain --values 1 --format mxfp8-e5m1
refuse 2 'block' explain 'quantize format=mxfp8-e4m3 dialect=nv shape=1x32 data=edge.tie' --block 99
refuse 2 '' explain --values "$(printf '1,%.0s' {1..33})1" --format mxfp8-e4m3
finish
