#!/usr/bin/env bash
# The instructions that the kernels are meant to be made of, looked for in the PTX of each target,
# and those that would round or flush behind our back. Run by ctest with nvcc, the root of the tree,
# a folder to work in and the flags that the kernels are compiled with; needs no GPU.
set -euo pipefail
nvcc=$1
root=$2
work=$3
shift 3
flags=("$@")
failures=0

mkdir -p "$work"

# ptx_of TARGET SOURCE: its PTX in a file, by name.
ptx_of() {
  local file=$work/$2.$1.ptx
  "$nvcc" -std=c++20 "${flags[@]}" -I "$root" -arch="compute_$1" --ptx "$root/device/cuda/$2" \
    -o "$file"
  printf '%s\n' "$file"
}

complain() {
  printf 'ptx_test: %s\n' "$*" >&2
  failures=$((failures + 1))
}
has() { grep -qF -- "$2" "$1" || complain "$(basename "$1") has no $2"; }
lacks() { if grep -qE -- "$2" "$1"; then complain "$(basename "$1") has $2"; fi; }

for target in 90a 100f 120f; do
  for source in any.cu rows.cu columns.cu transposed.cu both.cu; do
    ptx=$(ptx_of "$target" "$source")
    has "$ptx" cvt.rn.satfinite.e4m3x2.f32
    has "$ptx" cvt.rn.satfinite.e5m2x2.f32
    lacks "$ptx" '\.ftz|\.approx|div\.full'
    if [ "$target" = 90a ]; then
      lacks "$ptx" ue8m0x2
    else
      has "$ptx" cvt.rp.satfinite.ue8m0x2.f32
      has "$ptx" cvt.rp.ue8m0x2.f32
    fi
  done
  for source in real_scale.cu nvfp4_rows.cu; do
    ptx=$(ptx_of "$target" "$source")
    has "$ptx" cvt.rn.satfinite.e4m3x2.f32
    has "$ptx" cvt.rn.f16x2.e4m3x2
    lacks "$ptx" '\.ftz|\.approx|div\.full'
  done
  ptx=$(ptx_of "$target" dequantize.cu)
  has "$ptx" cvt.rn.f16x2.e4m3x2
  has "$ptx" cvt.rn.f16x2.e5m2x2
  has "$ptx" cvt.rn.bf16x2.f32
  lacks "$ptx" '\.ftz|\.approx|div\.full'
done

[ "$failures" -eq 0 ] || exit 1
echo "the PTX of 90a, 100f and 120f has the instructions meant"
