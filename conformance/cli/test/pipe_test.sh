#!/usr/bin/env bash
# A command as a device, and files of requests and answers in its place. Run by ctest with the
# program, a folder to work in, the folder of the plug-ins and the folder of the Python adapters.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
peers=$4
command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit "$skipped"; }
example="python3 '$peers/example_device.py'"
plan=(--suite convert --dialect ocp --format e4m3 --level smoke)

# Live: the same verdict as any device, and a header that names the command.
expect 0 'No fault found' run --device-cmd "$example" "${plan[@]}" --out live
check "the header names the command" grep -qF 'example_device.py' live/results.jsonl
check "the header holds what the device says" \
  grep -qF '"key":"vendor","value":"mxcheck"' live/results.jsonl
refuse 2 'name one' run --device nvhost --device-cmd "$example" "${plan[@]}" --out refused
expect 3 'no such command' run --device-cmd '/no/such/program' "${plan[@]}" --out refused
refuse 3 'is no JSON object' run --device-cmd 'echo hello' "${plan[@]}" --out refused
refuse 3 'no answer within 1 s' run --device-cmd 'sleep 100' "${plan[@]}" --timeout 1 --out refused
check "no results of a command that did not open" [ ! -e refused ]

# A wrong one: ties up. Its repro line works as it stands.
sed 's/code % 2 == 1/True/' "$peers/example_device.py" >wrong_device.py
cp "$peers/mxpipe.py" .
expect 1 'Not conformant' run --device-cmd 'python3 wrong_device.py' "${plan[@]}" --out wrong
line=$(grep -o "mxcheck replay '.*" stdout | sed -n 1p)
check "a repro line names the command" grep -qF -e "--device-cmd 'python3 wrong_device.py'" stdout
got=0
(
  mxcheck() { timeout 60 "$mxcheck" "$@"; }
  eval "$line"
) >replayed 2>&1 || got=$?
check "the repro line shows the mismatch again" [ "$got" -eq 1 ]

# What a library prints is no answer: it does not come between them.
talk='        print("a library says {"); os.system("echo a child, too")'
sed "s/^    def run(self, request):/&\n$talk/; s/^import math/&\nimport os/" \
  "$peers/example_device.py" >talking_device.py
expect 0 'No fault found' run --device-cmd 'python3 talking_device.py' "${plan[@]}" --out talking
check "what it printed is on stderr" grep -q 'a library says {' stderr

# Offline: a pack, the device as a filter, and the same verdicts.
for form in hex binary; do
  expect 0 'requests' gen "${plan[@]}" --form "$form" --out "$form.pack"
  check "the device is a filter ($form)" \
    eval "python3 '$peers/example_device.py' <$form.pack >$form.answers"
  expect 0 'No fault found' check "$form.pack" "$form.answers" --out "$form"
  expect 0 'No fault found' check "$form.answers" --out "$form.alone"
done
python3 wrong_device.py <hex.pack >wrong.answers
expect 1 'Not conformant' check hex.pack wrong.answers --out wrong.offline
check "its repro line names the answers" grep -qF -e "--answers 'wrong.answers'" stdout
case_text=$(grep -o "mxcheck replay '[^']*'" stdout | sed -n 1p | cut -d "'" -f 2)
expect 1 'FAIL' replay "$case_text" --answers wrong.answers

# Answers that are none, not all, or to another question.
refuse 2 'cannot be read' check none.answers
refuse 2 'is no JSON object' check wrong_device.py
refuse 2 'no more' check hex.pack hex.answers wrong.answers
{ cat hex.answers && tail -n +2 hex.answers; } >twice.answers
refuse 2 'a second answer' check twice.answers
head -n 3 hex.answers >few.answers
expect 4 'holds no answer to this case' check hex.pack few.answers --out few
sed 's/inputs=./inputs=x/' hex.answers >stale.answers
expect 4 'record it again' check stale.answers --out stale
sed '3s/../zz/' hex.answers >digits.answers
expect 3 'no hexadecimal byte' check digits.answers --out digits
sed '3s/..//' hex.answers >short.answers
expect 3 'digits where' check short.answers --out short
refuse 2 'no request' check hex.answers hex.answers
refuse 2 'unknown form' gen "${plan[@]}" --form octal --out no.pack
refuse 2 'cannot be written' gen "${plan[@]}" --out none/no.pack
head -1 hex.pack | tr -d '\n' >cut.pack
refuse 2 'cut.pack:1: the data of this request is not whole' check cut.pack hex.answers
# A pack that ends between two requests, wherever: it says how many there should be. And one whose
# first request is gone.
starts=$(grep -n '^{' hex.pack | tail -n +2 | cut -d : -f 1)
total=$(grep -c '^{' hex.pack)
number=0
for start in $starts; do
  number=$((number + 1))
  head -n $((start - 1)) hex.pack >cut.pack
  refuse 2 "cut.pack: ends after request $number of $total: the pack is cut" \
    check cut.pack hex.answers
done
check 'packs were cut' [ "$number" -gt 2 ]
tail -n "+$(head -n 1 <<<"$starts")" hex.pack >cut.pack
refuse 2 "cut.pack:1: request 2 of $total stands where request 1 of $total belongs" \
  check cut.pack hex.answers
: >cut.pack
refuse 2 'cut.pack: holds no request' check cut.pack hex.answers
# Answers that end early are incomplete, wherever: with nothing, in the comment, the greeting, a
# message, its data, between two. Beside the pack those that are whole are judged. Without the end
# of the last line nothing is missing.
refuse 4 "holds 1 answers to a pack of $total requests" check few.answers
size=$(stat -c %s hex.answers)
greeting=$(head -n 1 hex.answers | wc -c)
message=$(head -n 2 hex.answers | wc -c)
for bytes in 0 1 $((greeting - 1)) "$greeting" $((greeting + 1)) $((message - 1)) "$message" \
  $((message + 1)) $((size / 2)) $((size - 4)) $((size - 2)); do
  head -c "$bytes" hex.answers >early.answers
  expect 4 ", at byte $bytes" check hex.pack early.answers --out early
  expect 4 ", at byte $bytes" check early.answers --out early
done
head -c $((size - 1)) hex.answers >early.answers
expect 0 'No fault found' check hex.pack early.answers --out early
# Data that were changed on the way, lines of another system, a file of answers that asks for more
# than itself, and a pack that nobody has room for.
sed '2s/^00/01/;2t;2s/^../00/' hex.pack >changed.pack
refuse 2 'not the inputs of its case' check changed.pack hex.answers
refuse 2 'not the inputs of its case' answer changed.pack --device cpu --out changed.answers
sed 's/$/\r/' hex.answers >crlf.answers
expect 0 'No fault found' check hex.pack crlf.answers --out crlf
sed 's/data=[a-z.]*/data=file:secret.npy/' hex.answers >file.answers
refuse 2 'a file of answers alone may not ask for another file' check file.answers
sed 's/shape=[0-9x]*/shape=100000x100000/' hex.answers >large.answers
refuse 2 'a file of answers alone may not ask for' check large.answers
refuse 2 'more than --max-bytes 1000; --shard I/N' gen "${plan[@]}" --max-bytes 1000 \
  --out large.pack
refuse 2 'more than --max-bytes 4294967296' gen --level full --suite convert --out large.pack
check 'and nothing of it is written' [ -z "$(find . -name 'large.pack*')" ]
# Packs and answers of an mxcheck that did not count are read as they were.
sed "s, request=[0-9]*/$total\",\"," hex.pack >old.pack
sed "s, request=[0-9]*/$total\",\"," hex.answers >old.answers
check 'nothing is counted there' [ "$(grep -c ' request=' old.pack old.answers | grep -c :0)" = 2 ]
expect 0 'No fault found' check old.pack old.answers --out old
expect 0 'No fault found' check old.answers --out old.alone
(
  trap '' XFSZ
  ulimit -f 8
  exec "$mxcheck" gen "${plan[@]}" --out part.pack
) >stdout 2>stderr
check 'a pack that cannot be written to its end leaves nothing behind' \
  [ "$(grep -c 'cannot be written' stderr)/$(find . -name 'part.pack*' | wc -l)" = 1/0 ]

finish
