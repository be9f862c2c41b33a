# shellcheck shell=bash
# What the scenes of this folder share: run the program as a user does, check exit code and
# sentence, make small tensor files. Sourced by the *_test.sh; knows the program by its path alone.
set -uo pipefail
mxcheck=$1
work=$2
lib=$3 # where the build puts its plug-ins
failures=0
checks=0
skipped=77
unset NO_COLOR CLICOLOR_FORCE
export LC_ALL=C

rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

fail() { # SENTENCE [FILE to show]
  failures=$((failures + 1))
  printf 'FAILED %s: %s\n' "$(caller_line)" "$1"
  if [ -n "${2:-}" ]; then head -n 20 "$2" | sed 's/^/    /'; fi
}

# The line of the scene, not of this file.
caller_line() {
  local depth=0
  while [[ "${BASH_SOURCE[depth]}" == *scenes.sh ]]; do depth=$((depth + 1)); done
  printf '%s:%s' "$(basename "${BASH_SOURCE[depth]}")" "${BASH_LINENO[depth - 1]}"
}

# expect CODE TEXT ARGUMENT...: runs mxcheck; TEXT must be in what it prints. Leaves the output in
# the files stdout and stderr of $work. Its limit is there to name the line of a hang before ctest
# ends the whole script, not to time a busy machine.
expect() {
  local code=$1 text=$2 got=0
  shift 2
  checks=$((checks + 1))
  timeout $((540 * ${MX_TIME_FACTOR:-1})) "$mxcheck" "$@" \
    >"$work/stdout" 2>"$work/stderr" </dev/null || got=$?
  # An emulator says itself, where the program would, what signal ended a device's process.
  [ -z "${MX_EMULATED:-}" ] || sed -i '/^qemu: uncaught target signal/d' "$work/stderr"
  cat "$work/stdout" "$work/stderr" >"$work/both"
  if [ "$got" -ne "$code" ]; then
    fail "exit code $got, not $code: mxcheck $*" "$work/both"
  elif ! grep -qF -e "$text" "$work/both"; then
    fail "nothing says \"$text\": mxcheck $*" "$work/both"
  fi
}

# refuse CODE TEXT ARGUMENT...: as expect; the only output is one sentence on stderr.
refuse() {
  expect "$@"
  checks=$((checks + 1))
  if [ -s "$work/stdout" ]; then fail "a refusal that also writes to stdout: ${*:3}" stdout; fi
  if [ "$(wc -l <"$work/stderr")" -ne 1 ] || ! grep -q '^mxcheck: .' "$work/stderr"; then
    fail "not one sentence that begins with mxcheck: ${*:3}" "$work/stderr"
  fi
}

# check SENTENCE COMMAND...: the command must succeed.
check() {
  local sentence=$1
  shift
  checks=$((checks + 1))
  "$@" >"$work/check" 2>&1 || fail "$sentence" "$work/check"
}

never() { ! "$@"; }

# within_seconds COUNT COMMAND...: the command succeeds now or soon.
within_seconds() {
  local i
  for ((i = 0; i < $1 * 100; ++i)); do
    if "${@:2}"; then return; fi
    sleep 0.01
  done
  false
}

# A program that has only begun would be killed by an interrupt that it is going to handle.
handles_interrupts() { grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"; } # PID

# Whole lines, each an object of a known kind, the header first, an index at most once.
is_results_file() {
  local lines kinds
  lines=$(wc -l <"$1") && [ "$lines" -gt 0 ] || return 1
  [ "$(tail -c 1 "$1" | od -An -tx1 | tr -d ' ')" = 0a ] || return 1
  kinds=$(grep -cE '^\{"kind":"(header|case|footer)",.*\}$' "$1")
  [ "$kinds" = "$lines" ] && [[ $(sed -n 1p "$1") = '{"kind":"header"'* ]] || return 1
  [ -z "$(case_lines "$1" | cut -d, -f2 | sort | uniq -d)" ] || return 1
  if [ -n "$(type -P python3)" ]; then
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$1"
  fi
}

case_lines() { grep '^{"kind":"case"' "$1"; }
same_cases() { cmp <(case_lines "$1") <(case_lines "$2"); }

# bytes_le COUNT NUMBER: the number as little-endian bytes.
bytes_le() {
  local i
  for ((i = 0; i < $1; ++i)); do
    # shellcheck disable=SC2059
    printf "\\x$(printf '%02x' $((($2 >> (8 * i)) & 255)))"
  done
}

# npy FILE TYPE SHAPE: a .npy with the bytes of standard input.
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }" padding
  padding=$(((64 - (10 + ${#header} + 1) % 64) % 64))
  {
    printf '\x93NUMPY\x01\x00'
    bytes_le 2 $((${#header} + padding + 1))
    printf '%s%*s\n' "$header" "$padding" ''
    cat
  } >"$1"
}

# safetensors FILE JSON: a .safetensors with the bytes of standard input.
safetensors() {
  { bytes_le 8 ${#2} && printf '%s' "$2" && cat; } >"$1"
}

zeros() { head -c "$1" /dev/zero; }
# Finite numbers in every type that is read, of both signs, whatever the order of the bytes.
numbers() { # COUNT of bytes
  local i
  for ((i = 0; i < $1; ++i)); do bytes_le 1 $(((i * 37 + 11) % 96 + i / 4 * 5 % 3 % 2 * 128)); done
}

finish() {
  printf '%s checks, %s failures\n' "$checks" "$failures"
  [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
  exit
}
