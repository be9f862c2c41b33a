#!/usr/bin/env bash
# quantize, dequantize, requantize and explain on small tensors: round trips, known bytes, recipes
# that must not be mixed, bad input.
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
  for axis in row col tile; do
    expect 0 ' blocks; ' "${quantize[@]}" --dialect "$dialect" --axis "$axis" --out x.safetensors
    expect 0 "dialect $dialect, axis $axis" dequantize x.safetensors --out x.npy
  done
done

# Every format has its own type in the file, and comes back; odd columns are packed as bytes.
while read -r format type; do
  expect 0 '32 elements' quantize in.npy --format "$format" --out x.safetensors
  check "$format is $type" grep -q "\"dtype\":\"$type\"" x.safetensors
  expect 0 "format $format" dequantize x.safetensors --out x.npy
  check "$format comes back" cmp <(tail -c 128 in.npy) <(tail -c 128 x.npy)
done <<'FORMATS'
mxfp8-e4m3 F8_E4M3
mxfp8-e5m2 F8_E5M2
mxfp6-e3m2 F6_E3M2
mxfp6-e2m3 F6_E2M3
mxfp4-e2m1 F4
mxint8 I8
mxint8-symmetric I8
FORMATS
for ((i = 0; i < 15; ++i)); do printf '\0\0\x80\x3f\0\0\0\x40'; done | npy odd.npy '<f4' '(2, 3, 5)'
for options in '--packing high_first' '--packing inline' '--packing bytes --scales 128x4' \
  '--scales te-padded --axis col' '--block 16 --scales 32x8' '--axis tile --block 64'; do
  # shellcheck disable=SC2086
  expect 0 '30 elements' quantize odd.npy --format mxfp4-e2m1 $options --out odd.safetensors
  check "odd columns are bytes: $options" grep -q '"dtype":"U8"' odd.safetensors
  expect 0 'f32 of shape (2, 3, 5)' dequantize odd.safetensors --out x.npy
  check "and come back: $options" cmp <(tail -c 120 odd.npy) <(tail -c 120 x.npy)
done
zeros 0 | npy empty.npy '<f4' '(0, 7)'
expect 0 '0 elements in 0 blocks' quantize empty.npy --format mxfp6-e3m2 --out x.safetensors
expect 0 'f32 of shape (0, 7)' dequantize x.safetensors --out x.npy
check 'an empty tensor comes back' cmp empty.npy x.npy

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
refused "unknown block '33'" "${quantize[@]}" --block 33 --out kept.safetensors
refused "did you mean '128x4'?" "${quantize[@]}" --scales 128x5 --out kept.safetensors
refused 'packing=six is for codes of 6 bits' "${quantize[@]}" --packing six --out kept.safetensors
refused 'no source puts the scales of axis=tile' "${quantize[@]}" --axis tile --scales 8x4 \
  --out kept.safetensors
refused 'does not quantize mxint8; those that do are ocp' quantize in.npy --format mxint8 \
  --dialect te-cutedsl --out kept.safetensors
refused "the scale of dialect 'fbgemm-nearest' waits for" quantize in.npy --format mxfp4-e2m1 \
  --dialect fbgemm-nearest --out kept.safetensors
refused '--out is required' "${quantize[@]}"
refused 'must end in .safetensors' "${quantize[@]}" --out kept.npy
refused 'missing.npy: cannot open' quantize missing.npy --format mxfp8-e4m3 --out kept.safetensors
refused 'nowhere/x.safetensors' "${quantize[@]}" --out nowhere/x.safetensors
zeros 128 | npy i32.npy '<i4' '(1, 32)'
refused 'i32' quantize i32.npy --format mxfp8-e4m3 --out kept.safetensors
head -c 200 in.npy >short.npy
refused 'short.npy: ' quantize short.npy --format mxfp8-e4m3 --out kept.safetensors
refused "did you mean 'f32'?" dequantize out.safetensors --type f33 --out kept.npy
refused 'in.npy: has no metadata that say how it was quantized' dequantize in.npy --out kept.npy
head -c 100 out.safetensors >short.safetensors
refused 'short.safetensors: ' dequantize short.safetensors --out kept.npy
cp out.safetensors same.safetensors
refused 'is the input file itself' dequantize same.safetensors --out same.safetensors
refused 'is the input file itself' requantize same.safetensors --out same.safetensors
check 'the input is kept' cmp out.safetensors same.safetensors

# A file goes by the recipe it carries and by no other.
expect 0 '32 elements' "${quantize[@]}" --dialect nv --out nv.safetensors
made='nv.safetensors: was quantized with format mxfp8-e4m3, dialect nv, axis row, block 32'
expect 0 'dialect nv' dequantize nv.safetensors --dialect nv --block 32 --out x.npy
for option in '--dialect ocp' '--format mxfp8-e5m2' '--axis col' '--block 16' '--scales 128x4' \
  '--packing inline'; do
  # shellcheck disable=SC2086
  refused "$option contradicts it" dequantize nv.safetensors $option --out kept.npy
  check "both are named: $option" grep -qF "$made" stderr
done
for command in "quantize nv.safetensors --format mxfp8-e4m3 --out kept.safetensors" \
  'run --input nv.safetensors --out nowhere' \
  'explain quantize\ format=mxfp8-e4m3\ dialect=ocp\ shape=1x32\ data=file:nv.safetensors'; do
  eval "refused 'nv.safetensors: was quantized already with format mxfp8-e4m3, dialect nv' $command"
done
check 'no results folder either' [ ! -e nowhere ]

# What only some dialects ask for, of quantize and requantize alike.
expect 0 '32 elements' requantize nv.safetensors --format fp8-e4m3-tensor --dialect te-fp8-delayed \
  --amax-history 1,7 --out delayed.safetensors
expect 0 'axis tensor, block tensor' dequantize delayed.safetensors --out x.npy
expect 0 '32 elements' requantize delayed.safetensors --format mxfp8-e4m3 --dialect nv \
  --out again.safetensors
refused 'give --amax-history' requantize nv.safetensors --format fp8-e4m3-tensor \
  --dialect te-fp8-delayed --out kept.safetensors
{ # 6, and numbers half way between two elements
  printf '\0\0\xc0\x40'
  for ((i = 1; i < 32; ++i)); do printf '\0\0\x20\x40'; done
} | npy halves.npy '<f4' '(1, 32)'
expect 0 '32 elements' quantize halves.npy --format mxfp8-e4m3 --out halves.safetensors
for seed in 1 2; do
  expect 0 '32 elements' requantize halves.safetensors --format nvfp4 --dialect te-nvfp4-sr \
    --seed $seed --out "seed$seed.safetensors"
done
check 'the seed decides' never cmp -s seed1.safetensors seed2.safetensors

# requantize is the one way to switch, and says what that did.
expect 0 'What was lost when the input was quantized is not regained' \
  requantize nv.safetensors --dialect ocp --format mxfp4-e2m1 --out four.safetensors
for text in 'from: format mxfp8-e4m3, dialect nv' 'to:   format mxfp4-e2m1, dialect ocp' \
  'scales that differ:   1 of 1' 'elements that differ: 32 of 32' 'values that differ:   0 of 32' \
  'SQNR of new to old:   infinite'; do
  check "the report says $text" grep -qF "$text" stdout
done
expect 0 'dialect ocp' dequantize four.safetensors --dialect ocp --out x.npy
check 'powers of two survive' cmp <(tail -c 128 in.npy) <(tail -c 128 x.npy)
for ((i = 1; i <= 32; ++i)); do printf '\0\0' && bytes_le 2 $((0x3f00 + i * 4)); done |
  npy fine.npy '<f4' '(32,)'
expect 0 '32 elements' quantize fine.npy --format mxfp8-e4m3 --out fine.safetensors
expect 0 ' dB' requantize fine.safetensors --format mxfp4-e2m1 --out x.safetensors
refused 'those that do are ocp' requantize fine.safetensors --format mxint8 \
  --dialect te-cutedsl --out kept.safetensors
refused 'fine.npy: has no metadata' requantize fine.npy --dialect nv --out kept.safetensors

# edited FROM TO: nv.safetensors with other text of the same length in its header.
edited() { LC_ALL=C sed "s/$1/$2/" nv.safetensors >edited.safetensors; }
edited_refused() { # FROM TO TEXT
  edited "$1" "$2"
  check "the edit $1 to $2 is one" never cmp -s nv.safetensors edited.safetensors
  refused "edited.safetensors: $3" dequantize edited.safetensors --out kept.npy
  refused "edited.safetensors: " requantize edited.safetensors --dialect ocp \
    --out kept.safetensors
}
edited_refused '"axis"' '"asix"' 'its metadata are damaged: they do not say its axis'
edited_refused '"dialect":"nv"' '"dialect":"xy"' 'its metadata, written by mxcheck'
edited_refused '"format":"mxfp8' '"format":"mxfp7' 'its metadata, written by mxcheck'
edited_refused '"shape":"1,32"' '"shape":"32,1"' 'its metadata need tensor'
edited_refused '"shape":"1,32"' '"shape":"1;32"' "its metadata are damaged: shape is '1;32'"
edited_refused '"axis":"row"' '"axis":"col"' 'its metadata need tensor'
edited_refused '"F8_E4M3"' '"F8_E5M2"' 'its metadata need tensor'
edited_refused '"scales":{' '"spales":{' 'has a tensor'
version=$("$mxcheck" --version | cut -d' ' -f2)
edited_refused '"dialect_hash":"...' '"dialect_hash":"000' \
  "was made by mxcheck $version under another definition of dialect nv"

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
# Memory: the tensor, and a quarter of it for what becomes of it.
peak() { # ARGUMENT...: the most that the program held, in KiB
  python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$mxcheck" "$@"
}
within() { # KIB ARGUMENT...
  local most
  most=$(peak "${@:2}")
  check "$most KiB is no more than $1: ${*:2}" [ "$most" -le "$1" ]
}
if [ -n "${MX_TIME_FACTOR:-}" ]; then
  echo 'skipped: a sanitizer or an emulator holds memory of its own'
elif [ -n "$(type -P python3)" ]; then
  zeros 64 | npy little.npy '<f4' '(1, 16)'
  zeros $((32 * 1024 * 1024)) | npy large.npy '<f4' '(2048, 4096)'
  base=$(peak quantize little.npy --format mxfp8-e4m3 --out little.safetensors)
  limit=$((base + 32 * 1024 * 130 / 100))
  within "$limit" quantize large.npy --format mxfp8-e4m3 --out large.safetensors
  within "$limit" dequantize large.safetensors --out back.npy
  within "$limit" quantize large.npy --format nvfp4 --dialect te-nvfp4 --out nvfp4.safetensors
else
  echo 'skipped: no python3 here to measure memory'
fi
finish
