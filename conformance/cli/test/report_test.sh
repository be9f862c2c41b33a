#!/usr/bin/env bash
# report: the page of a run with what was measured beside it, two runs compared, what is refused.
# Run by ctest with the program, a folder to work in and the folder of the plug-ins.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"

has() { grep -qF -e "$1" "$2"; }
some=(run --level smoke --suite quantize --dialect ocp)

expect 0 'No fault found' "${some[@]}" --out good
expect 1 'Not conformant' "${some[@]}" --device "$lib/mutants/mutants.so:bug=ties_away" --out bad

# Files of known names join the page of their folder, others are named.
expect 0 'wrote good/report.html' report good
check 'what was not measured is said, with its command' \
  has 'mxcheck accuracy --json' good/report.html
expect 0 'sqnr' accuracy --data normal --elements 4096 --json
cp stdout good/accuracy.json
expect 0 'bound_of' accuracy --op gemm --data normal --k 64 --side 8 --model fma-chain --json
cp stdout gemm.json
expect 0 'losses' train --steps 2 --dialect ocp --json
cp stdout training.json
expect 0 'wrote page.html' report good --with gemm.json,training.json --html page.html
for section in accuracy gemm training; do
  check "the page has: $section" has "<h2 id=\"$section-title\"" page.html
  check "and had it not before: $section" never has "<h2 id=\"$section-title\"" \
    good/report.html
done
cp page.html once.html
expect 0 'wrote page.html' report good --with gemm.json,training.json --html page.html
check 'the same files give the same bytes' cmp once.html page.html

# What is damaged is refused, and the page stays as it was.
printf '[1]' >damaged.json
refuse 2 'damaged.json, row 1: is no row' report good --with damaged.json --html page.html
refuse 2 'nowhere.json' report good --with nowhere.json --html page.html
check 'no page half written' cmp once.html page.html

# A run that was interrupted is incomplete, and both the code and the page say so.
mkdir part
head -n 3 good/results.jsonl >part/results.jsonl
expect 4 'INTERRUPTED after 2 of ' report part
check 'the page says so' has 'INTERRUPTED after 2 of ' part/report.html
expect 0 'Not conformant' report bad

# Two runs.
expect 0 ' cases the same' report good good
expect 1 'worse' report good bad
expect 0 'better' report bad good
expect 0 'not supported' "${some[@]}" --device "$lib/minimal_plugin.so" --out shrunk
expect 1 'worse    pass_exact to not_supported' report good shrunk
expect 0 'better   not_supported to pass_exact' report shrunk good
expect 0 'wrote page.html' report bad --baseline good --html page.html
check 'the page of a failing run has its map of inputs' has 'data:image/png' page.html

# A record that says two things at once is no record: one word of a failing run, edited.
contradicts() { # TEXT SED
  rm -rf edited && mkdir edited && sed "$2" bad/results.jsonl >edited/results.jsonl
  check "the record was edited: $2" never cmp -s bad/results.jsonl edited/results.jsonl
  refuse 2 "$1" report edited
  refuse 2 "$1" report good edited
}
contradicts 'contradicts itself: case ' 's/"verdict":"fail"/"verdict":"pass_exact"/'
contradicts 'contradicts itself: case ' 's/"verdict":"fail"/"verdict":"not_supported"/'
contradicts 'contradicts the rest: the footer says exit code 0' 's/"exit_code":1/"exit_code":0/'
contradicts 'contradicts the rest: the footer ends a run of 1 cases' \
  '1s/"case_count":[0-9]*/"case_count":1/'
mkdir empty
refuse 2 'empty holds no results.jsonl' report good empty
refuse 2 'belong to a page of one folder' report good bad --html page.html
finish
