// Quantizes blocks of binary32 or bfloat16 values to an MX format, ELEMENTS of them a beat.
//
// A block is collected beat by beat, with its amax so far. The last beat moves it on to where it
// gets its scale and its codes and leaves, beat by beat, while the next one is collected. Valid and
// ready mean what they mean in AXI4-Stream: a beat passes where both are 1, and valid, once 1,
// stays so until it has. `scale` is that of the block in every beat of it.
module mx_quantizer
  import mx_pkg::*;
#(
    parameter int BLOCK = 32,
    parameter int ELEMENTS = 32
) (
    input  logic clk,
    input  logic rst_n,
    // Constant while there is a block inside.
    input  logic [2:0] format,
    input  logic       is_bf16,  // values stand in the low 16 bits of their 32
    input  logic       scale_rule,
    input  logic       special_rule,
    input  logic [1:0] rounding,
    input  logic       overflow,
`ifdef MX_PLANTED_FAULTS
    input  logic [3:0] fault,
`endif
    input  logic                   in_valid,
    output logic                   in_ready,
    input  logic [ELEMENTS*32-1:0] in_values,
    output logic                   out_valid,
    input  logic                   out_ready,
    output logic [ELEMENTS*8-1:0]  out_codes,
    output logic [7:0]             out_scale
);
  localparam int BEATS = BLOCK / ELEMENTS;
  localparam int COUNT_BITS = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam logic [COUNT_BITS-1:0] LAST_BEAT = COUNT_BITS'(BEATS - 1);

  fault_e planted;
`ifdef MX_PLANTED_FAULTS
  assign planted = fault_e'(fault);
`else
  assign planted = no_fault;
`endif
  // What a whole block needs, in registers: the long paths below begin at them.
  format_t    format_facts;
  decisions_t decisions;
  always_ff @(posedge clk) begin
    format_facts <= format_of(format_e'(format));
    decisions <= '{scale_rule_e'(scale_rule), special_rule_e'(special_rule),
                   rounding_e'(rounding), overflow_e'(overflow)};
  end

  // The values of this beat as binary32, and their largest magnitude. As a code, infinity is above
  // every number and NaN above infinity.
  logic [ELEMENTS*32-1:0] values;
  logic [30:0]            beat_amax;
  always_comb begin
    beat_amax = 0;
    for (int i = 0; i < ELEMENTS; i++) begin
      values[32*i+:32] = is_bf16 ? {in_values[32*i+:16], 16'b0} : in_values[32*i+:32];
      if (values[32*i+:31] > beat_amax &&
          !(special_rule == special_is_element && values[32*i+:31] > {8'hFF, 23'b0}) &&
          !(planted == comparator_tree && i == ELEMENTS - 1 && in_beat == LAST_BEAT))
        beat_amax = values[32*i+:31];
    end
  end

  // Collects a block.
  logic [BLOCK*32-1:0]   collected;
  logic [30:0]           collected_amax, amax;
  logic [COUNT_BITS-1:0] in_beat;
  logic                  accepts, is_whole;
  assign accepts = in_valid && in_ready;
  assign is_whole = accepts && in_beat == LAST_BEAT;
  assign amax = beat_amax > collected_amax ? beat_amax : collected_amax;

  // Holds a whole block while it leaves.
  logic [BLOCK*32-1:0]   block;
  logic [30:0]           block_amax;
  logic [COUNT_BITS-1:0] out_beat;
  logic                  is_held, leaves;
  assign leaves = out_valid && out_ready && out_beat == LAST_BEAT;
  assign in_ready = in_beat != LAST_BEAT || !is_held || leaves || planted == beat_dropped;
  assign out_valid = is_held;

  always_ff @(posedge clk) begin
    if (accepts) begin
      collected[in_beat*ELEMENTS*32+:ELEMENTS*32] <= values;
      collected_amax <= is_whole ? 31'd0 : amax;
      in_beat <= is_whole ? '0 : in_beat + 1'b1;
    end
    if (is_whole) begin
      block <= collected;
      block[LAST_BEAT*ELEMENTS*32+:ELEMENTS*32] <= values;
      block_amax <= amax;
    end
    is_held <= is_whole || (is_held && !leaves);
    if (out_valid && out_ready) out_beat <= leaves ? '0 : out_beat + 1'b1;
    if (planted == beat_dropped && is_whole) out_beat <= '0;
    if (!rst_n) begin
      if (planted != reset_in_block) in_beat <= '0;
      if (planted != x_not_cleared) collected_amax <= '0;
      out_beat <= '0;
      is_held  <= 1'b0;
    end
  end

  logic [7:0] scale;
  mx_scale scale_of_block (
      .amax(block_amax), .format(format_facts), .decisions(decisions), .scale(scale)
  );

  logic [ELEMENTS*32-1:0] leaving;
  logic [ELEMENTS*8-1:0]  codes;
  assign leaving = block[out_beat*ELEMENTS*32+:ELEMENTS*32];
  for (genvar i = 0; i < ELEMENTS; i++) begin : elements
    mx_element element (
        .value(leaving[32*i+:32]), .scale(scale), .format(format_facts), .decisions(decisions),
        .fault(planted), .code(codes[8*i+:8])
    );
  end

`ifdef MX_PLANTED_FAULTS
  initial in_beat = '0;  // as an FPGA powers on: what a missing reset hides behind
  logic [7:0]            scale_before;
  logic [ELEMENTS*8-1:0] codes_before;
  always_ff @(posedge clk) begin
    codes_before <= rst_n ? codes : '0;
    if (leaves) scale_before <= scale;
    if (!rst_n) scale_before <= '0;
  end
  always_comb begin
    out_scale = planted == previous_scale ? scale_before : scale;
    out_codes = planted == late_codes ? codes_before : codes;
    if (planted == element_order)
      for (int i = 0; i < ELEMENTS; i++) out_codes[8*i+:8] = codes[8*(i^1)+:8];
  end
`else
  assign out_scale = scale;
  assign out_codes = codes;
`endif
endmodule
