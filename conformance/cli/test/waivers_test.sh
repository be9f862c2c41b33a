#!/usr/bin/env bash
# Waivers: what they excuse, what they never excuse, and what is said when they do not hold.
# Run by ctest with the program, a folder to work in, the folder of the plug-ins and the example.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
example=$4
mutant=$lib/mutants/mutants.so:bug=ties_away
run=(run --level smoke --suite quantize --dialect nv --format mxfp8-e4m3 --device "$mutant")

# waiver FILE [KEY VALUE]...: a good waiver, with other values where asked for.
waiver() {
  local file=$1 key
  shift
  local -A value=([device]='"mutants.so:bug=ties_away"' [case]='"quantize format=mxfp8-*"'
    [mismatch]='"tie"' [reason]='"planted"' [link]='"https://example.org/1"' [owner]='"Ada"'
    [expires]=2099-12-31)
  while [ $# -gt 0 ]; do
    value[$1]=$2
    shift 2
  done
  echo '[[waiver]]' >>"$file"
  for key in device case mismatch reason link owner expires; do
    echo "$key = ${value[$key]}" >>"$file"
  done
}

# The example of the source tree, on the bug it is made for: no pass, and no failure.
expect 1 'FAIL quantize mxfp8-e4m3' "${run[@]}" --out without
expect 0 'WAIVED' "${run[@]}" --waivers "$example" --out with
check 'the console names reason, owner and last day' grep -q \
  'waived: .* cases, tie, until 2099-12-31, the tests of this program: planted: ties' stdout
check 'no warning' never grep -q '^mxcheck: ' stderr
check 'no waived case is called a pass' never grep -qE 'all of [0-9,]+ cases pass' stdout
check 'the results file is one' is_results_file with/results.jsonl
check 'cases are recorded as waived' grep -q '"verdict":"waived"' with/results.jsonl
check 'no case that failed is left' never grep -q '"verdict":"fail"' with/results.jsonl
check 'as many are waived as failed' [ "$(grep -c '"verdict":"waived"' with/results.jsonl)" = \
  "$(grep -c '"verdict":"fail"' without/results.jsonl)" ]
for file in report.html report.md junit.xml; do
  for text in 'ties are rounded away from zero' 'the tests of this program' '2099' 'waived'; do
    check "$file says $text" grep -q "$text" "with/$file"
  done
done
check 'JUnit counts a waived case as skipped' \
  grep -q '<skipped message="waived: until' with/junit.xml
expect 0 'WAIVED' "${run[@]}" --waivers "$example" --strict --out with
check 'report shows them from the file alone' eval \
  'cp with/report.md before && "$mxcheck" report with && cmp before with/report.md'

# replay and check take them too.
line=$(grep -m 1 '"verdict":"fail"' without/results.jsonl |
  grep -o '"case":"[^"]*"' | cut -d'"' -f4)
expect 1 'fail: quantize' replay "$line" --device "$mutant"
expect 0 'waived: quantize' replay "$line" --device "$mutant" --waivers "$example"
"$mxcheck" gen --level smoke --suite quantize --dialect nv --format mxfp8-e4m3 --out nv.pack \
  >/dev/null && "$mxcheck" answer nv.pack --device "$mutant" \
  --out mutants.so:bug=ties_away >/dev/null
expect 1 'Not conformant' check nv.pack mutants.so:bug=ties_away --out checked
expect 0 'WAIVED' check nv.pack mutants.so:bug=ties_away --waivers "$example" --out checked

# A class that is not covered, a device that is not meant: still a failure.
waiver other_class.toml mismatch '"scale"'
expect 1 'Not conformant' "${run[@]}" --waivers other_class.toml --out other
check 'and the waiver is not needed' grep -q 'warning: waiver 1 was not needed' stderr
check 'the report says so' grep -q 'not needed' other/report.md
expect 1 'waiver 1 was not needed' "${run[@]}" --waivers other_class.toml --strict --out other
waiver other_device.toml device '"cuda"'
expect 1 "a waiver for another device, 'cuda'" "${run[@]}" --waivers other_device.toml --out other
expect 1 "a waiver for another device, 'cuda'" \
  "${run[@]}" --waivers other_device.toml --strict --out other

# Of a case of rows and columns at once, the columns alone.
columns='quantize format=mxfp8-e4m3 axis=both shape=70x41 data=random.spread'
planted=$lib/mutants/mutants.so:bug=both_columns_scaled_as_rows
for axis in row col; do
  for class in scale value; do
    waiver "$axis.toml" device '"mutants.so:bug=both_*"' mismatch "\"$class\""
    echo "axis = \"$axis\"" >>"$axis.toml"
  done
done
expect 1 'fail: quantize' replay "$columns" --device "$planted" --waivers row.toml
expect 0 'waived: quantize' replay "$columns" --device "$planted" --waivers col.toml
run_columns=(run --suite-file columns.suite --level smoke --device "$planted")
echo "smoke $columns" >columns.suite
expect 0 'cases, scale of axis col, until' "${run_columns[@]}" --waivers col.toml --out columns
for file in report.html report.md; do
  check "$file says the axis" grep -q 'scale of axis col' "columns/$file"
done
expect 1 'was not needed: quantize format=mxfp8-*, scale of axis row' \
  "${run_columns[@]}" --waivers row.toml --out columns

# A crash is nobody's to excuse.
waiver crash.toml device '"mutants.so:bug=crash_on_nan"'
expect 3 'Not conformant' run --level smoke --suite quantize --dialect ocp \
  --device "$lib/mutants/mutants.so:bug=crash_on_nan" --waivers crash.toml --out crash

# Unneeded, unmatched, expired: warnings, and under --strict exit 2.
right=(run --level smoke --suite quantize --dialect nv --format mxfp8-e4m3)
waiver unneeded.toml device '"cpu"'
expect 0 'warning: waiver 1 was not needed' "${right[@]}" --waivers unneeded.toml --out right
expect 2 'waiver 1 was not needed' "${right[@]}" --waivers unneeded.toml --strict --out right
check 'the footer has the exit code' grep -q '"exit_code":2' right/results.jsonl
waiver unmatched.toml device '"cpu"' case '"quantize format=mxfp4"'
expect 0 'unmatched.toml:1: the waiver fits no case of this run' \
  "${right[@]}" --waivers unmatched.toml --out right
refuse 2 'unmatched.toml:1: the waiver fits no case of this run' \
  "${right[@]}" --waivers unmatched.toml --strict --out never
waiver expired.toml expires 2026-01-31
expect 1 'expired.toml:1: the waiver expired after 2026-01-31; owner Ada' \
  "${run[@]}" --waivers expired.toml --out expired
check 'an expired waiver stands in the report' grep -q '| expired |' expired/report.md
refuse 2 'expired.toml:1: the waiver expired after 2026-01-31' \
  "${run[@]}" --waivers expired.toml --strict --out never
check 'under --strict nothing ran' [ ! -e never ]

# Files that nobody can mean.
refuse 2 'waivers: none.toml cannot be read' "${run[@]}" --waivers none.toml --out never
refuse 2 'waivers: . cannot be read: a directory' "${run[@]}" --waivers . --out never
refuse 2 '--waivers is missing' "${run[@]}" --strict --out never
waiver all.toml case '"*"'
refuse 2 'all.toml:1: the case pattern fits every case' "${run[@]}" --waivers all.toml --out never
sed '/^owner/d' all.toml >ownerless.toml
refuse 2 "ownerless.toml:1: the waiver has no 'owner'" \
  "${run[@]}" --waivers ownerless.toml --out never
waiver day.toml expires 2026-02-30
refuse 2 'day.toml:8: ' "${run[@]}" --waivers day.toml --out never

# A run that goes on must go on with the same waivers.
expect 0 'WAIVED' "${run[@]}" --waivers "$example" --out resumed
head -n 3 resumed/results.jsonl >part && mv part resumed/results.jsonl
expect 2 'cannot resume' "${run[@]}" --waivers unneeded.toml --out resumed --resume
expect 0 'WAIVED' "${run[@]}" --waivers "$example" --out resumed --resume
finish
