// The element formats of OCP MX and the decisions of a dialect, as hardware reads them. Used by
// every module of this folder. A chip with one format ties `format` to a constant, and synthesis
// removes the rest.
package mx_pkg;

  typedef enum logic [2:0] {
    e4m3 = 3'd0,
    e5m2 = 3'd1,
    e3m2 = 3'd2,
    e2m3 = 3'd3,
    e2m1 = 3'd4
  } format_e;

  typedef enum logic {
    scale_floor = 1'b0,    // the exponent of amax, less the exponent of the largest element
    scale_round_up = 1'b1  // amax times 1 / (largest element) in binary32, its exponent rounded up
  } scale_rule_e;

  typedef enum logic {
    special_poisons_block = 1'b0,  // a NaN or an infinity makes the block NaN
    special_is_element = 1'b1      // a NaN is an element of its own; an infinity is the largest
  } special_rule_e;

  typedef enum logic [1:0] {
    nearest_even = 2'd0,
    nearest_away = 2'd1,
    toward_zero = 2'd2
  } rounding_e;

  typedef enum logic {
    saturate = 1'b0,
    to_infinity = 1'b1  // to NaN where there is no infinity, to the largest where there is neither
  } overflow_e;

  // What a dialect decides.
  typedef struct packed {
    scale_rule_e   scale_rule;
    special_rule_e special_rule;
    rounding_e     rounding;
    overflow_e     overflow;
  } decisions_t;

  // What a format fixes: numbers that section 5.3 of OCP MX v1.0 gives, or that follow from it.
  typedef struct packed {
    logic [1:0]        mantissa_bits;
    logic signed [5:0] exponent_min;   // of the smallest normal
    logic signed [5:0] exponent_max;   // of the largest value
    logic [7:0]        code_max;       // the largest value
    logic [7:0]        code_overflow;  // what an overflow gives that does not saturate
    logic [7:0]        code_nan;       // the largest value where there is no NaN
    logic [7:0]        sign_bit;
    logic [23:0]       reciprocal;     // significand of binary32(1 / largest); its exponent is
                                       // -(exponent_max + 1) in all five formats
  } format_t;

  function automatic format_t format_of(input format_e format);
    unique case (format)
      e5m2: format_of = '{2'd2, -6'sd14, 6'sd15, 8'h7B, 8'h7C, 8'h7F, 8'h80, 24'h924925};
      e3m2: format_of = '{2'd2, -6'sd2, 6'sd4, 8'h1F, 8'h1F, 8'h1F, 8'h20, 24'h924925};
      e2m3: format_of = '{2'd3, 6'sd0, 6'sd2, 8'h1F, 8'h1F, 8'h1F, 8'h20, 24'h888889};
      e2m1: format_of = '{2'd1, 6'sd0, 6'sd2, 8'h07, 8'h07, 8'h07, 8'h08, 24'hAAAAAB};
      default: format_of = '{2'd3, -6'sd6, 6'sd8, 8'h7E, 8'h7F, 8'h7F, 8'h80, 24'h924925};
    endcase
  endfunction

  // What a code is: a number of units of 2^-16, or none.
  typedef struct packed {
    logic        is_nan, is_infinite, is_negative;
    logic [31:0] units;
  } number_t;

  function automatic number_t number_of(input logic [7:0] code, input format_e format);
    logic [4:0] field;
    logic [3:0] fraction;  // with its leading one
    number_of = '0;
    unique case (format)
      e5m2: begin
        field = code[6:2];
        fraction = {1'b0, field != 0, code[1:0]};
        number_of.units = 32'(fraction) << (field == 0 ? 5'd0 : field - 5'd1);  // of 2^-16
        number_of.is_negative = code[7];
        number_of.is_infinite = code[6:0] == 7'h7C;
        number_of.is_nan = code[6:0] > 7'h7C;
      end
      e3m2: begin
        field = 5'(code[4:2]);
        fraction = {1'b0, field != 0, code[1:0]};
        number_of.units = 32'(fraction) << (12 + (field == 0 ? 5'd0 : field - 5'd1));
        number_of.is_negative = code[5];
      end
      e2m3: begin
        field = 5'(code[4:3]);
        fraction = {field != 0, code[2:0]};
        number_of.units = 32'(fraction) << (13 + (field == 0 ? 5'd0 : field - 5'd1));
        number_of.is_negative = code[5];
      end
      e2m1: begin
        field = 5'(code[2:1]);
        fraction = {2'b0, field != 0, code[0]};
        number_of.units = 32'(fraction) << (15 + (field == 0 ? 5'd0 : field - 5'd1));
        number_of.is_negative = code[3];
      end
      default: begin  // e4m3
        field = 5'(code[6:3]);
        fraction = {field != 0, code[2:0]};
        number_of.units = 32'(fraction) << (7 + (field == 0 ? 5'd0 : field - 5'd1));
        number_of.is_negative = code[7];
        number_of.is_nan = code[6:0] == 7'h7F;
      end
    endcase
  endfunction

  // Planted faults: which one is on, 0 none. Only where MX_PLANTED_FAULTS is defined can it be
  // another number than 0; see README.md.
  typedef enum logic [3:0] {
    no_fault = 4'd0,
    sticky_lost = 4'd1,
    subnormal_input = 4'd2,
    biased_shift = 4'd3,
    comparator_tree = 4'd4,
    late_codes = 4'd5,
    beat_dropped = 4'd6,
    reset_in_block = 4'd7,
    x_not_cleared = 4'd8,
    previous_scale = 4'd9,
    carry_lost = 4'd10,
    nan_element = 4'd11,
    element_order = 4'd12
  } fault_e;

endpackage
