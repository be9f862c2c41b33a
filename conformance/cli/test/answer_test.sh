#!/usr/bin/env bash
# A device of the program answers a pack, and what it wrote is judged; with bits that are not its
# own it fails. Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
line='smoke quantize format=mxfp8-e4m3 input=f32 axis=row layout=dense dialect=ocp,nv shape=6x32'
{
  echo "$line data=edge.tie index=0"
  echo "$line scales=128x4 packing=bytes data=edge.tie index=0"
} >some.suite
expect 0 '4 requests' gen --suite-file some.suite --level smoke --out some.pack

# Its own answers, with where they come from on top.
expect 0 '4 answers, 0 not supported' answer some.pack --device cpu --out some.answers \
  --note 'asked by a test'
head -n 1 some.answers >first_line
check "the first line says who answered and when" \
  grep -qE '^# Answers of .*, [0-9]{4}-[0-9]{2}-[0-9]{2}, by mxcheck answer of mxcheck' first_line
check "the second line is the note" [ "$(sed -n 2p some.answers)" = '# asked by a test' ]
check "the hello holds the facts" grep -q '^{"mxpipe":1,"form":"hex","facts":{"name":"' some.answers
expect 0 'No fault found: all of 4' check some.pack some.answers --out right
check "the header of the record holds the facts" grep -q '"key":"vendor"' right/results.jsonl
expect 0 'wrote again.answers' answer some.pack --out again.answers --note 'asked by a test'
check "the same device answers the same" cmp some.answers again.answers

# flipped LINE: the answers with the lowest bit of that line's first byte flipped.
flipped() {
  awk -v line="$1" 'NR == line {
    digit = substr("1032547698badcfe", index("0123456789abcdef", substr($0, 2, 1)), 1)
    $0 = substr($0, 1, 1) digit substr($0, 3)
  } 1' some.answers
}
flipped 5 >element.answers
flipped 6 >scale.answers
for wrong in element scale; do
  check "one line is another" [ "$(diff some.answers $wrong.answers | grep -c '^>')" -eq 1 ]
  expect 1 'Not conformant' check some.pack $wrong.answers --out $wrong
done

# Each recorded answer of an H200's GEMMs with the lowest bit of its last byte flipped: each fails.
vectors="$(dirname "${BASH_SOURCE[0]}")/../../vectors"
[ -d "$vectors" ] || vectors="$OLDPWD/$vectors"
for recorded in nvidia_h200_gemm nvidia_h200_gelu nvidia_h200_zeros nvidia_h200_residue; do
  awk '/^[0-9a-f]+$/ {
    digit = substr("1032547698badcfe", index("0123456789abcdef", substr($0, length($0) - 1, 1)), 1)
    $0 = substr($0, 1, length($0) - 2) digit substr($0, length($0))
    ++count
  } 1; END { print count >"flipped" }' "$vectors/$recorded.answers" >flipped.answers
  expect 1 "Not conformant: $(cat flipped) of $(cat flipped) cases did not pass" \
    check flipped.answers --out flipped_$recorded
done

# What a device refuses is an answer; where there is no other, nothing was tested.
line='smoke quantize format=mxfp8-e4m3 input=f32 axis=row layout=dense dialect=microxcaling'
echo "$line shape=1x32 data=edge.special index=0" >other.suite
expect 0 '1 requests' gen --suite-file other.suite --level smoke --out other.pack
expect 77 '0 answers, 1 not supported' answer other.pack --device cpu --out other.answers
expect 77 'othing' check other.pack other.answers --out other

# Four outputs, of which the last two are wrong.
echo 'smoke quantize format=mxfp8-e4m3 axis=both shape=33x40 data=random.spread' >both.suite
expect 0 '1 requests' gen --suite-file both.suite --level smoke --out both.pack
expect 0 '1 answers' answer both.pack --device cpu --out both.answers
expect 0 'No fault found: all of 1' check both.pack both.answers --out four
expect 0 '1 answers' answer both.pack --out columns.answers \
  --device "$lib/mutants/mutants.so:bug=both_columns_scaled_as_rows"
expect 1 'of axis col' check both.pack columns.answers --out columns

# A grouped GEMM whose D has rows of no group: they stay unwritten, and are no fault.
line='smoke gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=24x16x96 groups=0+5+0+11+1+0'
echo "$line data=gemm.exact-mantissas index=0" >grouped.suite
expect 0 '1 requests' gen --suite-file grouped.suite --level smoke --out grouped.pack
expect 0 '1 answers, 0 not supported' answer grouped.pack --device cpu --out grouped.answers
expect 0 'No fault found: all of 1' check grouped.pack grouped.answers --out grouped

# What cannot be recorded.
refuse 2 'cannot be read' answer no.pack --out no.answers
: >empty.pack
refuse 2 'holds no request' answer empty.pack --out no.answers
refuse 2 'no request that mxcheck gen writes' answer some.answers --out no.answers
refuse 2 'one line' answer some.pack --out no.answers --note $'two\nlines'
sed '1s/ inputs=[0-9a-f]*/ inputs=0123456789abcdef/' some.pack >stale.pack
check "the pack is another one" test "$(cmp -s some.pack stale.pack; echo $?)" -eq 1
refuse 2 'are not the inputs of its case' answer stale.pack --out no.answers
# Data and digest of another mxcheck, which makes other inputs.
data=$(sed -n 2p some.pack)
case $data in 00*) data=01${data:2} ;; *) data=00${data:2} ;; esac
# shellcheck disable=SC2059
digest=$(printf "$(sed 's/../\\x&/g' <<<"$data")" | sha256sum | cut -c -16)
sed "1s/ inputs=[0-9a-f]*/ inputs=$digest/;2s/.*/$data/" some.pack >other.pack
refuse 2 'made with other inputs' answer other.pack --out no.answers
sed 's| request=[0-9/]*||' some.pack >once.pack
cat once.pack once.pack >twice.pack
refuse 2 'asked for before' answer twice.pack --out no.answers
cp some.pack same.pack
refuse 2 'the pack itself' answer same.pack --out same.pack
check "and is as it was" cmp some.pack same.pack
refuse 2 'there is no device' answer some.pack --device none --out no.answers
refuse 2 'no.answers' answer some.pack --out none/no.answers
refuse 3 'nothing is recorded' answer some.pack --device-cmd "echo '{\"mxpipe\":1}'" \
  --out no.answers
mutants=$lib/mutants
refuse 3 'unwritten' answer some.pack --device "$mutants/mutants.so:bug=last_block_unwritten" \
  --out no.answers
refuse 3 'red zone' answer some.pack --device "$mutants/mutants.so:bug=scale_overwrites_red_zone" \
  --out no.answers
line='smoke quantize format=mxfp8-e4m3 input=f32 axis=row layout=dense dialect=ocp shape=300x32'
echo "$line data=random.spread index=0" >many.suite
expect 0 '1 requests' gen --suite-file many.suite --level smoke --out many.pack
refuse 3 'two runs gave different bits' answer many.pack \
  --device "$mutants/mutants.so:bug=random_flake" --out no.answers
check "a refusal leaves no file" [ ! -e no.answers ]

# Captured calls, as the Python package writes them: two rows of values, their codes and scales.
numbers 256 | npy x.npy '<f4' '(2, 32)'
expect 0 '' quantize x.npy --format mxfp8-e4m3 --dialect nv --out q.safetensors
tail -c 66 q.safetensors >q.bytes
captured() { # COMPLETE BYTE, the last scale
  rm -rf captured && mkdir captured
  local call='{\"case\":\"quantize format=mxfp8-e4m3 dialect=nv shape=2x32\",'
  call+='\"outputs\":[\"codes\",\"scales\"]}'
  local header='{"__metadata__":{"mxcheck_call":"'$call'"},'
  header+='"x":{"dtype":"F32","shape":[2,32],"data_offsets":[0,256]},'
  header+='"codes":{"dtype":"U8","shape":[2,32],"data_offsets":[256,320]},'
  header+='"scales":{"dtype":"U8","shape":[2,1],"data_offsets":[320,322]}}'
  { tail -c 256 x.npy && head -c 65 q.bytes && printf '%b' "$2"; } |
    safetensors captured/000001.safetensors "$header"
  local digest
  digest=$(sha256sum captured/000001.safetensors | cut -d' ' -f1)
  printf '{"mxcheck_capture":1,"complete":%s,"calls":[{"file":"000001.safetensors","sha256":"%s"}],
    "functions":{"f":{"seen":3,"kept":1,"left_out":{"left out by sample":2}}}}' "$1" "$digest" \
    >captured/capture.json
}
right=$(tail -c 1 q.safetensors | od -An -tx1 | tr -d ' ')
captured true "\\x$right"
expect 0 'captured f: 1 of 3 calls kept; 2 left out by sample' check captured --out held
expect 1 'Not conformant' check captured --dialect torchao-ceil --out held
captured false "\\x$right"
expect 4 'INCOMPLETE: not judged: the capture did not end' check captured --out held
captured true '\x55'
expect 1 'shape=1x32' check captured --out held
line=$(grep -o "mxcheck replay '.*" stdout | sed -n 1p)
mxcheck() { "$mxcheck" "$@"; }
eval "$line" >replayed
check "the line of a captured call repeats it" grep -q '^fail: ' replayed
zeros 2 >>captured/000001.safetensors
refuse 2 'its digest is another' check captured --out held
refuse 2 'is given alone' check captured captured --out held
refuse 2 'are for a folder of captured calls' check some.pack some.answers --dialect nv --out held
mkdir nothing
refuse 2 'holds no capture' check nothing --out held
finish
