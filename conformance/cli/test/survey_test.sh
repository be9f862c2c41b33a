#!/usr/bin/env bash
# A survey, cut and resumed, and its folder under verify: as it was written, and with each kind of
# edit, the manifest left as it was or made to agree.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
set -m # an interrupt reaches the survey as under a terminal

device=$lib/minimal_plugin.so
folder=minimal_plugin
survey=(survey --quick --fuzz-time 1s --device "$device" --out bundle)

# --- what is refused before anything is asked
refuse 2 'does not exist' survey --device "$lib/nothing.so" --out none
check 'a device that does not open leaves no folder' never test -e none
refuse 2 'holds no survey that --resume could go on with' "${survey[@]}" --resume
refuse 2 'cannot be read; a survey writes it last' verify bundle

# --- interrupted in its run, then resumed: what was recorded is not asked again
"$mxcheck" "${survey[@]}" >first.log 2>&1 &
pid=$!
cases_recorded() {
  [ "$(grep -c '"kind":"case"' "bundle/$folder/results.jsonl" 2>/dev/null)" -gt 20 ]
}
check 'the run of the survey begins' within_seconds 120 cases_recorded
kill -TERM "$pid"
wait "$pid"
check 'an interrupted survey ends with 4' test $? -eq 4
check 'it says where it stopped' \
  grep -q 'interrupted at step 3 of 15, .* run; the same command with' first.log
check 'it has no manifest' never test -e bundle/manifest.json
check 'its record of the run can be read' is_results_file "bundle/$folder/results.jsonl"
head -n 20 "bundle/$folder/results.jsonl" >before
refuse 2 'bundle holds a survey; --resume goes on with it' "${survey[@]}"
refuse 2 'bundle holds a survey of another effort' survey --device "$device" --fuzz-time 1s \
  --out bundle --resume
expect 0 'NOT A CONFORMANCE RUN: effort quick' "${survey[@]}" --resume
check 'steps that ended are not repeated' never grep -q 'step 1 of 15' stdout
check 'the run goes on where it stopped' cmp before <(head -n 20 "bundle/$folder/results.jsonl")
digest=$(sed -n 's/^SHA-256 of the manifest: //p' stdout)
check 'the digest printed is that of the manifest' \
  test "$digest" = "$(sha256sum bundle/manifest.json | cut -d' ' -f1)"
check 'what was left out says why' grep -q -- '--quick leaves it out' bundle/survey.md
check 'the page has the sentence of the manifest' grep -q 'No fault found in ' bundle/survey.html

# --- as it was written
expect 0 'All ' verify bundle --digest "$digest"
check 'answers are judged again' grep -q '^stands .* made again from the recorded answers' stdout
check 'what is not shown is said' grep -q '^Not shown: ' stdout
expect 1 'not the one that was given' verify bundle --digest "${digest/[0-9]/x}"

# --- edits; `forged` makes the manifest agree with the folder again
results=bundle/$folder/results.jsonl
plant() { rm -rf bundle && cp -r original bundle; }
forged() { # FILE...
  local file
  for file in "$@"; do
    sed -i "\\|\"path\": \"$file\"|,/sha256/ {
      s|\"bytes\": [0-9]*|\"bytes\": $(stat -c %s "bundle/$file")|
      s|\"sha256\": \"[0-9a-f]*\"|\"sha256\": \"$(sha256sum "bundle/$file" | cut -d' ' -f1)\"|
    }" bundle/manifest.json
  done
}
# false_claim NAME WHAT: verify ends with 1 and names that claim.
false_claim() {
  expect 1 "are FALSE: this folder is not what a survey wrote" verify bundle
  check "$2: the claim \"$1\" falls" grep -qE "^FALSE +$1: " stdout
}
mv bundle original

passing=$(grep -n -m 1 '"verdict":"pass_exact"' "original/$folder/results.jsonl" | cut -d: -f1)
plant
sed -i "${passing}s/pass_exact/deviation/" "$results"
false_claim files 'one verdict'
forged "$folder/results.jsonl"
expect 1 'is deviation and has no mismatch' verify bundle
check 'the digests agree with the forgery' grep -q '^stands     files' stdout

plant
sed -i "${passing}s/\"elements\":/\"elements\":1/" "$results"
forged "$folder/results.jsonl"
expect 1 'the footer counts' verify bundle

# The case and the footer alike, so that the record agrees with itself: its answers do not.
plant
sed -i -E "${passing}s/\"elements\":([0-9]+)/\"elements\":\11/" "$results"
elements_of() { grep -o '"elements":[0-9]*' | sed -n 1p | cut -d: -f2; }
was=$(sed -n "${passing}p" "original/$folder/results.jsonl" | elements_of)
sum=$(grep '"kind":"footer"' "$results" | elements_of)
sed -i "/\"kind\":\"footer\"/s/\"elements\":$sum/\"elements\":$((sum + was * 9 + 1))/" "$results"
forged "$folder/results.jsonl"
false_claim "$folder run, answers" 'a count, in the case and the footer'
check 'the record agrees with itself' grep -q "^stands     $folder run, verdicts" stdout
check 'and the pages are not made of it' grep -q '^FALSE      pages' stdout

plant
sed -i "${passing}d" "$results"
forged "$folder/results.jsonl"
expect 1 'the footer counts' verify bundle

# One case under another text: nothing of the record is wrong, but no suite has it.
plant
sed -i "${passing}s/ seed=0\"/ seed=1\"/" "$results"
forged "$folder/results.jsonl"
false_claim "$folder run, plan" 'a case that is in no suite'

plant
sed -i '/"kind":"footer"/s/"exit_code":0/"exit_code":77/' "$results"
forged "$folder/results.jsonl"
expect 1 'its cases call for 0' verify bundle

plant
mv "bundle/$folder/report.md" spare
mv "bundle/$folder/relations/report.md" "bundle/$folder/report.md"
mv spare "bundle/$folder/relations/report.md"
false_claim files 'two files that changed places'
forged "$folder/report.md" "$folder/relations/report.md"
false_claim pages 'two files that changed places, in the manifest too'

plant
sed -i '0,/"exit_code": 0/s//"exit_code": 1/' bundle/manifest.json
false_claim manifest 'the exit code of the manifest'
plant
sed -i 's/"sentence": "No fault/"sentence": "Conformant. No fault/' bundle/manifest.json
false_claim manifest 'the sentence of the manifest'
plant
sed -i '/"not_run": \[/,/\]/{/leaves it out/d}' bundle/manifest.json
false_claim manifest 'what was not run'
plant
sed -i 's/"commit": "/"commit": "0/' bundle/manifest.json
false_claim manifest 'the commit'
plant
printf 'x' >bundle/extra
expect 1 'extra is in no line of the manifest' verify bundle
plant
rm "bundle/$folder/bench.jsonl"
expect 1 'bench.jsonl is missing' verify bundle
plant
printf '{' >bundle/manifest.json
refuse 2 'is not JSON' verify bundle

plant
sed -i 's|"record": "doctor.json"|"record": "../original/doctor.json"|' bundle/survey.json
forged survey.json
expect 1 'the record of doctor is not in this folder' verify bundle

# A step that was taken out of the survey, its page and its digest.
plant
python3 - bundle/survey.json <<'PYTHON' 2>/dev/null || cp original/survey.json bundle/survey.json
import json, sys
survey = json.load(open(sys.argv[1]))
survey["steps"] = [step for step in survey["steps"] if step["name"] != "fuzz"]
json.dump(survey, open(sys.argv[1], "w"))
PYTHON
forged survey.json
if ! cmp -s bundle/survey.json original/survey.json; then
  false_claim steps 'a step that was taken out'
fi
finish
