#!/usr/bin/env bash
# A device's own row: found without the table of models, written to a file, and judged by.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

# Our own device, whose row the search does not know.
expect 0 'in the table of models: fma-parts' identify --device cpu --op gemm --types bf16 \
  --algorithm fma-parts --search --model-out parts.json
check 'the row is a file' grep -q '"promotion": 256' parts.json
check 'with its name' grep -q '"name": "parts"' parts.json
check 'the accumulator is a verdict' \
  grep -q '^accumulator: a chain of fused multiply-adds, promoted to f32 every 256;' stdout
check 'and the epilogue another' grep -q '^epilogue: fma(alpha, sum, beta\*C)' stdout
check 'and how much data nothing was learnt from' grep -q 'that nothing was learnt from$' stdout

# A run by it, and one by another row.
cat >own.suite <<'SUITE'
smoke gemm a=bf16 b=bf16 output=f32 shape=16x16x1024 algorithm=fma-parts data=gemm.middle index=0
smoke gemm a=bf16 b=bf16 output=f32 shape=24x8x600 algorithm=fma-parts data=gemm.uniform index=0
SUITE
expect 0 'No fault found' run --device cpu --suite-file own.suite --level smoke \
  --model-file parts.json --out found
line=$(grep -o '"case":"gemm [^}]*}[^,]*' found/results.jsonl | sed -n 1p)
check 'the case has the row in it' test -n "$line"
sed 's/"promotion": 256/"promotion": 512/; s/"parts"/"other"/' parts.json >other.json
expect 1 'Not conformant' run --device cpu --suite-file own.suite --level smoke \
  --model-file other.json --out other
replayed=$(sed -n "s/^ *mxcheck replay '\(gemm [^']*\)'.*/\1/p" stdout | sed -n 1p)
check 'a failure prints a line to replay' test -n "$replayed"
expect 1 'fail' replay "$replayed" --device cpu
expect 0 'pass' replay "$(sed 's/512/256/; s/other/parts/' <<<"$replayed")" --device cpu

# The product of two files by it is that of the row it is.
python3 - <<'PYTHON'
import struct
def write(path, rows, columns, seed):
    values = []
    for i in range(rows * columns):
        seed = (seed * 1103515245 + 12345) % 2**31
        values.append((seed / 2**30 - 1) * 2.0 ** (seed % 13 - 6))
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
    header += " " * (117 - len(header)) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode())
        file.write(struct.pack("<%df" % len(values), *values))
write("a.npy", 8, 1000, 1)
write("b.npy", 8, 1000, 2)
PYTHON
sed 's/"bf16"/"f32"/' parts.json >f32.json
expect 0 'accumulated as parts' gemm a.npy b.npy --model-file f32.json --out mine.npy
expect 0 'accumulated as fma-parts' gemm a.npy b.npy --model fma-parts --out theirs.npy
expect 0 'accumulated as fma-chain' gemm a.npy b.npy --model fma-chain --out chain.npy
check 'the same bytes' cmp -s mine.npy theirs.npy
check 'which are not those of a chain' [ "$(cmp -s mine.npy chain.npy; echo $?)" = 1 ]

# JSON, and what is refused.
expect 0 '"no_row_because": ""' identify --device cpu --op gemm --types bf16 --search --json
refuse 2 'name one' run --device cpu --suite gemm --model fma-chain --model-file parts.json
refuse 2 'name one' gemm a.npy b.npy --model fma-chain --model-file f32.json --out no.npy
refuse 2 'model file none.json' run --device cpu --suite gemm --model-file none.json
sed 's/"promotion": 256/"promotion": -1/' parts.json >bad.json
refuse 2 'no machine is so: a promotion comes after whole steps' \
  run --device cpu --suite gemm --model-file bad.json
sed 's/products/product/' parts.json >bad.json
refuse 2 '"products" is missing' run --device cpu --suite gemm --model-file bad.json
refuse 2 '--model-out goes with --search alone' identify --op gemm --model-out x.json
finish
