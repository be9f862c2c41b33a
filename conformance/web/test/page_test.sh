#!/usr/bin/env bash
# The page in headless Chromium against the native program: MX_PAGE_BLOCKS blocks (200 if not given)
# by their digest, some whole texts through the page's own fields, what it refuses, its size and its
# time. Run by ctest: page_test.sh PAGE MODULE PAGE_DIGEST MXCHECK WORK
set -euo pipefail
page=$1 module=$2 page_digest=$3 mxcheck=$4 work=$5
blocks=${MX_PAGE_BLOCKS:-200}
failures=0

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$chromium" ] || { echo 'skipped: no Chromium is here' && exit 77; }
command -v python3 >/dev/null || { echo 'skipped: no python3 is here' && exit 77; }
rm -rf "$work" && mkdir -p "$work"

check() { # SENTENCE COMMAND...
  if "${@:2}"; then echo "ok: $1"; else echo "FAILED: $1" && failures=$((failures + 1)); fi
}

# Opens the page with what stands behind # in its address; prints its document. Chromium may print
# it before the module is compiled, on another thread: it is asked again, a few times.
opened() { # FRAGMENT
  for _ in 1 2 3 4 5 6; do
    "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
      --virtual-time-budget=600000 --timeout=280000 --dump-dom "file://$page#$1" \
      >"$work/document" 2>"$work/log"
    grep -q '>Loading\.<' "$work/document" || break
  done
  cat "$work/document"
}

# The texts of an explanation in a document, a line each, without the margin.
texts_of() { # DOCUMENT
  python3 - "$1" <<'PY'
import html.parser, sys
class Texts(html.parser.HTMLParser):
    taken = False
    lines = []
    def handle_starttag(self, tag, attributes):
        self.taken = tag in ("pre", "h2") or dict(attributes).get("id") == "said"
    def handle_endtag(self, tag):
        self.taken = False
    def handle_data(self, data):
        if self.taken: self.lines += [line for line in data.split("\n") if line.strip()]
texts = Texts()
texts.feed(open(sys.argv[1]).read())
print("\n".join(texts.lines))
PY
}

digest_on_page() { # COUNT
  opened "digest=$1" >"$work/digest.html"
  grep -o 'digest [0-9a-f]\{64\}' "$work/digest.html" | cut -d' ' -f2
}
same_digest() { [ "$(digest_on_page "$blocks")" = "$("$page_digest" "$1" "$blocks")" ]; }
other_digest() { ! same_digest "$@"; }
start=$(date +%s%N)
check "$blocks blocks have the native program's answers" same_digest 0
spent=$((($(date +%s%N) - start) / 1000000))
check "$spent ms for them here and there: at most 100 ms a block" \
  [ "$spent" -le $((100 * blocks)) ]
check 'other blocks have another digest' other_digest 1

same_text() { # FRAGMENT ARGUMENT... of mxcheck explain
  opened "$1" >"$work/page.html"
  texts_of "$work/page.html" >"$work/page.txt"
  "$mxcheck" explain "${@:2}" | sed -n 's/^  //; /./p' >"$work/native.txt"
  diff "$work/native.txt" "$work/page.txt"
}
check 'typed values are explained as by the program' \
  same_text 'values=2.8,-1.2&format=mxfp8-e4m3&dialect=nv&input=bf16' \
  --values 2.8,-1.2 --format mxfp8-e4m3 --dialect nv --input bf16
check 'and those of NVFP4' same_text 'values=2.8%2Cnan&format=nvfp4' \
  --values 2.8,nan --format nvfp4 --dialect te-nvfp4
line='quantize format=mxfp4-e2m1 dialect=ocp shape=4x32 data=edge.tie'
check 'a block of a case' same_text "case=${line// /%20}&block=2" "$line" --block 2

says() { # FRAGMENT SENTENCE
  opened "$1" >"$work/page.html"
  texts_of "$work/page.html" >"$work/page.txt"
  grep -qF -e "$2" "$work/page.txt"
}
check 'a wrong number is a sentence' says 'values=abc' "value 'abc' is not a number"
check 'a file is refused' \
  says 'case=quantize format=mxfp8-e4m3 dialect=ocp shape=1x32 data=file:x.npy' \
  'a page opens no file'
check 'a gemm is refused' says 'case=gemm a=e4m3 b=e4m3' 'a gemm has no block to explain'
check 'nothing is asked of a network' [ "$(grep -c 'https\?://' "$page")" = 0 ]
size=$(gzip -9nc "$module" | wc -c)
check "the module is $size bytes compressed, at most 250,000" [ "$size" -le 250000 ]

[ "$failures" = 0 ]
