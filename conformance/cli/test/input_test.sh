#!/usr/bin/env bash
# run --input: tensors good, odd and broken. A broken one is refused before anything is written.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

broken() { # TEXT FILE
  refuse 2 "$1" run --input "$2" --out refused
  check "$2 leaves no half output" [ ! -e refused ]
  rm -rf refused
}

broken 'missing.npy: cannot open for reading: No such file' missing.npy
mkdir folder.npy && broken 'is a directory' folder.npy
: >empty.npy && broken 'empty.npy: ' empty.npy
: >empty.safetensors && broken 'empty.safetensors: ' empty.safetensors
echo text >notes.txt && broken 'known: .npy, .npz, .safetensors' notes.txt
zeros 128 | npy short.npy '<f4' '(2, 32)'
broken 'needs 256 bytes, but from byte 128 on there are 128' short.npy
zeros 300 | npy long.npy '<f4' '(2, 32)' && broken 'long.npy: ' long.npy
head -c 40 short.npy >header.npy && broken 'header.npy: ' header.npy
zeros 256 | npy i32.npy '<i4' '(2, 32)' && broken 'holds i32, and' i32.npy
zeros 512 | npy f64.npy '<f8' '(2, 32)' && broken "x.astype('float32')" f64.npy
zeros 128 | npy unnamed.npy '|V2' '(2, 32)'
broken 'does not say what its bytes mean' unnamed.npy
zeros 128 | npy huge.npy '<f4' '(4611686018427387904, 32)' && broken 'huge.npy: ' huge.npy
zeros 128 | npy negative.npy '<f4' '(-1, 32)' && broken 'negative.npy: ' negative.npy

printf '\xff\xff\xff\xff\xff\xff\xff\x7f{}' >lie.safetensors
broken 'its JSON header has 9223372036854775807 bytes' lie.safetensors
tensor() { printf '{"a":{"dtype":"%s","shape":%s,"data_offsets":%s}}' "$1" "$2" "$3"; }
zeros 256 | safetensors offsets.safetensors "$(tensor F32 '[2,32]' '[0,999]')"
broken 'has data_offsets [0, 999], but after the header the file has only 256 bytes' \
  offsets.safetensors
zeros 256 | safetensors shape.safetensors "$(tensor F32 '[3,32]' '[0,256]')"
broken "tensor 'a'" shape.safetensors
zeros 256 | safetensors huge.safetensors "$(tensor F32 '[4611686018427387904,32]' '[0,256]')"
broken 'larger than any memory' huge.safetensors
zeros 256 | safetensors i32.safetensors "$(tensor I32 '[2,32]' '[0,256]')"
broken "i32" i32.safetensors
zeros 256 | safetensors unknown.safetensors "$(tensor F99 '[2,32]' '[0,256]')"
broken 'F99' unknown.safetensors
zeros 256 | safetensors json.safetensors '{"a":{"dtype":' && broken 'json.safetensors: ' \
  json.safetensors
two='{"a":{"dtype":"BF16","shape":[2,32],"data_offsets":[0,128]},'
two+='"b":{"dtype":"F32","shape":[1,32],"data_offsets":[128,256]}}'
zeros 256 | safetensors two.safetensors "$two"
broken "holds 2 tensors; one is wanted, of 'a', 'b'" two.safetensors

# Each type that is read, and odd shapes that are no error: along each axis, and along both at once.
good() { # ELEMENTS FILE
  expect 0 " $1 elements and " run --input "$2" --format mxfp8-e4m3 --dialect ocp --out good
  check "$2 leaves a valid results file" is_results_file good/results.jsonl
  rm -rf good
}
numbers 256 | npy f32.npy '<f4' '(2, 32)' && good 256 f32.npy
numbers 256 | npy swapped.npy '>f4' '(2, 32)' && good 256 swapped.npy
numbers 128 | npy f16.npy '<f2' '(2, 32)' && good 256 f16.npy
numbers 128 | safetensors bf16.safetensors "$(tensor BF16 '[2,32]' '[0,128]')"
good 256 bf16.safetensors
numbers 4 | npy scalar.npy '<f4' '()' && good 4 scalar.npy
numbers 132 | npy row.npy '<f4' '(33,)' && good 132 row.npy
numbers 144 | npy cube.npy '<f4' '(2, 3, 6)' && good 144 cube.npy
head -c 128 /dev/zero | tr '\0' '\377' | npy nan.npy '<f4' '(1, 32)' && good 128 nan.npy
: | npy nothing.npy '<f4' '(0, 32)'
expect 77 'Nothing was tested' run --input nothing.npy --out nothing

# A wrong device is found with the user's tensor too.
expect 1 'Not conformant' run --input f32.npy --out canary \
  --device "$lib/mutants/mutants.so:bug=canary"
check 'the repro line names the file' grep -q 'data=file:f32.npy' stdout

# A case takes what the file has, and no value twice.
refuse 2 'f32.npy: holds 64 values of shape 2x32, and the case asks for 128 of shape 4x32' \
  replay 'quantize format=mxfp8-e4m3 dialect=ocp shape=4x32 data=file:f32.npy'
expect 0 'pass_exact' replay \
  'quantize format=mxfp8-e4m3 dialect=ocp shape=1x32 data=file:f32.npy index=1'

# Contradictions, and a file that changed between a run and its --resume.
refuse 2 'leave --suite out' run --input f32.npy --suite convert --out refused
cp f32.npy changing.npy
expect 0 'No fault found' run --input changing.npy --out changed
head -n 20 changed/results.jsonl >part && mv part changed/results.jsonl
cp changed/results.jsonl before
numbers 512 | tail -c 256 | npy changing.npy '<f4' '(2, 32)'
printf '\x41' | dd of=changing.npy bs=1 seek=131 conv=notrunc status=none
refuse 2 'cannot resume, table_hashes' run --input changing.npy --out changed --resume
check 'a refused --resume changes nothing' cmp before changed/results.jsonl
cp f32.npy changing.npy
expect 0 'mxcheck: 19 of ' run --input changing.npy --out changed --resume
# A suite file may be a pipe, which can be read but once.
expect 0 'all of 1 case pass' run --level smoke --out piped --suite-file \
  <(echo 'smoke convert format=e4m3 dialect=ocp input=f32 layout=dense shape=4x32 data=random.bits')
finish
