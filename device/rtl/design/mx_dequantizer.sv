// Values of MX blocks in binary32: element times 2^(scale - 127), which is exact but where it lies
// beyond binary32. ELEMENTS of them a beat, with the scale of their block; one cycle.
module mx_dequantizer
  import mx_pkg::*;
#(
    parameter int ELEMENTS = 32
) (
    input  logic                   clk,
    input  logic [2:0]             format,
    input  logic [ELEMENTS*8-1:0]  in_codes,
    input  logic [7:0]             in_scale,
    output logic [ELEMENTS*32-1:0] out_values
);
  // Units are 2^-16: a leading one in bit p under that scale has the exponent field p + scale - 16.
  function automatic logic [31:0] value_of(input number_t number, input logic [7:0] scale);
    logic signed [10:0] field;
    logic [5:0]         leading;
    logic [63:0]        aligned;
    leading = 0;
    for (int i = 0; i < 32; i++) if (number.units[i]) leading = 6'(i);
    field = $signed({5'b0, leading}) + $signed({3'b0, scale}) - 11'sd16;
    // The leading one to bit 55, or below it where the field would be 0 or less.
    aligned = 64'(number.units) << (6'd55 - leading);
    if (field < 1) aligned = aligned >> (11'sd1 - field);
    value_of = {number.is_negative, field < 1 ? 8'd0 : 8'(field), aligned[54:32]};
    if (field < 1) value_of[23] = aligned[55];
    if (number.units == 0) value_of = {number.is_negative, 31'b0};
    else if (field > 11'sd254) value_of = {number.is_negative, 31'h7F800000};
    if (number.is_infinite) value_of = {number.is_negative, 31'h7F800000};
    if (number.is_nan || scale == 8'hFF) value_of = 32'h7FC00000;
  endfunction

  always_ff @(posedge clk)
    for (int i = 0; i < ELEMENTS; i++)
      out_values[32*i+:32] <= value_of(number_of(in_codes[8*i+:8], format_e'(format)), in_scale);
endmodule
