// A quantizer of one block a cycle, float32 to MXFP8 E4M3 by OCP MX v1.0 section 6.3, small enough
// to be read: what the testbenches of this folder and the cocotb tests have to hold. `defect`
// plants a fault, by which the tests see that they can fail; 0 is none.
module tiny_quantizer #(
    parameter int K = 32
) (
    input  logic            clk,
    input  logic            reset,
    input  logic [     2:0] defect,
    input  logic            in_valid,
    input  logic [32*K-1:0] values,    // element 0 in the low bits
    output logic            out_valid,
    output logic [ 8*K-1:0] codes,
    output logic [     7:0] scale
);

  // The largest magnitude, as bits: those of NaN and infinity lie above all others.
  function automatic logic [30:0] amax_of(input logic [32*K-1:0] block, input logic [2:0] fault);
    logic [30:0] amax = '0;
    for (int i = 0; i < (fault == 2 ? K - 1 : K); ++i)
      if (block[32*i+:31] > amax) amax = block[32*i+:31];
    return amax;
  endfunction

  // 2^(floor(log2 amax) - 8), at least 2^-127; NaN for an amax that is no number.
  function automatic logic [7:0] scale_of(input logic [30:0] amax);
    if (amax[30:23] == 8'hFF) return 8'hFF;
    return amax[30:23] > 8 ? amax[30:23] - 8 : 8'h00;
  endfunction

  // value / 2^(byte - 127) as sign and magnitude: significand * 2^exponent, cut at a quantum of
  // 2^-9 or, above 2^-6, at three bits behind the first; rounded to nearest, ties to even. Codes
  // count quanta, so that a carry lands on the next binade by itself.
  function automatic logic [7:0] code_of(input logic [31:0] value, input logic [7:0] byte_,
                                         input logic [2:0] fault);
    logic [23:0] significand;
    logic [63:0] wide;
    logic [31:0] kept, code;
    logic guard, sticky;
    int exponent, top, quantum, dropped;
    if (byte_ == 8'hFF) return 8'h7F;
    significand = {value[30:23] != 0, value[22:0]};
    exponent = (value[30:23] == 0 ? 1 : int'(value[30:23])) - 23 - int'(byte_);
    top = exponent;
    for (int i = 0; i < 24; ++i) if (significand[i]) top = exponent + i;
    quantum = top - 3 > -9 ? top - 3 : -9;
    dropped = quantum - exponent;
    if (dropped > 40) return {value[31], 7'h00};
    // Room for what is dropped below and, of subnormal inputs, for zeros appended above.
    wide = dropped >= 0 ? {{40{1'b0}}, significand} << (40 - dropped)
                        : {{40{1'b0}}, significand} << 40 << -dropped;
    kept = {8'h00, wide[63:40]};
    guard = wide[39];
    sticky = fault == 1 ? 1'b0 : |wide[38:0];
    kept += 32'(guard && (sticky || kept[0]));
    code = kept + (32'(quantum + 9) << 3);
    return {value[31], code > 32'h7E ? 7'h7E : code[6:0]};
  endfunction

  logic [ 7:0] scale_now;
  logic [ 7:0] scale_before;
  logic [8*K-1:0] codes_now;
  always_comb begin
    scale_now = scale_of(amax_of(values, defect));
    for (int i = 0; i < K; ++i) codes_now[8*i+:8] = code_of(values[32*i+:32], scale_now, defect);
    if (defect == 4) {codes_now[0+:8], codes_now[8+:8]} = {codes_now[8+:8], codes_now[0+:8]};
  end

  always_ff @(posedge clk) begin
    out_valid <= in_valid && !reset;
    codes <= codes_now;
    scale <= defect == 3 ? scale_before : scale_now;
    scale_before <= scale_now;
  end

endmodule
