#!/bin/sh
# What hipcc makes of the arithmetic, without a GPU to run it: in LLVM's language no operation on
# floats may be fused, reordered or approximated, and the chip's code must keep subnormals.
# code_test.sh FOLDER COMMAND...: the command compiles the kernels for one chip.
set -eu
folder=$1
shift
mkdir -p "$folder"
"$@" -S -emit-llvm -o "$folder/kernels.ll"
"$@" -S -o "$folder/kernels.s"
grep -q ' = fmul float ' "$folder/kernels.ll" || { echo "no product to look at"; exit 1; }
if grep -E ' = (fadd|fsub|fmul|fdiv) (fast|reassoc|nnan|ninf|nsz|arcp|contract|afn) ' \
    "$folder/kernels.ll" || grep -E '!fpmath|llvm\.fma|llvm\.amdgcn\.(rcp|fdiv)' "$folder/kernels.ll"; then
  echo "an operation that is not rounded on its own"
  exit 1
fi
if grep 'amdhsa_float_denorm_mode_32' "$folder/kernels.s" | grep -v ' 3$'; then
  echo "a kernel that flushes subnormals"
  exit 1
fi
