#!/usr/bin/env bash
# run --baseline: what passed before and does not any more is worse, whatever the rest says.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

some=(run --level smoke --suite quantize --dialect ocp)
less=(--device "$lib/minimal_plugin.so")
expect 0 'No fault found' "${some[@]}" --out before
expect 0 'No fault found' "${some[@]}" --out same --baseline before
check 'the record says against what' grep -q '"--baseline=before"' same/results.jsonl

# A device that refuses what it passed: green without a baseline, and not with one.
expect 0 'No fault found' "${some[@]}" "${less[@]}" --out less
expect 1 'Worse than before: all of 2 cases that the device supports pass' \
  "${some[@]}" "${less[@]}" --out less --baseline before
worse='WORSE THAN THE BASELINE before: of 35 cases that passed there 33 do not any more'
check 'the sentence counts' grep -q "$worse (33 not_supported)" stdout
check 'the record has the exit code' grep -q '"exit_code":1,"unmet":\["WORSE' less/results.jsonl
for file in report.html report.md; do
  check "$file has it" grep -q 'WORSE THAN THE BASELINE' "less/$file"
done
check 'JUnit has an error' grep -q '<error.*WORSE THAN' less/junit.xml
expect 0 'Worse than before' report less

# What is not run any more is worse, too; what is new promises nothing.
expect 1 '(30 not run' "${some[@]}" --format mxfp4-e2m1 --out few --baseline before
expect 0 'No fault found' "${some[@]}" --out more --baseline few

# The folder of the run itself: held against the record that it replaces.
cp -r before itself
expect 1 'Worse than before' "${some[@]}" "${less[@]}" --out itself --baseline itself

# A baseline that promises nothing, and one of a part.
refuse 2 '--baseline none: none/results.jsonl: cannot open' "${some[@]}" --baseline none --out never
mkdir cut && head -n 3 before/results.jsonl >cut/results.jsonl
refuse 2 '--baseline cut: that run was interrupted' "${some[@]}" --baseline cut --out never
refuse 2 'give it to mxcheck merge' "${some[@]}" --baseline before --shard 0/2 --out never
check 'nothing was begun' [ ! -e never ]
for i in 0 1; do
  expect 0 'No fault found' "${some[@]}" "${less[@]}" --shard "$i/2" --out part
done
sed -i '1s/"process","value":"[0-9]*"/"process","value":"1"/' part/*/results.jsonl
expect 0 'No fault found' merge part --out whole
expect 1 'Worse than before' merge part --out whole --baseline before
finish
