#!/usr/bin/env bash
# Which dialect is a device? The clean base is called by its name; every planted bug that changes
# what a block of its own quantizes to is told apart from it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

expect 0 'cpu: nv' identify --device cpu --dialect nv
expect 0 '"dialects"' identify --device cpu --dialect nv --json
expect 0 'cpu: te-nvfp4-4over6-mse' identify --device cpu --format nvfp4 \
  --dialect te-nvfp4-4over6-mse
check 'the others with their witnesses' grep -qE '^ +lane [0-9]+, |amax .*: scale .*, not ' stdout
expect 0 'torchao-nvfp4-single = torchao-nvfp4-single-gpu' identify --device cpu --format nvfp4 \
  --input bf16 --dialect torchao-nvfp4-single
refuse 2 "those that quantize nvfp4 from f32 are te-nvfp4, " \
  identify --device cpu --format nvfp4 --dialect ocp
expect 2 "did you mean 'mxfp8-e4m3'?" identify --device cpu --format mxfp8-e4m4
# Built in where there are CUDA's headers: it answers none of these questions.
if grep -q '^nvhost ' <("$mxcheck" list devices); then
  expect 77 'nothing identified' identify --device nvhost --dialect torchao-even
  refuse 77 'nothing identified' identify --device nvhost --op gemm
fi
mutants=$lib/mutants/mutants.so
expect 0 'ocp = torchao-floor' identify --device "$mutants" --format mxfp8-e4m3

# A device that crashes is no device that was not tested.
refuse 3 'mxfp8-e4m3: killed by signal 11 (Segmentation fault) in run' \
  identify --device "$mutants:bug=crash_on_nan"
refuse 3 'killed by signal 11 (Segmentation fault) in supports' \
  identify --device "$lib/test_plugins/test_plugin_segfault_in_supports.so"
refuse 3 'killed by signal 11 (Segmentation fault) in supports' \
  identify --op gemm --device "$lib/test_plugins/test_plugin_segfault_in_supports.so"
refuse 77 'nothing identified: mxfp4-e2m1: only convert' \
  identify --device "$lib/test_plugins/test_plugin_none.so"

# How a device sums.
expect 0 'cpu: fma-chain' identify --device cpu --op gemm --types bf16 --algorithm fma-chain
expect 0 'cpu: fma-parts' identify --device cpu --op gemm --types bf16 --algorithm fma-parts
check 'the promotion is measured' grep -q '^  promotion *256$' stdout
check 'other data is predicted' grep -q '^predicted bit for bit: ' stdout
check 'K is not split' grep -q '^  K split at 16x16x8192 *no$' stdout
expect 0 '"models"' identify --device cpu --op gemm --types e4m3 --json
expect 0 'fma-chain-mx' identify --device cpu --op gemm --format mxfp8-e4m3 --algorithm fma-chain
expect 0 '2 algorithms, 2 classes of equal bits' identify --device cpu --op gemm --types bf16 \
  --census --shape 8x16x1024
expect 0 '"classes"' identify --device cpu --op gemm --types bf16 --census --shape 8x16x64 --json
refuse 2 "did you mean 'e4m3'?" identify --device cpu --op gemm --types e4m4
refuse 2 "did you mean 'gemm'?" identify --device cpu --op gem
refuse 2 "did you mean '1x128'?" identify --device cpu --op gemm --scaling 1x12
refuse 2 'is not MxNxK' identify --device cpu --op gemm --census --shape 8x16
refuse 2 'takes one name for A and B, or two' identify --op gemm --types e4m3,e5m2,e4m3

# Every algorithm that the device lists, in one run.
expect 0 'No fault found' run --device cpu --suite gemm --level smoke --out own
expect 0 'No fault found' run --device cpu --suite gemm --level smoke --algorithms all --out all
of_two() { grep '"operation":"gemm"' "$1/results.jsonl" | grep -v not_supported | grep -c "$2"; }
check 'fma-parts answers all that the device answers by its own choice' \
  [ "$(of_two all algorithm=fma-parts)" -ge "$(of_two own algorithm=default)" ]
check 'so does fma-chain' \
  [ "$(of_two all algorithm=fma-chain)" -ge "$(of_two own algorithm=default)" ]
check 'no case is left to the choice of the device' [ "$(of_two all algorithm=default)" = 0 ]
refuse 2 "did you mean 'all'?" run --device cpu --suite gemm --algorithms al

# The blocks that a bug concerns: those of E4M3 from f32 unless its name says otherwise.
blocks_of() { # MUTANT
  case $1 in
  emax_of_e4m3_for_e5m2) echo '--format mxfp8-e5m2' ;;
  fp6_* | e3m2_*) echo '--format mxfp6-e3m2' ;;
  fp4_*) echo '--format mxfp4-e2m1' ;;
  int8_symmetric_*) echo '--format mxint8-symmetric' ;;
  int8_* | nv_ratio_divided) echo '--format mxint8' ;;
  f16_*) echo '--format mxfp8-e4m3 --input f16' ;;
  *) echo '--format mxfp8-e4m3' ;;
  esac
}

# Why a hundred blocks, each in a row of its own, do not show a bug; nothing for those they show.
why_unseen() { # MUTANT
  case $1 in
  none) echo 'no bug' ;;
  convert_* | dequantize_* | cast_* | e4m3_nan_as_480 | e5m2_inf_to_nan | te_pads_read)
    echo 'another operation' ;;
  nearest_away_* | ties_down_* | directed_* | to_odd_* | truncation_overflows)
    echo 'another operation' ;;
  stochastic* | flush_*) echo 'another operation' ;;
  nibbles_* | fp6_bits_* | packed_* | inline_* | *swizzle* | shuffle_* | te_rows_*)
    echo 'another layout' ;;
  block_16_* | block_64_* | tile_* | both_* | col_* | *_in_columns) echo 'other shapes of blocks' ;;
  scale_from_previous_block | input_taken_for_dense | rows_beyond_*) echo 'between blocks' ;;
  partial_block_padding_read | amax_ignores_short_vector) echo 'one partial block is asked' ;;
  nan_payload_lost) echo 'one NaN is asked' ;;
  scale_offsets_in_16_bits | element_index_in_20_bits) echo 'small tensors are asked' ;;
  one_mantissa_missed) echo 'one mantissa of 2^23' ;;
  random_flake) echo 'one block of 251' ;;
  esac
}

# identified MUTANT DIALECT BLOCKS: what identify says of a mutant, its name taken out.
identified() {
  # shellcheck disable=SC2086
  timeout 60 "$mxcheck" identify --device "$mutants:bug=$1" --dialect "$2" --timeout 3 \
    $3 2>&1 </dev/null | sed "s/mutants\.so:bug=[a-z0-9_]*//"
}

# differs MUTANT DIALECT: from the clean base, whose answers are kept.
differs() {
  local blocks clean
  blocks=$(blocks_of "$1")
  clean="clean $2 $blocks"
  [ -e "$clean" ] || identified none "$2" "$blocks" >"$clean"
  identified "$1" "$2" "$blocks" >found
  ! cmp -s found "$clean"
}

table=$(dirname "${BASH_SOURCE[0]}")/../../mutants/mutants.def
for name in $(sed -n 's/^MX_MUTANT(\([a-z0-9_]*\),.*/\1/p' "$table"); do
  reason=$(why_unseen "$name")
  seen=no
  if differs "$name" ocp || differs "$name" nv; then seen=yes; fi
  wanted=yes
  [ -z "$reason" ] || wanted=no
  check "$name is told apart: $wanted${reason:+ ($reason)}" [ "$seen" = "$wanted" ]
done
finish
