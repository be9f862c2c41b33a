#!/usr/bin/env bash
# One run as a Slurm job array, in one folder that all nodes see:
#
#   job=$(sbatch --parsable --array=0-7 slurm_array.sh --device cuda --level full)
#   sbatch --dependency=afterany:"$job" --wrap 'mxcheck merge out'
#
# A task that finds a mismatch ends with 1, which Slurm calls failed; the merge tells the whole.
# After a kill, submit all of 0-7 again: what is done is not done twice. --array=3,5 alone would be
# an array of two tasks, and so other parts.
#SBATCH --job-name=mxcheck
#SBATCH --output=mxcheck.%A.%a.log
set -uo pipefail
exec "${MXCHECK:-mxcheck}" run --shard auto --resume --out "${OUT:-out}" "$@"
