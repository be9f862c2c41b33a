#!/usr/bin/env bash
# What the shared library exports is what its header declares; its SONAME has a number.
# Run by ctest with nm, objdump, the library and the header.
set -euo pipefail
exported=$("$1" -D --defined-only "$3" | awk '$2 == "T" || $2 == "W" || $2 == "V" || $2 == "B" ||
  $2 == "D" || $2 == "R" || $2 == "u" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(grep -o '\bmx_oracle_[a-z_]*(' "$4" | tr -d '(' | sort -u)
if [ "$exported" != "$declared" ]; then
  echo "exported: $exported"
  echo "declared: $declared"
  exit 1
fi
"$2" -p "$3" | grep 'SONAME *libmxcheck\.so\.[0-9]*$' || { echo 'no SONAME'; exit 1; }
