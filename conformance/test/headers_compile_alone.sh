#!/bin/sh
# Compiles every header of the rooms by itself, syntax only: a header that leans on what its users
# include first fails here. One that its own source includes before anything else is compiled alone
# where that source is, by the build or by `cmake/matrix gcc-O2`, and not again here. Run by ctest
# as headers_compile_alone with the C++ compiler, the source root, a folder to work in, and CUDA's
# include folder; rooms that need what is not there are left out. Further arguments are compiler
# options.
set -eu
compiler=$1 root=$2 work=$3 cuda=$4
shift 4
left_out=''
[ -e "$cuda/cuda_runtime.h" ] ||
  left_out='device/cuda device/cublaslt device/hopper conformance/mutants/gpu'
[ -n "$left_out" ] || [ -e "$cuda/cublasLt.h" ] || left_out='device/cublaslt device/hopper'

# Of headers on standard input, those that no source of the same name includes first.
not_yet_alone() {
  while read -r header; do
    first=$(cat "${header%.h*}.cpp" "${header%.h*}.hip" 2>/dev/null | grep -m1 '^#include') || :
    [ "$first" = "#include \"$header\"" ] || echo "$header"
  done
}

# check_all FOLDER: one compiler per header, as many at a time as there are processors.
check_all() {
  folder=$1
  shift
  # The helpers of a test may rest on what its target defines, so they are not asked; nor is the
  # driver of a hardware design, which rests on what Verilator makes of the design.
  find "$folder" -type d \( -name test -o -path device/rtl/driver \) -prune -o \
    \( -name '*.hpp' -o -name '*.h' \) -print |
    sort | not_yet_alone >"$work/headers"
  for room_out in $left_out; do
    grep -v "^$room_out/" "$work/headers" >"$work/others" || true
    mv "$work/others" "$work/headers"
  done
  xargs -P "$(nproc)" -I '{}' "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion \
    -Werror "$@" -include '{}' -x c++ /dev/null <"$work/headers"
}

# First a header that must not pass, so that silence afterwards means something.
rm -rf "$work"
mkdir -p "$work/planted"
echo 'std::vector<int> needs_an_include();' >"$work/planted/leans.hpp"
if check_all "$work/planted" 2>/dev/null; then
  echo "a header that needs what it does not include was accepted: this check checks nothing" >&2
  exit 1
fi

cd "$root"
[ -z "$cuda" ] || set -- "$@" -isystem "$cuda"
[ -z "$left_out" ] || echo "not run: the headers of $left_out, for want of what they need of CUDA"
for room in reference device conformance reports fuzz bench; do
  check_all "$room" -I "$root" "$@" || exit 1
  echo "$room: $(wc -l <"$work/headers") more headers compile alone"
done
