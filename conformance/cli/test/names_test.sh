#!/usr/bin/env bash
# One set of names: whatever list prints as a format or a dialect, no command calls it unknown. What
# a command does not do it says in a sentence that names it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

device=$lib/test_plugins/test_plugin_none.so # refuses every question but one
bytes_le 4 1065353216 | npy x.npy '<f4' '(1, 1)'
check 'formats are listed' "$mxcheck" list formats --json
cp check formats
check 'quantizers are listed' "$mxcheck" list quantizers --json
cp check quantizers
names_in() { sed -n 's/^    "name": "\(.*\)",$/\1/p' "$1"; }
names_in quantizers >dialects
grep '"text": ".* elements, one ' -B1 formats | names_in /dev/stdin >blocks
check 'all block formats' [ "$(wc -l <blocks)" -ge 21 ]
check 'all quantizers' [ "$(wc -l <dialects)" -ge 72 ]

# ask FORMAT DIALECT: every command that takes both.
ask() {
  one run --device "$device" --level smoke --format "$1" --dialect "$2" --out run
  one replay "quantize format=$1 dialect=$2 shape=1x1 data=random.spread" --device "$device"
  one explain --values 1 --format "$1" --dialect "$2"
  one gen --level smoke --format "$1" --dialect "$2" --out pack
  one identify --device "$device" --format "$1" --dialect "$2"
  one fuzz --device "$device" --format "$1" --dialect "$2" --blocks 1 --out fuzz
  one relate --device "$device" --op quantize --format "$1" --dialect "$2" --samples 1
  one accuracy --data normal --elements 32 --format "$1" --dialect "$2"
  one train --steps 1 --format "$1" --gradient-format "$1" --dialect "$2"
  one bench --device "$device" --operation quantize --shape 1x1 --milliseconds 1 --format "$1" \
    --dialect "$2" --out bench
  one quantize x.npy --format "$1" --dialect "$2" --out q.safetensors
  one gemm q.safetensors q.safetensors --output-format "$1" --dialect "$2" --out d.safetensors
}

# One command: no name is unknown, and what ends in exit code 2 says one sentence.
one() {
  local got=0
  checks=$((checks + 1))
  "$mxcheck" "$@" >stdout 2>stderr </dev/null || got=$?
  if grep -qiE "unknown (block )?(format|dialect)|no format of blocks" stdout stderr; then
    fail "a listed name is unknown to: $*" stderr
  elif [ "$got" -gt 5 ] && [ "$got" -ne 77 ] || [ "$got" = 3 ]; then
    fail "exit code $got: $*" stderr
  elif [ "$got" = 2 ] && [ "$(grep -c '^mxcheck: .' stderr)" -ne 1 ]; then
    fail "not one sentence: $*" stderr
  fi
}

# Each dialect with the first of its formats, a cast with one that it does not quantize, and each
# format with the first of its dialects.
awk -F'"' '$2 == "name" { name = $4 } $2 == "quantizes" || $2 == "formats" {
  count = split($4, formats, ", ")
  if ($4 ~ /^nothing/) { print "mxfp8-e4m3", name; next }
  print formats[1], name
  for (i = 2; i <= count; ++i) if (!(formats[i] in seen)) print formats[i], name
  for (i = 1; i <= count; ++i) seen[formats[i]] = 1
}' quantizers >pairs
check 'each format has a dialect' \
  [ "$(cut -d' ' -f1 pairs | sort -u | wc -l)" = "$(wc -l <blocks)" ]
check 'each dialect stands there' \
  [ "$(cut -d' ' -f2 pairs | sort -u | wc -l)" = "$(wc -l <dialects)" ]
while read -r format dialect; do ask "$format" "$dialect"; done <pairs
# Names that do not go together.
ask nvfp4 ocp
ask mxfp8-e4m3 te-nvfp4
ask fp8-e4m3-tensor te-fp8-block
ask mxfp4-e2m1 nexus

finish
