#!/usr/bin/env bash
# mxcheck prove: what it ends with when digests agree, differ or are not known, and how a call goes
# on from the state of another.
# Run by ctest with the program and a folder to work in.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
one='decode e4m3'
six='decode e?m?'

expect 0 'every digest as checked in' prove "$one"
expect 0 'digests written' prove "$one" --write-digests mine
check 'the file has a digest of the proof' grep -q "  $one\$" mine

# A proof whose digest nobody knows yet holds, but is not confirmed; one with another digest fails.
expect 0 'every digest as in the file' prove "$one" --digests mine
grep -v "  $one\$" mine >without
expect 4 'INCOMPLETE: 1 of 1 proofs hold, but no digest of 1 of them is known' \
  prove "$one" --digests without
check 'it says of which' grep -q "no digest of '$one' is known" stderr
expect 4 'INCOMPLETE: 6 of 6 proofs hold, but no digest of 1 of them is known' \
  prove "$six" --digests without
zeros=$(printf '%064d' 0)
sed "s/^[0-9a-f]*\(  [0-9]*  $one\)\$/$zeros\1/" mine >changed
expect 5 '1 of 6 proofs FAIL' prove "$six" --digests changed
check 'it shows both digests' grep -q "have the digest [0-9a-f]*, not the known $zeros" stderr
refuse 2 'nowhere cannot be read' prove "$one" --digests nowhere
echo 'no digest' >bad && refuse 2 "bad: line 1 is not 'DIGEST  COUNT  NAME'" \
  prove "$one" --digests bad
refuse 2 'exclude each other' prove "$one" --digests mine --write-digests again

# What held is not proved again, shards divide the proofs, and a damaged state is refused.
expect 0 '3 of 3 proofs hold' prove "$six" --state state --shard 0/2
expect 0 '6 of 6 proofs hold' prove "$six" --state state
check 'three of them before' [ "$(grep -c ' before ' stdout)" -eq 3 ]
echo 'no digest' >>state && refuse 2 'remove the file to begin anew' prove "$six" --state state
echo '# state of mxcheck prove, of another build' >state
refuse 2 'is the state of another build' prove "$six" --state state
# With a GPU its instructions are asked; elsewhere nothing was tested, and that is said.
refuse 2 "no map is named 'nothing'" prove --gpu nothing
refuse 2 '--gpu goes with --write-digests alone' prove --gpu --all
refuse 2 '--gpu goes with --write-digests alone' prove --gpu --digests mine
# The sweeps belong to one device and one level, and to no run that is narrowed.
refuse 2 'no sweeps in this run' run --level exhaustive --suite sweep
refuse 2 'no sweeps in this run' run --device cuda --level full --suite sweep
refuse 2 'no sweeps in this run' run --device cuda --level exhaustive --suite sweep --dialect nv
"$mxcheck" doctor >machine || true
if grep -q '^device cuda .*no GPU can be used here' machine; then
  refuse 3 'did not open' run --device cuda --level exhaustive --suite sweep
  check 'a device that does not open leaves no results' never test -e out/results.jsonl
fi
refuse 2 "no sweep is written 'sweep map=nothing'" replay 'sweep map=nothing'
if "$mxcheck" prove --gpu 'cvt.rn.f16x2.e4m3x2 low lane' >gpu 2>&1; then
  check 'every code of e4m3 was asked' grep -q ' 256  *0 ' gpu
else
  refuse 77 'mxcheck: the GPU: ' prove --gpu 'cvt.rn.f16x2.e4m3x2 low lane'
  expect 77 'not_supported: sweep map="cvt.rn.f16x2.e4m3x2 low lane"' \
    replay 'sweep map="cvt.rn.f16x2.e4m3x2 low lane"'
fi
finish
