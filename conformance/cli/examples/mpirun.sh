#!/usr/bin/env bash
# One run over the ranks of mpirun (Open MPI, or one that sets PMI_RANK), then the merge:
#
#   mpirun.sh 8 --device cuda --level full
#
# No rank ends with an error, for mpirun would then end the others; the merge gives the exit code.
# After a kill, the same command goes on.
set -uo pipefail
ranks=$1
export MXCHECK=${MXCHECK:-mxcheck} OUT=${OUT:-out}
shift
# shellcheck disable=SC2016 # the ranks expand it
mpirun ${MPIRUN_OPTIONS:-} -n "$ranks" bash -c '
  "$MXCHECK" run --shard auto --resume --out "$OUT" "$@" || echo "a rank: exit code $?"
' rank "$@" || exit 4
exec "$MXCHECK" merge "$OUT"
