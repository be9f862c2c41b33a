#!/bin/sh
# Compiles every header of the rooms by itself, syntax only: a header that leans on what its users
# include first fails here. Run by ctest as headers_compile_alone with the C++ compiler, the source
# root, and a folder to work in; further arguments are compiler options.
set -eu
compiler=$1 root=$2 work=$3
shift 3

# check_all FOLDER: one compiler per header, as many at a time as there are processors.
check_all() {
  folder=$1
  shift
  # The helpers of a test may rest on what its target defines, so they are not asked.
  find "$folder" -type d -name test -prune -o \( -name '*.hpp' -o -name '*.h' \) -print |
    sort >"$work/headers"
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
for room in reference device conformance reports fuzz bench; do
  check_all "$room" -I "$root" "$@" || exit 1
  echo "$room: $(wc -l <"$work/headers") headers compile alone"
done
