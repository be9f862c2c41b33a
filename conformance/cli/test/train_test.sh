#!/usr/bin/env bash
# train: a few steps, the same twice; quantized runs part from the plain one; what is refused.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

few=(train --steps 3 --dialect ocp,nv)
expect 0 'weights off by %' "${few[@]}"
check 'a plain run and four quantized ones for each of two tasks' \
  [ "$(grep -c 'mxfp8-e4m3' stdout)/$(grep -cE ' f32 +f32 +' stdout)" = 8/2 ]
check 'the plain run is off by nothing' grep -qE ' f32 +f32 .* 0 +0$' stdout
check 'a quantized one is not' [ "$(grep -cE 'mxfp8-.* 0 +0$' stdout)" = 0 ]
cp stdout first
expect 0 '' "${few[@]}"
check 'the same numbers again' cmp first stdout
expect 0 '' "${few[@]}" --json
check 'ten runs with their losses' [ "$(grep -c '"losses"' stdout)" = 10 ]

expect 2 '--steps 0: from 1 to' train --steps 0
expect 2 "unknown dialect 'ocpp'; did you mean 'ocp'?" train --dialect ocpp
expect 2 'is a recipe; train takes block formats' train --format nvfp4 --dialect te-nvfp4 \
  --gradient-format nvfp4
finish
