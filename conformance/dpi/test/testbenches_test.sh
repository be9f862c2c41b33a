#!/usr/bin/env bash
# Builds the example testbenches under Verilator and runs them: right designs pass, each planted
# defect fails, and the vectors of `mxcheck gen` with one wrong digit fail, too. Run by ctest with
# the program, the library, the source tree and a folder to work in. 77: no Verilator.
set -euo pipefail
mxcheck=$1 library=$2 tree=$3 work=$4
dpi=$tree/conformance/dpi
failures=0

if ! command -v verilator >/dev/null; then
  echo "skipped: there is no verilator here (Debian's 5.006 was seen to do)"
  exit 77
fi
version=$(verilator --version | awk '{ print $2 }')
if [ "${version%%.*}" -lt 5 ]; then
  echo "skipped: Verilator $version has no --binary; 5.006 was seen to do"
  exit 77
fi
rm -rf "$work"
mkdir -p "$work"
cd "$work"

build() { # TOP FILE...
  local top=$1
  shift
  MAKEFLAGS='OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0' \
    verilator --binary --timing -Wno-fatal -j 1 --Mdir "$top" -o "$top" --top "$top" \
    "-I$dpi/examples" \
    -CFLAGS "-I$tree -I$tree/conformance/library" \
    -LDFLAGS "$library -Wl,-rpath,$(dirname "$library")" "$@" >"$top.log" 2>&1 ||
    { tail -n 20 "$top.log" && exit 1; }
}

# run CODE TEXT COMMAND...: 0 or 1 for success and failure; TEXT must be in what it prints.
run() {
  local code=$1 text=$2 got=0
  shift 2
  sh -c '"$@"; exit $?' run "$@" >output 2>&1 || got=1
  if [ "$got" -eq "$code" ] && grep -qF -e "$text" output; then return; fi
  failures=$((failures + 1))
  printf 'FAILED: ended with %s, and %s was expected with "%s": %s\n' "$got" "$code" "$text" "$*"
  head -n 20 output
}

build dpi_tb "$dpi"/{mx_dpi_pkg,mx_scoreboard_pkg,examples/tiny_quantizer,examples/dpi_tb}.sv \
  "$dpi/mx_dpi.c"
run 0 MX_PASSED dpi_tb/dpi_tb
cat output
run 1 'codes, 0 scales), 0 with X' dpi_tb/dpi_tb +defect=1 # sticky bits lost
for defect in 2 3 4; do # amax without the last element; the scale before; two elements exchanged
  run 1 MX_FAILED dpi_tb/dpi_tb +defect=$defect
  grep -q '^MX_WRONG block' output || { echo "FAILED: no block is named" && failures=1; }
done

build readmemh_tb "$dpi"/examples/{tiny_quantizer,readmemh_tb}.sv
"$mxcheck" gen --form readmemh --expected --suite quantize --format mxfp8-e4m3 --dialect ocp \
  --level smoke --out vectors >/dev/null
run 0 MX_PASSED readmemh_tb/readmemh_tb +vectors=vectors
cat output
for defect in 1 2 3 4; do
  run 1 MX_FAILED readmemh_tb/readmemh_tb +vectors=vectors +defect=$defect
done
run 1 'there is no none/index.txt' readmemh_tb/readmemh_tb +vectors=none
sed -i '3s/^./f/' vectors/0001/expected_scales.hex
run 1 ' 1 scales wrong' readmemh_tb/readmemh_tb +vectors=vectors
times >times
printf '%s: user and system time of all that ran here\n' "$(sed -n 2p times)"
[ "$failures" -eq 0 ]
