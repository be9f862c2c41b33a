#!/usr/bin/env bash
# Does every source file stand as clang-format would write it, by .clang-format? Versions of the
# tool differ in details, so one of them is asked; where it is not installed the test is skipped
# (77).
# usage: format_test.sh DIRECTORY
set -euo pipefail
readonly version=14
cd "$1"

tool=$(command -v "clang-format-$version" || command -v clang-format || true)
if [ -z "$tool" ] || [[ $("$tool" --version) != *"version $version."* ]]; then
  echo "skipped: clang-format $version is not installed"
  exit 77
fi
mapfile -t files < <(find bench conformance device fuzz reference reports -type f \
  -regex '.*\.\(c\|cpp\|cu\|cuh\|h\|hpp\)')
if [ "${#files[@]}" -eq 0 ]; then
  echo "no source file lies in $1"
  exit 1
fi
if ! "$tool" --dry-run --Werror --ferror-limit=1 "${files[@]}"; then
  echo "clang-format -i FILE writes a file as it is to stand"
  exit 1
fi
echo "${#files[@]} files stand as $tool writes them"
