#!/usr/bin/env bash
# The program whose oracle is broken: every command that judges, proves or emulates says so and
# ends with 5, whatever else it was asked; those that only list and report go on. Run by ctest with
# the program, a folder to work in, the folder of the plug-ins, and the same program with planted
# faults: an exact oracle that rounds ties away, a fast one that does, an exact one that crashes.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
sound=$mxcheck
shift 3

numbers 128 | npy in.npy '<f4' '(1, 32)'
expect 0 'oracle           right in ' doctor
expect 0 '' quantize in.npy --format mxfp8-e4m3 --dialect ocp --out right.safetensors
expect 0 'No fault found' run --device cpu --level smoke --suite encode_scale --out results
case='quantize format=mxfp8-e4m3 dialect=nv shape=1x32 data=edge.tie'

# Each command that asks the oracle, with arguments that the right program takes.
asking=(
  'run --device cpu --level smoke --suite encode_scale --out never'
  'gen --suite quantize --dialect ocp --level smoke --out never'
  'answer never --out never'
  'check never'
  'explain --values 1 --format mxfp8-e4m3 --dialect ocp'
  'identify --device cpu'
  'relate --device cpu'
  'fuzz --device cpu'
  'quantize in.npy --format mxfp8-e4m3 --dialect ocp --out never'
  'requantize right.safetensors --format mxfp8-e4m3 --dialect nv --out never'
  'dequantize right.safetensors --out never'
  'gemm right.safetensors right.safetensors --out never'
  'accuracy --device cpu'
  'train --device cpu'
  'bench --device cpu --out never'
  'selftest'
  'survey --device cpu --out never'
  'verify never'
  'prove'
  'diff never never'
  'audit never'
)

for mxcheck in "$@"; do
  case $mxcheck in
  *planted_exact_round) said='exact round: 29*2^-4 to e4m3, nearest_even, saturate gives 0x3f' ;;
  *planted_fast_round) said='fast round: 29*2^-4 to e4m3, nearest_even, saturate gives 0x3f' ;;
  *planted_exact_crash) said='exact decode: ' ;;
  *) fail "a broken program of no known kind: $mxcheck" ;;
  esac
  for arguments in "${asking[@]}"; do
    # shellcheck disable=SC2086 # words
    refuse 5 "this build's oracle is broken: $said" $arguments
    check 'the sentence names compiler and flags' \
      grep -qE '; built by .+ with .+; nothing was judged$' stderr
  done
  refuse 5 "this build's oracle is broken: $said" replay "$case" --device cpu
  check 'nothing was written' [ ! -e never ]
  expect 5 "oracle           this build's oracle is broken: $said" doctor
  expect 5 "\"oracle\": \"this build's oracle is broken: $said" doctor --json
  expect 0 'mxcheck ' --version
  expect 0 'Exit codes' --help
  expect 0 'Example:' quantize --help
  expect 0 'torchao-floor' list dialects
  expect 0 '' report results
done

# No command of --help was forgotten: those that do not ask are these.
mxcheck=$sound
"$mxcheck" --help | grep -oE '^  [a-z]+ +[a-z]' | awk '$1 != "mxcheck" {print $1}' | sort >commands
{ printf '%s\n' "${asking[@]}" | cut -d' ' -f1 && printf '%s\n' replay list report merge doctor; } |
  sort >known
check 'every command is known here' cmp commands known
finish
