#!/usr/bin/env bash
# Hardware designs as devices: ours, with planted faults, and descriptions that are wrong. Run by
# ctest with the program, a folder to work in, the folder of the plug-ins and that of the designs.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/scenes.sh"
designs=$4
command -v verilator >/dev/null || { echo "skipped: no verilator here" && exit "$skipped"; }
command -v c++ >/dev/null || { echo "skipped: no c++ here" && exit "$skipped"; }
export MXCHECK_CACHE=$work/cache
smoke=(--level smoke --suite quantize)

# Ours conform.
expect 0 'No fault found' run --rtl "$designs/mx_quantizer.toml" "${smoke[@]}" --out quantizer
check "the header names the simulator" grep -q '"key":"driver","value":"Verilator' \
  quantizer/results.jsonl
expect 0 'all of 20 cases that the device supports pass' run --level smoke --suite convert \
  --device "rtl:$designs/mx_convert.toml" --out convert
# Cut off, a number is never infinite; and there are no random words for stochastic rounding.
printf '%s %s\n' 'smoke convert format=e4m3,e5m2 dialect=ocp input=f32 layout=dense shape=32x32' \
  'rounding=toward_zero,stochastic8 overflow=overflow subnormals=honoured data=edge.tie index=0' \
  >cut.suite
expect 0 'all of 2 cases that the device supports pass; 2 not supported' run --level smoke \
  --device "rtl:$designs/mx_convert.toml" --suite-file cut.suite --out cut
expect 0 'all of 16 cases that the device supports pass' run --level smoke --suite gemm \
  --device "rtl:$designs/mx_dot.toml" --out dot
expect 0 'No fault found' run --level smoke --suite dequantize \
  --device "rtl:$designs/mx_dequantizer.toml" --out dequantizer
expect 0 'No fault found' run --rtl "$designs/mx_quantizer.toml" "${smoke[@]}" --jobs 4 \
  --out quantizer_jobs
refuse 2 'are two devices; name one' run --rtl a.toml --device nvhost --out refused

# Twelve planted faults, each killed: by verdicts, with what the run says of their cause, or before
# a verdict, because the design does not keep what a handshake, a reset or a block promises.
planted=$designs/planted_faults.toml
expect 0 'No fault found' run --rtl "$planted" "${smoke[@]}" --out planted
killed() { # NUMBER NAME CODE SENTENCE
  expect "$3" "$4" run --device "rtl:$planted:fault=$1" "${smoke[@]}" --out "planted_$1"
}
killed 1 sticky_lost 1 'cause: A subnormal element is rounded by the first digit that is dropped'
killed 2 subnormal_input 1 \
  'cause: A subnormal input is read as a normal number whose exponent field is 0; nothing else'
killed 3 biased_shift 1 'cause: A subnormal element is shifted by one bit too many; nothing else'
killed 4 comparator_tree 1 'cause: The amax leaves out element 31 of a block; nothing else is wrong'
killed 5 late_codes 3 'its codes settle in cycle 1 after its valid: they come too late'
killed 6 beat_dropped 3 'where nothing more goes in it stays: the design takes a beat for which it'
killed 7 reset_in_block 3 'the same blocks give other bits after a reset in mid-block'
killed 8 x_not_cleared 3 'there is a register that reset does not clear'
killed 9 previous_scale 3 'the design gives each block the scale of the block before it'
killed 10 carry_lost 1 'cause: A carry of the rounding does not reach the exponent; nothing else'
killed 11 nan_element 1 'cause: A NaN becomes what a number too large becomes; nothing else'
killed 12 element_order 1 'cause: Neighbouring elements of a block change places; nothing else'

# A repro line works as it stands, and its trace names the cycle.
case_text=$(grep -ho "quantize format=[^']*" planted_1/report.md | sed -n 1p)
expect 1 'the last of 4 comes out in cycle' replay "$case_text" \
  --device "rtl:$planted:fault=1,trace=failing.vcd"
check "there is a trace" grep -q 'mx_quantizer' failing.vcd
refuse 2 'a trace is a file .vcd or .fst' run --device "rtl:$planted:trace=x.txt" --out refused
expect 3 'there is nothing called "falt"' run --device "rtl:$planted:falt=1" --out refused
expect 3 'configuration fault=16: 4 bits are there for it' run --device "rtl:$planted:fault=16" \
  --out refused

# A tile of four products: rows and columns that end within it.
cat >tile.sv <<'END'
module tile (input logic clk, input logic rst_n, input logic in_valid, output logic in_ready,
             input logic in_last, input logic [511:0] a, input logic [511:0] b,
             input logic [15:0] scales_a, input logic [15:0] scales_b, output logic out_valid,
             input logic out_ready, output logic [127:0] d);
  logic [3:0] ready, valid;
  assign in_ready = ready[0];
  assign out_valid = valid[0];
  for (genvar i = 0; i < 4; i++) begin : product
    mx_dot dot (.clk, .rst_n, .format_a(3'd4), .format_b(3'd4), .in_valid, .in_ready(ready[i]),
                .in_last, .in_a(a[256*(i/2)+:256]), .in_b(b[256*(i%2)+:256]),
                .in_scale_a(scales_a[8*(i/2)+:8]), .in_scale_b(scales_b[8*(i%2)+:8]),
                .out_valid(valid[i]), .out_ready, .out_d(d[32*i+:32]));
  end
endmodule
END
sed -e 's/"mx_dot"/"tile"/' -e "s|\"mx_|\"$designs/mx_|g" -e 's/dot.sv"/dot.sv", "tile.sv"/' \
  -e 's/"dot"/"gemm"\nrows = 2\ncolumns = 2/' -e 's/"in_a"/"a"/; s/"in_b"/"b"/; s/"out_d"/"d"/' \
  -e 's/"in_scale_/"scales_/' -e '/^\[\[mode/,$d' "$designs/mx_dot.toml" >tile.toml
printf '[[mode]]\na = "mxfp4-e2m1"\nb = "mxfp4-e2m1"\noutput = "f32"\n' >>tile.toml
printf '%s %s\n' 'smoke gemm a=mxfp4-e2m1 b=mxfp4-e2m1 output=f32 shape=9x15x77,3x1x32 batches=2' \
  'data=gemm.exact-signs index=0' >tile.suite
expect 0 'all of 2 cases pass' run --rtl tile.toml --level smoke --suite-file tile.suite --out tile

# A comparator tree that Verilator 5.006 freezes, written so that it has no clock. Where another
# Verilator simulates it, its scales are right, and the codes, all zero, are not.
cat >tree.sv <<'END'
module tree (input logic [1023:0] in_values, output logic [255:0] out_codes,
             output logic [7:0] out_scale);
  logic [5:0][31:0][7:0] largest;
  for (genvar i = 0; i < 32; i++) assign largest[0][i] = in_values[32*i+23+:8];
  for (genvar level = 0; level < 5; level++) begin : levels
    for (genvar i = 0; i < 16 >> level; i++) begin : pairs
      assign largest[level+1][i] = largest[level][2*i] > largest[level][2*i+1]
                                   ? largest[level][2*i] : largest[level][2*i+1];
    end
  end
  assign out_scale = largest[5][0] - 8'd8;
  assign out_codes = '0;
endmodule
END
describe() { # TOP KEY-LINE
  printf 'top = "%s"\nfiles = ["%s.sv"]\noperation = "quantize"\n%s\n[ports]\n' "$1" "$1" "$2"
  printf 'values = "in_values"\ncodes = "out_codes"\nscales = "out_scale"\n%s\n' "$3"
  printf '[[mode]]\nformat = "mxfp8-e4m3"\ndialect = "ocp"\ninput = "f32"\n'
}
describe tree 'latency = 0' '' >tree.toml
if [[ $(verilator --version) == *' 5.006 '* ]]; then
  expect 3 'the simulator is at fault, for a design without a clock remembers nothing' \
    run --rtl tree.toml "${smoke[@]}" --out refused
else
  expect 1 'and 0 of' run --rtl tree.toml "${smoke[@]}" --out tree
fi

# With a clock it could be the design: this one answers each block as the first one.
cat >frozen.sv <<'END'
module frozen (input logic clk, input logic rst_n, input logic in_valid, output logic in_ready,
               input logic [1023:0] in_values, output logic out_valid, input logic out_ready,
               output logic [255:0] out_codes, output logic [7:0] out_scale);
  logic has_begun;
  assign in_ready = !out_valid || out_ready;
  assign out_codes = '0;
  always_ff @(posedge clk) begin
    if (in_ready) out_valid <= in_valid;
    if (in_ready && in_valid && !has_begun) {has_begun, out_scale} <= {1'b1, in_values[30:23]};
    if (!rst_n) {out_valid, has_begun} <= 2'b0;
  end
endmodule
END
describe frozen '' 'in_valid = "in_valid"
in_ready = "in_ready"
out_valid = "out_valid"
out_ready = "out_ready"
[clock]
port = "clk"
[reset]
port = "rst_n"' >frozen.toml
expect 3 'the simulator has frozen a part of the design' run --rtl frozen.toml "${smoke[@]}" \
  --out refused
check "no results of a design that was not judged" [ ! -e refused ]

# Unpacked ports, and element 0 at the high end.
cat >wrapped.sv <<'END'
module wrapped (input logic clk, input logic [2:0] format, input logic [31:0] in_values [4],
                output logic [31:0] out_codes);
  logic [127:0] values;
  always_comb for (int i = 0; i < 4; i++) values[32*(3-i)+:32] = in_values[3-i];
  logic [31:0] codes;
  mx_convert #(.ELEMENTS(4)) convert (.clk, .format, .is_bf16(1'b0), .rounding(2'd0),
                                      .overflow(1'b0), .in_values(values), .out_codes(codes));
  assign out_codes = codes;
endmodule
END
cat >wrapped.toml <<END
top = "wrapped"
files = ["$designs/mx_pkg.sv", "$designs/mx_element.sv", "$designs/mx_convert.sv", "wrapped.sv"]
operation = "convert"
elements = 4
latency = 1
order = "high-first"
[clock]
port = "clk"
[ports]
values = "in_values"
codes = "out_codes"
[[mode]]
format = "e4m3"
dialect = "ocp"
input = "f32"
rounding = "nearest_even"
overflow = "saturate"
constants = { format = 0 }
END
expect 0 'all of 2 cases that the device supports pass' run --rtl wrapped.toml --level smoke \
  --suite convert --out wrapped
if printf '#include <zlib.h>\n' | c++ -E -x c++ - >/dev/null 2>&1; then
  case_text=$(grep -o 'convert format=[^"]*' wrapped/results.jsonl | sed -n 1p)
  expect 0 'comes out in cycle' replay "$case_text" \
    --device "rtl:wrapped.toml:trace=wave.fst"
  check "there is a trace in FST" [ -s wave.fst ]
fi
# A latency that is not the design's.
sed -i 's/^latency = 1/latency = 2/' wrapped.toml
expect 3 'gives each beat the codes of the beat after it; is its latency right?' run \
  --rtl wrapped.toml --level smoke --suite convert --out wrong_latency

# What is wrong with a description is said with its file and key, before anything is built; of ports
# once Verilator has read the design. test_rtl_description has all the sentences.
wrong() { # SENTENCE SED-EXPRESSION
  sed "$2" "$designs/mx_quantizer.toml" >wrong.toml
  sed -i "s|\"mx_|\"$designs/mx_|g; s|^top = .*|top = \"mx_quantizer\"|" wrong.toml
  refuse 2 "$1" run --rtl wrong.toml --out refused
}
refuse 2 'none.toml' run --rtl none.toml --out refused
wrong 'wrong.toml:2: ' '2s/=//'
wrong "did you mean 'reset'?" 's/^\[reset\]/[rest]/'
wrong "has no port out_code; it has clk" 's/"out_codes"/"out_code"/'
wrong "is an output of the design" 's/^rounding = .*/in_ready = 1/; s/^in_ready = "in_ready"//'
wrong "'codes' = \"out_scale\": the port has 8 bits, and 32 codes of 8 bits take 256" \
  's/"out_codes"/"out_scale"/; s/^scales = "out_scale"/scales = "out_codes"/'
echo 'module broken (input logic clk); assign = 1; endmodule' >broken.sv
sed -e 's/^top.*/top = "broken"/' -e 's/^files.*/files = ["broken.sv"]/' \
  "$designs/mx_quantizer.toml" >broken.toml
refuse 2 'verilator failed: %Error: ' run --rtl broken.toml --out refused
mkdir bin
for tool in c++ timeout cat grep wc head; do ln -s "$(command -v "$tool")" bin/; done
PATH=$work/bin refuse 2 'verilator is not to be found' run --rtl "$planted" --out refused
expect 0 'device rtl:      builds designs with Verilator' doctor
PATH=$work/bin expect 0 'device rtl:      skipped, and with it the tests of hardware designs' doctor
ln -s "$(command -v false)" bin/verilator
PATH=$work/bin refuse 2 'verilator is not to be found' run --rtl "$planted" --out refused

times >times
printf '%s: user and system time of all that ran here\n' "$(sed -n 2p times)"
finish
