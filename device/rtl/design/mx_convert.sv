// Converts binary32 or bfloat16 values to elements without a scale, ELEMENTS of them a beat: the
// element path of mx_quantizer by itself, so that it can be asked for every input there is.
module mx_convert
  import mx_pkg::*;
#(
    parameter int ELEMENTS = 32
) (
    input  logic clk,
    input  logic [2:0] format,
    input  logic       is_bf16,
    input  logic [1:0] rounding,
    input  logic       overflow,
    input  logic [ELEMENTS*32-1:0] in_values,
    output logic [ELEMENTS*8-1:0]  out_codes  // one cycle later
);
  localparam logic [7:0] scale_one = 8'd127;

  format_t    format_facts;
  decisions_t decisions;
  logic [ELEMENTS*32-1:0] values;
  always_ff @(posedge clk) begin
    format_facts <= format_of(format_e'(format));
    decisions <= '{scale_floor, special_is_element, rounding_e'(rounding),
                   overflow_e'(overflow)};
    for (int i = 0; i < ELEMENTS; i++)
      values[32*i+:32] <= is_bf16 ? {in_values[32*i+:16], 16'b0} : in_values[32*i+:32];
  end

  for (genvar i = 0; i < ELEMENTS; i++) begin : elements
    mx_element element (
        .value(values[32*i+:32]), .scale(scale_one), .format(format_facts),
        .decisions(decisions), .fault(no_fault), .code(out_codes[8*i+:8])
    );
  end
endmodule
