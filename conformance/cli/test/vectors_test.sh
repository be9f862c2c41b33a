#!/usr/bin/env bash
# Vectors for testbenches: four forms of the same requests and right answers, each written twice to
# the same bytes, read back by a script that shares nothing with mxcheck, and held to what a device
# answered; and what is refused. Run by ctest with the program and a folder to work in.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
reader="$(dirname "${BASH_SOURCE[0]}")/vectors_check.py"
[ -f "$reader" ] || reader="$OLDPWD/$reader"
blocks='axis=row data=edge.special'
{
  echo "smoke quantize format=mxfp8-e4m3,mxfp4-e2m1 dialect=ocp input=f32,bf16 shape=3x70 $blocks"
  echo 'smoke quantize format=mxfp8-e4m3 dialect=nv input=f32 axis=both shape=64x64 data=edge.tie'
  echo "smoke quantize format=mxfp4-e2m1 dialect=ocp input=f32 packing=low_first scales=128x4" \
    "shape=2x64 data=edge.tie"
  echo 'smoke quantize format=nvfp4 dialect=te-nvfp4 input=bf16 shape=2x32 data=edge.mixed'
  echo 'smoke dequantize format=mxfp6-e3m2 dialect=ocp output=f32 shape=2x64 data=codes.all'
  echo 'smoke gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=16x16x64 data=gemm.exact-signs'
} >v.suite
plan=(gen --suite-file v.suite --level smoke)
run_forms() { # FOLDER
  mkdir -p "$1"
  for form in readmemh csv json npz; do
    local target=$1/v.$form
    [ $form = readmemh ] && target=$1/v.hex/
    expect 0 ' bytes of tensors' "${plan[@]}" --form $form --expected --out "$target"
  done
}
disagrees() { # SENTENCE of the reader about the folder again
  check "a plant is seen: $1" never python3 "$reader" again
  python3 "$reader" again >told 2>&1
  check "and said: $1" grep -qF "$1" told
}
run_forms once
run_forms again
check 'the same plan makes the same bytes' diff -r once again
expect 0 'requests' "${plan[@]}" --out once/v.pack
expect 0 'answers' answer once/v.pack --device cpu --out once/v.answers
if [ -n "$(type -P python3)" ]; then
  check 'the four forms hold the same, with their digests' python3 "$reader" once
  cat check
  # One digit of a right answer, of an input, of what the device said.
  sed -i '3s/[0-9a-f]/x/;3y/x/0/' again/v.hex/0001/expected_elements.hex
  cp once/v.pack once/v.answers again
  disagrees '0001/expected_elements: another digest'
  rm -r again && cp -r once again
  sed -i 's/,0,1,./,0,1,e/' again/v.csv
  disagrees 'v.csv holds other codes'
  cp once/v.csv again
  sed -i '/^[0-9a-f]/s/^../ee/' again/v.answers
  disagrees 'a device gave other bits'
else
  echo "python3 is not here: nothing read the vectors"
fi
expect 0 'wrote inputs.csv' "${plan[@]}" --form csv --out inputs.csv
check 'without --expected there is no answer' never grep -q expected_ inputs.csv
product='smoke gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=16x16x64'
echo "$product model=bounded data=gemm.uniform" >b.suite
expect 0 '1 request without right answers' gen --suite-file b.suite --level smoke --form json \
  --expected --out bounded.json
check 'and the file says why' grep -q '"unanswered":"model=bounded' bounded.json

refuse 2 '--expected goes with the forms readmemh' "${plan[@]}" --expected --out no.pack
refuse 2 'once exists; --form readmemh' "${plan[@]}" --form readmemh --out once
refuse 2 'cannot be written' "${plan[@]}" --form npz --out none/v.npz
refuse 2 'no file that could be replaced' "${plan[@]}" --form csv --out once
refuse 2 'more than --max-bytes 1000; --shard I/N' "${plan[@]}" --form csv --max-bytes 1000 \
  --out large
for form in readmemh csv json npz; do
  (
    trap '' XFSZ
    ulimit -f 1
    exec "$mxcheck" "${plan[@]}" --expected --form $form --out part
  ) >stdout 2>stderr
  check "vectors in $form that are not written to their end leave nothing behind" \
    [ "$(grep -c 'cannot be written' stderr)/$(find . -name 'part*' | wc -l)" = 1/0 ]
done

finish
