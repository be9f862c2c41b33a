// The dot product of two rows of MX blocks, in binary32: exact sums, rounded once to nearest even.
//
// A beat is one block of each row: 32 codes and a scale. The beat with `in_last` ends the rows.
// Products and their sum over a block are integers in units of 2^-32, the square of the smallest
// subnormal of E5M2. The accumulator holds the sum over blocks in units of 2^-286, the smallest
// product under the smallest two scales, so that nothing is ever lost: 2 * 254 bits for the scales,
// 70 for a block, a sign, and 13 for as many as 8192 blocks.
module mx_dot
  import mx_pkg::*;
#(
    parameter int BLOCK = 32
) (
    input  logic clk,
    input  logic rst_n,
    input  logic [2:0] format_a,
    input  logic [2:0] format_b,
    input  logic               in_valid,
    output logic               in_ready,
    input  logic               in_last,
    input  logic [BLOCK*8-1:0] in_a,
    input  logic [BLOCK*8-1:0] in_b,
    input  logic [7:0]         in_scale_a,
    input  logic [7:0]         in_scale_b,
    output logic               out_valid,
    input  logic               out_ready,
    output logic [31:0]        out_d
);
  localparam int WIDTH = 592;
  localparam int SUBNORMAL_BIT = 137;  // 2^-149 in units of 2^-286

  // The sum of a block, and what in it is no number.
  logic signed [70:0] block_sum;
  logic block_nan, block_plus, block_minus;
  always_comb begin
    number_t a, b;
    logic    is_negative;
    block_sum = 0;
    block_nan = in_scale_a == 8'hFF || in_scale_b == 8'hFF;
    block_plus = 0;
    block_minus = 0;
    for (int i = 0; i < BLOCK; i++) begin
      a = number_of(in_a[8*i+:8], format_e'(format_a));
      b = number_of(in_b[8*i+:8], format_e'(format_b));
      is_negative = a.is_negative != b.is_negative;
      if (a.is_nan || b.is_nan || (a.is_infinite && b.units == 0 && !b.is_infinite) ||
          (b.is_infinite && a.units == 0 && !a.is_infinite))
        block_nan = 1;
      else if (a.is_infinite || b.is_infinite) begin
        if (is_negative) block_minus = 1;
        else block_plus = 1;
      end else begin
        if (is_negative) block_sum = block_sum - $signed({7'b0, 64'(a.units) * 64'(b.units)});
        else block_sum = block_sum + $signed({7'b0, 64'(a.units) * 64'(b.units)});
      end
    end
  end

  // Adds a block in each beat; the sum leaves with the last one.
  logic signed [WIDTH-1:0] accumulator, next, result;
  logic any_nan, any_plus, any_minus, result_nan, result_plus, result_minus;
  logic accepts;
  assign in_ready = !in_last || !out_valid || out_ready;
  assign accepts = in_valid && in_ready;
  assign next = accumulator + (WIDTH'(block_sum) <<< (9'(in_scale_a) + 9'(in_scale_b)));

  always_ff @(posedge clk) begin
    if (out_valid && out_ready) out_valid <= 1'b0;
    if (accepts) begin
      accumulator <= in_last ? '0 : next;
      {any_nan, any_plus, any_minus} <=
          in_last ? 3'b0
                  : {any_nan | block_nan, any_plus | block_plus, any_minus | block_minus};
    end
    if (accepts && in_last) begin
      result <= next;
      {result_nan, result_plus, result_minus} <=
          {any_nan | block_nan, any_plus | block_plus, any_minus | block_minus};
      out_valid <= 1'b1;
    end
    if (!rst_n) begin
      accumulator <= '0;
      {any_nan, any_plus, any_minus} <= 3'b0;
      out_valid <= 1'b0;
    end
  end

  // Rounds the sum. The last bit that stays is 23 below the leading one, or worth 2^-149. As in
  // mx_element, a carry runs into the exponent field.
  logic [WIDTH-1:0] magnitude, below;
  logic [9:0]       leading, last;
  logic [24:0]      kept;
  logic             guard, sticky;
  logic [31:0]      code;
  always_comb begin
    magnitude = result[WIDTH-1] ? -result : result;
    leading = 0;
    for (int i = 0; i < WIDTH; i++) if (magnitude[i]) leading = 10'(i);
    last = leading > 10'(SUBNORMAL_BIT + 23) ? leading - 10'd23 : 10'(SUBNORMAL_BIT);
    kept = 25'(magnitude >> last);
    below = magnitude << (10'(WIDTH) - last);
    guard = below[WIDTH-1];
    sticky = below[WIDTH-2:0] != 0;
    code = ((32'(last) - 32'(SUBNORMAL_BIT)) << 23) + 32'(kept) +
           32'(guard && (sticky || kept[0]));
    if (code > 32'h7F800000) code = 32'h7F800000;
    code[31] = result[WIDTH-1];
    if (result_nan || (result_plus && result_minus)) code = 32'h7FC00000;
    else if (result_plus || result_minus) code = {result_minus, 31'h7F800000};
  end
  assign out_d = code;
endmodule
