// A testbench that asks the oracle: border blocks, then random ones, through a design and into a
// scoreboard. +defect=N plants a fault in the design, +blocks=N asks for more random blocks. It
// ends with MX_PASSED, or with MX_FAILED and an exit code that is not 0.
module dpi_tb;
  import mx_dpi_pkg::*;
  import mx_scoreboard_pkg::*;

  localparam string format = "mxfp8-e4m3", dialect = "ocp", value_type = "f32";

  `include "design_under_test.svh"

  mx_scoreboard #(K) scoreboard = new(format, dialect, value_type);
  logic [31:0] values[0:K-1];
  logic [7:0] codes[0:K-1];
  int random_blocks = 1000, seed = 1;

  // Before the edge that takes the next block, the last one's result is there.
  task automatic observe();
    if (!out_valid) return;
    for (int i = 0; i < K; ++i) codes[i] = out_codes[8*i+:8];
    scoreboard.observe(codes, {24'h0, out_scale});
  endtask

  task automatic drive();
    for (int i = 0; i < K; ++i) in_values[32*i+:32] = values[i];
    in_valid = 1;
    scoreboard.expect_block(values);
    @(negedge clk);
    in_valid = 0;
    observe();
  endtask

  // Numbers of a few binades and, at times, any bits.
  function automatic void random_block();
    int top = 1 + int'($urandom_range(253));
    for (int i = 0; i < K; ++i) begin
      int field = top - int'($urandom_range(14));
      values[i] = $urandom();
      if (top > 1) values[i][30:23] = field < 0 ? 8'h00 : 8'(field);
    end
  endfunction

  // What a testbench may ask beside blocks, with answers that a person can check.
  function automatic bit other_questions();
    logic [31:0] ones[0:31], back[0:31], scales[0:0], scale, sum, code, one = 32'h3F800000;
    logic [7:0] ones_coded[0:31], few[0:6];
    chandle wrong = mx_dpi_open("mxfp8-e4m4", "ocp", "f32");
    chandle oracle = mx_dpi_open("mxfp8-e4m3", "nv", "f32");
    bit right = mx_dpi_status(wrong) == MX_NOT_SUPPORTED
        && mx_dpi_message(wrong) == "there is no format \"mxfp8-e4m4\"";
    for (int i = 0; i < 32; ++i) ones[i] = one;
    // 1 is 2^-8 times 256, and NVIDIA's rule rounds 1/448 up to 2^-8, too.
    right &= mx_dpi_quantize(oracle, ones, ones_coded, scale) == MX_OK && scale == 119
        && ones_coded[31] == 8'h78;
    right &= mx_dpi_dequantize(oracle, ones_coded, scale, back) == MX_OK && back[31] == one;
    scales[0] = scale;
    right &= mx_dpi_dot(oracle, oracle, "exact", ones_coded, scales, ones_coded, scales, sum)
        == MX_OK && sum == 32'h42000000;  // 32
    right &= mx_dpi_round(oracle, "toward_positive", "saturate", 32'h3F800001, 0, code) == MX_OK
        && code == 32'h39;
    right &= mx_dpi_quantize(oracle, ones, few, scale) == MX_INVALID;
    mx_dpi_close(wrong);
    mx_dpi_close(oracle);
    return right;
  endfunction

  initial begin
    chandle oracle = mx_dpi_open(format, dialect, value_type);
    void'($value$plusargs("blocks=%d", random_blocks));
    void'($urandom(seed));
    leave_reset();
    for (int i = 0; i < mx_dpi_edge_count(oracle); ++i) begin
      void'(mx_dpi_edge_block(oracle, i, values));
      drive();
    end
    for (int i = 0; i < random_blocks; ++i) begin
      random_block();
      drive();
    end
    mx_dpi_close(oracle);
    $display("%s", scoreboard.summary());
    if (!other_questions()) $fatal(1, "MX_FAILED other questions");
    if (!scoreboard.passed()) $fatal(1, "MX_FAILED");
    $display("MX_PASSED");
    $finish;
  end
endmodule
