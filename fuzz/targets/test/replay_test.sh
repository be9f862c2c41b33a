#!/bin/sh
# The replay of a corpus must fail where a target fails, name the file, and refuse a folder without
# files: replay_test.sh PROGRAM SCRATCH SANITIZED
set -u
program=$1 scratch=$2 sanitized=$3
fail() { echo "$1" >&2; exit 1; }

rm -rf "$scratch" && mkdir -p "$scratch/empty" "$scratch/good" || exit 1
printf 'fine' >"$scratch/good/first"

"$program" "$scratch/good" >"$scratch/out" || fail "good files: exit code $?"
grep -qx '1 files' "$scratch/out" || fail "good files: not counted"
"$program" "$scratch/empty" 2>/dev/null
[ $? = 2 ] || fail "a folder without files is not refused"

for defect in violation overrun; do
    [ $defect = overrun ] && [ "$sanitized" != ON ] && continue
    folder=$scratch/$defect
    mkdir "$folder" && printf '%s' $defect >"$folder/culprit" && printf 'fine' >"$folder/later"
    "$program" "$folder" >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ $code != 0 ] || fail "$defect: not seen"
    [ "$(tail -n 1 "$scratch/out")" = culprit ] || fail "$defect: the last line is not the culprit"
    grep -q 'violated: nothing says violation\|heap-buffer-overflow' "$scratch/err" ||
        fail "$defect: stderr does not say what was wrong"
done
echo "planted defects seen"
