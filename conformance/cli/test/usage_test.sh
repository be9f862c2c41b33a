#!/usr/bin/env bash
# Arguments as people mistype them: help, unknown and misspelt names, numbers that are none.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

# Every command of --help: a name of two columns under Commands.
commands=$("$mxcheck" --help | grep -oE '^  [a-z]+ +[a-z]' | awk '$1 != "mxcheck" {print $1}')
check '--help lists the commands' [ "$(wc -w <<<"$commands")" -ge 20 ]

for command in $commands; do
  expect 0 "Example:" "$command" --help
  check "the example of $command is a command line" grep -q "^  mxcheck $command" stdout
  check "$command --help states the exit codes" grep -q 'Exit codes: 0 conformant' stdout
  check "$command --help says nothing on stderr" [ ! -s stderr ]
done
expect 0 'mxcheck run --device cpu' --help
for command in $commands; do
  check "--help lists $command" grep -qE "^  $command +[a-z]" stdout
done
expect 0 'mxcheck ' --version
expect 0 'program ' doctor
expect 0 '"program"' doctor --json
expect 0 'gelu             judged under a model only' doctor
# What a device here answers is what the list says of it.
check 'a device is ready' grep -qE '^device .* ready.* axes ' stdout
grep -E '^device .* ready' stdout | while read -r _ name rest; do
  COLUMNS=200 "$mxcheck" list devices | grep "^$name " | grep -o 'axes .*' >listed
  { grep -o 'axes .*' <<<"$rest" || true; } | cmp -s - listed ||
    echo "$name is listed with '$(<listed)': $rest"
done >strangers
cat strangers
check 'the axes of devices are as listed' [ ! -s strangers ]

# help is --help.
"$mxcheck" --help >whole && "$mxcheck" run --help >of_run
expect 0 'mxcheck help COMMAND' help
check 'help prints what --help prints' cmp stdout whole
expect 0 'Usage: mxcheck run' help run
check 'help run prints what run --help prints' cmp stdout of_run
refuse 2 "unknown command 'qantize'; did you mean 'quantize'?" help qantize
refuse 2 "unknown command '--quick'; known are: run" help --quick
refuse 2 "'replay' is one argument too many for mxcheck help" help run replay
refuse 2 "unknown command 'hlep'; did you mean 'help'?" hlep

refuse 2 'a command is missing'
refuse 2 "unknown command 'runn'; did you mean 'run'?" runn
refuse 2 "unknown command 'qantize'; did you mean 'quantize'?" qantize in.npy
refuse 2 "unknown command 'zzzzzz'; known are: run" zzzzzz
refuse 2 "unknown option '--helpp'; did you mean '--help'?" --helpp
refuse 2 "unknown option '--devise' of mxcheck run; did you mean '--device'?" run --devise cpu
refuse 2 "did you mean '--device'?" run --devise=cpu
refuse 2 "'extra' is one argument too many" run extra
refuse 2 'WHAT: the value is empty' list ''
refuse 2 'CASE is required' replay

# Every name that a user types.
refuse 2 'there is no device "cpv"; did you mean "cpu"?' run --device cpv
refuse 2 'Built-in devices: cpu' run --device ''
refuse 2 "unknown dialect 'ocq'; did you mean 'ocp'?" run --dialect ocq
refuse 2 "unknown dialect 'torchao-flor'; did you mean 'torchao-floor'?" \
  run --dialect ocp,torchao-flor
refuse 2 "unknown dialect ''" run --dialect ''
refuse 2 "unknown level 'quik'; did you mean 'quick'?" run --level quik
refuse 2 "unknown suite 'quantise'; did you mean 'quantize'?" run --suite quantise
refuse 2 "unknown suite 'z*'; known are: convert" run --suite 'z*'
refuse 2 'there are no sweeps in this run: cuda has them' run --level exhaustive --suite sweep
refuse 2 "unknown list 'dialect'; did you mean 'dialects'?" list dialect
refuse 2 "unknown list 'xyzzy'; known are: devices" list xyzzy
refuse 2 "unknown level 'smok'; did you mean 'smoke'?" list cases --level smok
refuse 2 "did you mean 'quantize'?" replay 'quantise format=mxfp8-e4m3'
refuse 2 "unknown field 'shpe'; did you mean 'shape'?" \
  replay 'quantize format=mxfp8-e4m3 dialect=nv shpe=1x32'
refuse 2 "did you mean 'mxfp8-e4m3'?" \
  replay 'quantize format=mxfp8-e4m4 dialect=nv shape=1x32 data=edge.tie'
refuse 2 "the first word must be an operation" replay ''
refuse 2 "known are: smoke quick" selftest --level full
refuse 2 "unknown part of the self-test 'gqu'; did you mean 'gpu'?" selftest --on gqu
refuse 2 'no folder of planted bugs' selftest --mutants ./none
refuse 2 "no proof is named 'zzz'" prove zzz

# Numbers.
for seed in nan -1 1.5 '' 0x10 ' 1'; do
  refuse 2 "--seed '$seed' is not a whole number" run --seed "$seed"
done
refuse 2 "--seed '18446744073709551616' does not fit 64 bits" run --seed 18446744073709551616
expect 0 'No fault found' run --seed 18446744073709551615 --level smoke --suite encode_scale
for shard in 3/2 2/2 0/0 x '' 1 -1/2 0/1/2 nan/2; do
  refuse 2 "shard" run --shard "$shard"
done
refuse 2 "--jobs '1025' is more than 1024" run --jobs 1025
refuse 2 "--jobs '-1' is not a whole number" run --jobs -1
expect 77 'Nothing was tested' run --shard 98/99 --level smoke --suite dequantize
for timeout in 0 86401 9223372036854775807 18446744073709551615; do
  refuse 2 "--timeout '$timeout' is not from 1 to 86400 seconds" run --timeout "$timeout"
  refuse 2 "--timeout '$timeout'" \
    replay 'quantize format=mxfp8-e4m3 dialect=nv shape=1x32 data=edge.tie' --timeout "$timeout"
done
refuse 2 'more than 2^40 elements' \
  replay 'quantize format=mxfp8-e4m3 dialect=nv shape=99999999999x99999999999'
refuse 2 "seed 'nan' is not a whole number" \
  replay 'quantize format=mxfp8-e4m3 dialect=nv shape=1x32 data=edge.tie seed=nan'

# An option without its value, as of a variable that is not set; a name that is no text.
for option in --input --suite-file --waivers; do
  refuse 2 "$option: the value is empty" run "$option" '' --out never
done
refuse 2 '--answers: the value is empty' \
  replay 'convert format=e4m3 shape=1x1 data=bits:0' --answers ''
refuse 2 '--mutants: the value is empty' selftest --mutants ''
# An option that would do nothing.
refuse 2 '--k goes with --op gemm alone' accuracy --k 64
refuse 2 '--block goes with --op quantize alone' accuracy --op gemm --block 32
refuse 2 '--types goes with --op gemm alone' identify --types e4m3
refuse 2 '--shape goes with --census alone' identify --op gemm --shape 8x8x64
refuse 2 '--bits goes with --shape alone' relate --bits 0
refuse 2 "unknown operation 'na?me two'" replay $'na\xffme\ntwo'
for command in 'run --suite-file' 'run --waivers' 'prove --digests'; do
  # shellcheck disable=SC2086 # words
  refuse 2 '. cannot be read: a directory' $command .
done

# Lists, for people and for machines.
expect 0 'cpu ' list devices
expect 0 'torchao-floor' list dialects
expect 0 'te-nvfp4-rht' list quantizers
expect 0 'gelu               judged under a model only' list models
expect 0 'mxfp8-e4m3' list formats
expect 0 'of two as near the even one' list roundings
for rounding in nearest_away to_odd stochastic stochastic-x4; do
  check "list roundings has $rounding" grep -q "^$rounding " stdout
done
check 'and who rounds stochastically' grep -qE '^  quantizers .*te-nvfp4-sr' stdout
expect 0 'edge.tie' list families
expect 0 'smoke ' list suites
check 'list suites has the sweeps' grep -q '^sweep ' stdout
expect 0 'quantize format=mxfp8-e4m3 dialect=ocp' list cases --level smoke --suite quantize
expect 0 'quantizers ' list
check 'list says how many devices there are' grep -qE '^devices +[0-9]+  what --device takes' stdout
cp stdout numbers && sed 's/ .*//' numbers >kinds
check 'list names every list' [ "$(wc -l <kinds)" -ge 10 ]
for kind in $(<kinds); do
  expect 0 "$kind" list --help
  expect 0 '"name": ' list "$kind" --json
  if [ "$kind" != suites ]; then # of these the sweeps count as one
    counted=$(sed -nE "s/^$kind +([0-9]+) .*/\1/p" numbers)
    check "list says how many $kind there are" [ "$(grep -c '"name": ' stdout)" = "$counted" ]
  fi
  if [ -n "$(type -P python3)" ]; then
    check "list $kind --json is JSON" python3 -m json.tool stdout
  fi
done

# What is printed fits the width: 80 columns in a pipe. Only a word without a mark may be longer.
longest() { awk 'length > max { max = length } END { print max + 0 }' stdout; }
for kind in devices quantizers models formats roundings layouts families suites; do
  (unset COLUMNS && "$mxcheck" list "$kind") >stdout
  check "list $kind fits 80 columns, not $(longest)" [ "$(longest)" -le 80 ]
  COLUMNS=120 "$mxcheck" list "$kind" >stdout
  check "list $kind fits 120 columns, not $(longest)" [ "$(longest)" -le 120 ]
done
(unset COLUMNS && "$mxcheck" list cases --level smoke) >stdout
check 'case lines are never broken' never grep -qv '=' stdout

# Nothing of the refused runs may have been written but the ones that ran, into the default folder.
check 'only out/ and the notes of this test are here' \
  [ "$(find . -maxdepth 1 -type d | sort | tr '\n' ' ')" = '. ./out ' ]
finish
