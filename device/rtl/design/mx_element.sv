// One element: a binary32 value, divided by 2^(scale - 127), rounded once to a code. No clock.
//
// The value is significand * 2^(exponent - 23) with a leading one in bit 23 of the significand. Its
// code is the significand, shifted so that its last bit is worth the format's unit, plus the
// exponent above the smallest normal's in units of 2^mantissa_bits: the leading one of a normal
// adds the last 1 of its exponent field, and a carry of the rounding runs into that field.
module mx_element
  import mx_pkg::*;
(
    input  logic [31:0] value,
    input  logic [7:0]  scale,  // 255: the block is NaN
    input  format_t     format,
    input  decisions_t  decisions,
    input  fault_e      fault,
    output logic [7:0]  code
);
  logic is_nan, is_infinite, is_zero;
  assign is_nan = value[30:23] == 8'hFF && value[22:0] != 0;
  assign is_infinite = value[30:23] == 8'hFF && value[22:0] == 0;
  assign is_zero = value[30:0] == 0;

  // A subnormal is shifted until its leading one stands in bit 23.
  logic [23:0] raw, significand;
  logic [4:0]  leading_zeros;
  always_comb begin
    raw = {value[30:23] != 0, value[22:0]};
    leading_zeros = 0;
    for (int i = 0; i < 24; i++) if (raw[i]) leading_zeros = 5'(23 - i);
    if (fault == subnormal_input) leading_zeros = 0;
    significand = raw << leading_zeros;
  end

  // Of value / 2^(scale - 127): the field of a subnormal counts as 1, and both biases cancel.
  logic signed [10:0] exponent, excess;
  always_comb begin
    exponent = $signed({3'b0, value[30:23] == 0 ? 8'd1 : value[30:23]}) -
               $signed({6'b0, leading_zeros}) - $signed({3'b0, scale});
    excess = exponent - 11'(format.exponent_min);  // below 0: the code is subnormal
  end

  // The bits that stay, the first one that goes, and whether any behind it was 1.
  logic [4:0]  shift;
  logic [24:0] kept, mask;
  logic        guard, sticky, up;
  logic signed [10:0] below;
  always_comb begin
    below = excess < 0 ? -excess : 11'd0;
    if (fault == biased_shift && excess < 0) below = below + 1;
    shift = below > 11'd4 ? 5'd27 : 5'd23 - 5'(format.mantissa_bits) + 5'(below);
    if (shift > 5'd25) shift = 5'd25;
    kept = {1'b0, significand} >> shift;
    guard = 1'((26'(significand) << 1 >> shift) & 26'd1);
    mask = (25'd1 << shift) >> 1;
    sticky = (significand & 24'(mask - 25'd1)) != 0;
    if (fault == sticky_lost && excess < 0) sticky = 0;
    unique case (decisions.rounding)
      nearest_away: up = guard;
      toward_zero: up = 0;
      default: up = guard && (sticky || kept[0]);
    endcase
  end

  logic [10:0] sum, magnitude;
  logic        too_large;
  always_comb begin
    sum = 11'(kept) + 11'(up);
    if (fault == carry_lost && excess >= 0 && sum == 11'd2 << format.mantissa_bits)
      sum = 11'd1 << format.mantissa_bits;
    magnitude = (11'(excess > 0 ? excess : 11'sd0) << format.mantissa_bits) + sum;
    too_large = is_infinite || exponent > 11'(format.exponent_max) ||
                magnitude > 11'(format.code_max);
    if (is_zero) magnitude = 0;
    code = magnitude[7:0];
    // Cut off, a number stays below infinity.
    if (too_large && !is_zero)
      code = decisions.overflow == saturate || (decisions.rounding == toward_zero && !is_infinite)
             ? format.code_max : format.code_overflow;
    if (value[31]) code = code | format.sign_bit;
    if (scale == 8'hFF || (is_nan && fault != nan_element)) code = format.code_nan;
  end
endmodule
