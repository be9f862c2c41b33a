#!/usr/bin/env bash
# property_fails_test.sh PROGRAM PROPERTY PLUGIN: the property fails on the planted bug, prints a
# case to replay and what repeats it; and that repeats it.
set -u
program=$1 property=$2
export MX_PROPERTY_DEVICE=$3

fail() {
    echo "FAILED: $1"
    echo "$output"
    exit 1
}

# The planted bugs speak two dialects of many, so most of what is drawn is passed over.
export RC_PARAMS="seed=1 max_success=500 max_discard_ratio=1000"
output=$("$program" --gtest_filter="Devices.$property" 2>&1)
code=$?
[ $code -eq 1 ] || fail "exit code $code, not 1"
grep -q "Falsifiable after" <<<"$output" || fail "nothing says that it is falsifiable"
grep -q "mxcheck replay 'quantize format=.* data=bits:" <<<"$output" || fail "no case to replay"
reproduce=$(grep -o 'reproduce=[A-Za-z0-9_-]*' <<<"$output" | sed -n 1p)
[ -n "$reproduce" ] || fail "nothing says how to repeat it"

RC_PARAMS="$reproduce" output=$("$program" --gtest_filter="Devices.$property" 2>&1)
[ $? -eq 1 ] || fail "RC_PARAMS=$reproduce does not repeat it"
exit 0
