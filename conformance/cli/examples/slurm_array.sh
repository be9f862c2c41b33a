#!/usr/bin/env bash
# One run as a Slurm job array: every task does its part and leaves a folder of its own.
#
#   job=$(sbatch --parsable --array=0-7 slurm_array.sh --device cuda --level full)
#   sbatch --dependency=afterany:"$job" --wrap 'mxcheck merge out.[0-7] --out out'
#
# A task that finds a mismatch ends with 1, which Slurm calls failed; the merge tells the whole.
#SBATCH --job-name=mxcheck
#SBATCH --output=mxcheck.%A.%a.log
set -uo pipefail
exec "${MXCHECK:-mxcheck}" run --shard auto --out "${OUT:-out}.$SLURM_ARRAY_TASK_ID" "$@"
