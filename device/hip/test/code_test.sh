#!/bin/sh
# What hipcc makes of the arithmetic, without a GPU to run it: in LLVM's language no operation on
# floats may be fused, reordered or approximated.
# code_test.sh FOLDER COMMAND...: the command compiles the kernels for one chip.
set -eu
folder=$1
shift
mkdir -p "$folder"
"$@" -S -emit-llvm -o "$folder/kernels.ll"
grep -Eq ' = fmul .*float ' "$folder/kernels.ll" || { echo "no product to look at"; exit 1; }
loose=' = f[a-z]+ (fast|reassoc|arcp|contract|afn) |!fpmath|llvm\.fma|amdgcn\.(rcp|fdiv)'
if grep -E "$loose" "$folder/kernels.ll"; then
  echo "an operation that is not rounded on its own"
  exit 1
fi
