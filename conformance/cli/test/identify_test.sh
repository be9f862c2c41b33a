#!/usr/bin/env bash
# Which dialect is a device? The clean base is called by its name; every planted bug that changes
# what a block of its own quantizes to is told apart from it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

expect 0 'cpu: nv' identify --device cpu --dialect nv
expect 0 '"dialects"' identify --device cpu --dialect nv --json
expect 2 "did you mean 'mxfp8-e4m3'?" identify --device cpu --format mxfp8-e4m4
expect 77 'nothing identified' identify --device nvhost --dialect torchao-even
expect 0 'ocp = torchao-floor' identify --device "$lib/mutants/mutant_none.so" --format mxfp8-e4m3

# Bugs that a hundred blocks of E4M3 do not show: of another operation or format, between blocks,
# or in one block of 251.
invisible=' none emax_of_e4m3_for_e5m2 col_strides_swapped convert_always_saturates
dequantize_byte_0_as_zero dequantize_flushes_subnormals dequantize_scale_255_as_inf
e4m3_nan_as_480 e5m2_inf_to_nan partial_block_padding_read
scale_from_previous_block random_flake '

# identified FILE DIALECT: what identify says of a mutant, its name taken out.
identified() {
  timeout 60 "$mxcheck" identify --device "$1" --dialect "$2" --timeout 3 \
    --format mxfp8-e4m3 2>&1 </dev/null | sed "s/mutant_[a-z0-9_]*\.so//"
}
identified "$lib/mutants/mutant_none.so" ocp >clean.ocp
identified "$lib/mutants/mutant_none.so" nv >clean.nv
for mutant in "$lib"/mutants/mutant_*.so; do
  name=$(basename "$mutant" .so)
  seen=no
  for dialect in ocp nv; do
    identified "$mutant" "$dialect" >found
    cmp -s found "clean.$dialect" || { seen=yes && break; }
  done
  wanted=yes
  [[ " ${invisible//$'\n'/ } " == *" ${name#mutant_} "* ]] && wanted=no
  check "$name is told apart: $wanted" [ "$seen" = "$wanted" ]
done
finish
