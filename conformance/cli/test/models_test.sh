#!/usr/bin/env bash
# Models and GEMMs as a newcomer meets them: the rows of a machine, a run under a row, and the
# examples to copy.
#   models_test.sh MXCHECK WORK LIB EXAMPLES
# shellcheck source=scenes.sh
. "$(dirname "$0")/scenes.sh"
examples=$4
plugin=$lib/gemm_plugin/gemm_plugin.so
[ -e "$plugin" ] || plugin=$lib/gemm_plugin.so

expect 0 'hopper-half' list models --machine B200
for name in hopper-f16-f16 hopper-tf32 mma-sync-fp8 blackwell-mx blackwell-fp4; do
  check "a B200 has $name" grep -q "^$name " stdout
done
check 'and nothing of AMD' [ "$(grep -c '^cdna' stdout)" -eq 0 ]
check 'what is open is said, with its probe' grep -q 'Probe:' stdout
expect 0 'cdna3-fp8' list models --machine mi300x
expect 0 'no public source says how its matrix cores round' list models --machine MI355X
expect 0 'amx-fp8' list models --machine diamond-rapids
refuse 2 "did you mean 'b200'?" list models --machine b20
refuse 2 '--machine is for models' list formats --machine b200

# A row of the user's is printed as those of the table are; what can be no row is refused.
row='"mxcheck_model": 1, "name": "mine", "operands": ["bf16"], "products": 8, "fraction_bits": 25'
echo "{$row, \"residue_tile\": 16}" >mine.json
expect 0 '8 products a step, 25 fraction bits kept' list models --model-file mine.json
check 'with what sets it apart' grep -q 'what K leaves over of tiles' stdout
check 'and nothing but it' [ "$(grep -c standing stdout)" -eq 1 ]
echo "{$row, \"residue_tile\": 12}" >wrong.json
refuse 2 'no machine is so: a tile whose residue comes first' list models --model-file wrong.json
refuse 2 '--model-file is for models' list suites --model-file mine.json
refuse 2 'give one of them' list models --model-file mine.json --machine b200

expect 0 'No fault found' run --suite gemm --level smoke --device "$plugin" --out c
expect 0 'No fault found' run --suite gemm --level smoke \
  --device-cmd "python3 '$examples/gemm_device.py'" --out python
compared() { grep -c '"verdict":"pass' "$1/results.jsonl"; }
check 'both compared the same cases' [ "$(compared c)" -eq "$(compared python)" ]
check 'and some' [ "$(compared c)" -ge 3 ]

# A sum in binary64 is none of a tensor core, and says so on data that show it.
expect 1 'Not conformant' run --suite gemm --level smoke --model blackwell-mx --device "$plugin" \
  --out under
judged() { grep -c "$1" under/results.jsonl; }
check 'every GEMM is judged by the row' [ "$(judged 'model=blackwell-mx')" -ge 3 ]
check 'and by nothing else' [ "$(judged 'model=any\|model=bounded')" -eq 0 ]
refuse 2 'give --suite gemm' run --model blackwell-mx --device cpu --level smoke --out all
refuse 2 "did you mean 'blackwell-mx'?" run --suite gemm --model blackwel-mx --device cpu --out no
echo 'smoke gemm a=bf16 b=bf16 output=f32 shape=8x8x64 data=gemm.middle index=0' >bf16.suite
refuse 2 'model blackwell-mx multiplies e4m3 e5m2 e3m2 e2m3 e2m1, not bf16' run \
  --suite-file bf16.suite --level smoke --model blackwell-mx --device cpu --out bf16
sed 's/bf16/f16/g' bf16.suite >f16.suite
refuse 2 'model volta-f16-f16 sums in f16, and its D is f16' run --suite-file f16.suite \
  --level smoke --model volta-f16-f16 --device cpu --out f16
# Factors that no device here multiplies reach one all the same.
echo 'smoke gemm a=tf32 b=tf32 output=f32 shape=8x8x64 data=gemm.middle index=0' >tf32.suite
expect 77 'Nothing was tested' run --suite-file tf32.suite --level smoke --model hopper-tf32 \
  --device cpu --out tf32
finish
