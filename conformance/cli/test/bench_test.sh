#!/usr/bin/env bash
# mxcheck bench and the comparison of two: what is refused, what is recorded, which exit codes. No
# time is held to a number, for the machine does other things too.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
quick=(bench --milliseconds 5 --shape 32x256 --gemm-shape 32x32x32 --type f32 --format mxfp8-e4m3)

refuse 2 'zeros is refused: zeros are faster' "${quick[@]}" --data zeros --out never
refuse 2 "unknown data 'realistics'; did you mean 'realistic'?" "${quick[@]}" --data realistics
refuse 2 "unknown place 'cdua'; did you mean 'cuda'?" "${quick[@]}" --place cdua
refuse 2 "unknown operation 'quantise'" "${quick[@]}" --operation quantise
refuse 2 "unknown format 'mxfp8-e4m4'" "${quick[@]}" --format mxfp8-e4m4
refuse 2 "unknown dialect 'opc'" "${quick[@]}" --dialect opc
refuse 2 "shape '0x32' is not ROWSxCOLUMNS" "${quick[@]}" --shape 0x32 --out never
refuse 2 "shape '32x32' is not MxNxK" bench --operation gemm --gemm-shape 32x32 --out never
refuse 2 'does not exist' "${quick[@]}" --device ./none.so
check 'nothing was written' [ ! -e never ]

expect 0 'wrote a/bench.jsonl: 4 rows of the device' \
  "${quick[@]}" --operation quantize --operation dequantize --out a
for text in 'copy 32x256 f32, cold' 'quantize 32x256 f32 to mxfp8-e4m3 ocp, warm' \
  'dequantize 32x256 mxfp8-e4m3 ocp to f32, cold'; do
  check "a row of $text" grep -qE "^$text +[0-9.]+ us .* GB/s .* %  spread .* noise" stdout
done
check 'the header names data, place and clock' grep -q \
  '^{"kind":"bench".*"device":"cpu","data":"realistic","place":"host","clock":"host"' a/bench.jsonl
check 'six rows are recorded' [ "$(grep -c '^{"kind":"row"' a/bench.jsonl)" -eq 6 ]

decides='"--place=host","--operation=quantize","--operation=dequantize","--format=mxfp8-e4m3"'
check 'the header has all that decides the rows' grep -q \
  "$decides"',"--type=f32","--shape=32x256","--gemm-shape=32x32x32"' a/bench.jsonl
check 'a whole benchmark has a last line' [ "$(tail -n 1 a/bench.jsonl)" = '{"kind":"end"}' ]
cp a/bench.jsonl before
expect 0 'the earlier results are now a/bench.previous.jsonl' \
  "${quick[@]}" --operation quantize --operation dequantize --out a
check 'the earlier benchmark is kept' cmp before a/bench.previous.jsonl

# The second format has a dialect of its own.
expect 0 'to nvfp4 te-nvfp4, number given, cold' "${quick[@]}" --format nvfp4 \
  --operation quantize --out mixed
check 'the first has its own, too' grep -q 'quantize 32x256 f32 to mxfp8-e4m3 ocp, cold' stdout
check 'neither is refused' [ "$(grep -c 'not measured' stdout)" -eq 0 ]
expect 0 'to nvfp4 te-nvfp4, number given, cold' bench --milliseconds 5 --shape 32x256 \
  --type f32 --format nvfp4 --operation quantize --out usual

# A device that does none of it: its reasons are rows, and nothing was tested.
expect 77 'not measured: ' "${quick[@]}" \
  --device "$lib/test_plugins/test_plugin_message_without_end.so" --out none
check 'the reason is recorded' grep -q '"samples":0' none/bench.jsonl

# Against itself nothing is slower; with other numbers it is.
expect 0 '0 FASTER, 0 SLOWER, 0 UNCERTAIN' report a a
with() { # FOLDER SED: a copy of the benchmark with other numbers
  mkdir "$1" && sed -E "$2" a/bench.jsonl >"$1/bench.jsonl"
}
numbers='("seconds"|"low"|"high"):[0-9.e+-]+'
same='s/"quarters":\[[^]]*\]/"quarters":[1.0,1.0,1.0,1.0]/'
with quiet "$same; /\"row\"/s/$numbers/\1:1.0/g"
with slow "$same; /\"row\"/s/$numbers/\1:1.0/g; /\"quantize\"/s/:1\.0/:2.0/g"
with unsure "$same; /\"row\"/s/$numbers/\1:1.0/g; /\"quantize\"/s/:1\.0/:1.007/g"
with fewer "$same; /\"row\"/s/$numbers/\1:1.0/g; /\"dequantize\"/d"
with other_data 's/"data":"realistic"/"data":"subnormals"/'
with cut '/"end"/d'
with broken '2s/"samples":[0-9]+/"samples":0/'
expect 1 '4 SAME, 0 FASTER, 2 SLOWER, 0 UNCERTAIN' report quiet slow
check 'a slower row is named' grep -qE '^SLOWER +quantize .* \+100\.0 %' stdout
expect 0 '2 FASTER, 0 SLOWER' report slow quiet
expect 4 '0 SLOWER, 2 UNCERTAIN' report quiet unsure
expect 4 'only in the first: dequantize' report quiet fewer
expect 4 'cut: this benchmark was interrupted' report a cut
refuse 2 'do not measure the same thing; data: "realistic" and "subnormals"' report a other_data
refuse 2 'broken/bench.jsonl, line 2: the numbers cannot be measurements' report a broken
refuse 2 'nowhere/bench.jsonl: cannot open' report a nowhere
refuse 2 'report takes one folder, or two' report a a a
finish
