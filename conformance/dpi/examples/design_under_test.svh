// The design that both testbenches hold, with its clock, its reset and its ports: another design is
// put in its place here. Included in the module of a testbench.
localparam int K = 32;  // elements of a block

logic clk = 0, reset = 1, in_valid = 0, out_valid;
logic [2:0] defect = 0;  // a planted fault, 0 none: +defect=N
logic [32*K-1:0] in_values;
logic [8*K-1:0] out_codes;
logic [7:0] out_scale;
tiny_quantizer #(K) quantizer (
    .clk, .reset, .defect, .in_valid, .values(in_values),
    .out_valid, .codes(out_codes), .scale(out_scale));
always #5 clk = !clk;

task automatic leave_reset();
  int planted = 0;
  void'($value$plusargs("defect=%d", planted));
  defect = 3'(planted);
  @(negedge clk);
  reset = 0;
endtask
