#!/usr/bin/env bash
# Runs bootstrap in a world of stand-ins: a PATH of small scripts that log their calls, so that
# every machine can be played (bare, no sudo, no apt-get, offline) and nothing is installed.
# Run by ctest as bootstrap_test with the bootstrap to test and a folder to work in.
set -euo pipefail
bootstrap=$1
work=$2
failures=0

stand_in() { # NAME: its script is read from standard input
  { printf '#!/bin/bash\necho "%s $*" >>"%s/log"\n' "$1" "$work" && cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# A tree with the bootstrap alone, and a bare Debian: no compiler, apt-get works, the user is root.
new_world() {
  local tool
  rm -rf "$work"
  mkdir -p "$work/bin" "$work/tree" "$work/held"
  cp "$bootstrap" "$work/tree/bootstrap"
  for tool in bash cat chmod cp dirname env head mkdir nproc sed sort true; do
    ln -s "$(type -P "$tool")" "$work/bin/$tool"
  done
  : >"$work/log"
  stand_in id <<<'echo 0'
  stand_in dpkg-query <<<'exit 1'
  make_tools
  stand_in apt-get <<<"case \"\$*\" in *install*) cp '$work'/held/* '$work/bin/' ;; esac"
}

# The tools as apt-get will bring them. This cmake "builds" a program that ends with code 7.
make_tools() {
  stand_in ninja <<<''
  stand_in pkg-config <<<''
  stand_in verilator <<<''
  stand_in g++ <<<'echo 12.2.0'
  stand_in ctest <<<'exit 8'
  stand_in cmake <<SCRIPT
[ "\$1" != --version ] || echo "cmake version 3.25.1"
[ "\$1" = --build ] || exit 0
mkdir -p "$work/tree/build/release/bin"
cp "$work/held/mxcheck" "$work/tree/build/release/bin/mxcheck"
SCRIPT
  stand_in mxcheck <<<'exit 7'
  (cd "$work/bin" && mv ninja pkg-config verilator g++ ctest cmake mxcheck "$work/held/")
}

have_tools() { cp "$work"/held/* "$work/bin/"; }

# expect CODE 'TEXT IN OUTPUT OR LOG'... -- ARGUMENT...; a text that opens with ! must be absent.
expect() {
  local code=$1 actual=0 text
  local -a texts=()
  shift
  : >"$work/log"
  while [ "$1" != -- ]; do texts+=("$1") && shift; done
  shift
  (cd "$work/tree" && env -i PATH="$work/bin" ./bootstrap "$@" </dev/null) \
    >>"$work/log" 2>&1 || actual=$?
  [ "$actual" -eq "$code" ] || complain "exit code $actual instead of $code"
  for text in "${texts[@]}"; do
    case $text in
      '!'*) ! grep -qF -- "${text#!}" "$work/log" || complain "says: ${text#!}" ;;
      *) grep -qF -- "$text" "$work/log" || complain "does not say: $text" ;;
    esac
  done
}

complain() {
  echo "FAILED: $scene: $1" >&2
  sed 's/^/    /' "$work/log" >&2
  failures=$((failures + 1))
}

scene() { scene=$1 && new_world; }

readonly line='apt-get install -y --no-install-recommends g++ cmake ninja-build pkg-config'

scene 'bare, root'
expect 7 'apt-get -o DPkg::Lock::Timeout=120 update' "$line" 'cmake --preset release' \
  '--target mxcheck' 'mxcheck run --device cpu --level quick --out out/' -- run

scene 'all there: nothing is fetched'
have_tools
expect 7 '!apt-get ' 'nothing to install' 'exit code 7' -- run

scene 'options replace defaults and are handed on'
have_tools
expect 7 'mxcheck run --device cpu --level=smoke --out there --dialect nv' \
  '!quick' 'no report was written in there' -- run --level=smoke --out there --dialect nv

scene 'the report is named'
have_tools
mkdir "$work/tree/out" && : >"$work/tree/out/report.html"
expect 7 'the report is out/report.html' -- run

scene 'no right to install'
stand_in id <<<'echo 1000'
expect 125 'this user is not root' "apt-get update && $line" '!apt-get -o' -- run

scene 'sudo that wants a password nobody can type'
stand_in id <<<'echo 1000'
stand_in sudo <<<'exit 1'
expect 125 "apt-get update && $line" '!apt-get -o' -- test

scene 'sudo'
stand_in id <<<'echo 1000'
stand_in sudo <<SCRIPT
shift
exec "\$@"
SCRIPT
expect 8 'sudo -n apt-get' "$line" verilator 'ctest --test-dir' '!--target' -- test

scene 'lists cannot be renewed'
stand_in apt-get <<SCRIPT
case "\$*" in *install*) cp "$work"/held/* "$work/bin/" ;; *) exit 100 ;; esac
SCRIPT
expect 8 'could not be renewed' "$line" -- test

scene 'apt-get fails'
stand_in apt-get <<<'exit 100'
expect 125 'apt-get could not install them' '!cmake --preset' -- test

scene 'apt-get lies'
stand_in apt-get <<<''
expect 125 'still missing after the installation: g++ cmake' '!cmake --preset' -- test

scene 'another system, tools missing'
rm "$work/bin/apt-get" "$work/bin/dpkg-query"
expect 125 'neither Debian nor Ubuntu' 'g++ cmake ninja-build' -- run

scene 'another system, tools there'
rm "$work/bin/apt-get" "$work/bin/dpkg-query"
have_tools
expect 8 'ctest --test-dir' '--output-on-failure' -- test

scene 'old tools'
have_tools
stand_in cmake <<<'echo "cmake version 3.22.1"'
expect 125 'cmake 3.25 or newer is needed, here is 3.22.1' -- run
have_tools
stand_in g++ <<<'echo 11.4.0'
expect 125 'g++ 12 or newer is needed, here is 11.4.0' -- run

scene 'configuring fails'
have_tools
stand_in cmake <<SCRIPT
[ "\$1" = --version ] || exit 1
echo "cmake version 3.25.1"
SCRIPT
expect 125 'the build failed' '!cmake --build' -- run

scene 'command line'
expect 0 'usage: ./bootstrap run' '!apt-get -o' -- --help
expect 0 'usage: ./bootstrap run' '!apt-get -o' -- run --help
expect 2 'no such command: tset' '!apt-get -o' -- tset
expect 2 '!apt-get -o' --
expect 2 '!apt-get -o' -- test everything

rm -rf "$work"
[ "$failures" -eq 0 ] || exit 1
echo "every scene played as written"
