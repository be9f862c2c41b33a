// The E8M0 scale of a block from its amax, a binary32 code without its sign. No clock.
module mx_scale
  import mx_pkg::*;
(
    input  logic [30:0] amax,
    input  format_t     format,
    input  decisions_t  decisions,
    output logic [7:0]  scale
);
  localparam logic [30:0] infinity = {8'hFF, 23'b0};
  // Half a unit of the last place of 1.0, which stands in bit 47: a product of no more than that
  // above a power of two is rounded to it. One bit less is left of a subnormal one.
  localparam logic [47:0] half_unit = 48'd1 << 23, half_unit_subnormal = 48'd1 << 24;

  logic [47:0]        product, fraction;
  logic signed [9:0]  floor_byte, product_byte;
  logic               is_above;
  always_comb begin
    floor_byte = $signed({2'b0, amax[30:23]}) - 10'(format.exponent_max);

    product = {1'b1, amax[22:0]} * 48'(format.reciprocal);  // 1 <= product / 2^46 < 4
    fraction = product[47] ? {1'b0, product[46:0]} : {1'b0, product[45:0], 1'b0};
    product_byte = floor_byte - 10'sd1 + (product[47] ? 10'sd1 : 10'sd0);
    is_above = fraction > (product_byte > 0 ? half_unit : half_unit_subnormal);
    if (is_above) product_byte = product_byte + 1;

    if (amax >= infinity)
      scale = decisions.special_rule == special_poisons_block ? 8'hFF : 8'hFE;
    else if (decisions.scale_rule == scale_floor)
      scale = floor_byte < 0 ? 8'd0 : floor_byte[7:0];
    else
      // A subnormal amax is far below the smallest scale times the largest element.
      scale = product_byte < 0 || amax[30:23] == 0 ? 8'd0 : product_byte[7:0];
  end
endmodule
