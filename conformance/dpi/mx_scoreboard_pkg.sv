// A scoreboard for block quantizers, in plain classes: what goes into a design is expected, what
// comes out is observed, in the same order. mx_uvm_scoreboard.sv is the same for UVM.
package mx_scoreboard_pkg;
  import mx_dpi_pkg::*;

  // K: elements of a block.
  class mx_scoreboard #(int K = 32);
    // Failures that are printed; all are counted.
    int shown = 5;

    local chandle oracle;
    local logic [32*K-1:0] inputs[$];  // of blocks that went in and have not come out
    local longint blocks, wrong_blocks, wrong_codes, wrong_scales, unknown_blocks, errors;

    function new(string format, string dialect, string value_type);
      oracle = mx_dpi_open(format, dialect, value_type);
      if (mx_dpi_status(oracle) != MX_OK) fail(mx_dpi_message(oracle));
    endfunction

    // A block went into the design; its first value is values[0].
    function void expect_block(input logic [31:0] values[0:K-1]);
      logic [32*K-1:0] packed_values;
      for (int i = 0; i < K; ++i) packed_values[32*i+:32] = values[i];
      inputs.push_back(packed_values);
    endfunction

    // A block came out.
    function void observe(input logic [7:0] codes[0:K-1], input logic [31:0] scale);
      logic [31:0] values[0:K-1];
      logic [7:0] right_codes[0:K-1];
      logic [31:0] right_scale;
      logic [32*K-1:0] packed_values;
      if (inputs.size() == 0) begin
        fail("a block came out that never went in");
        return;
      end
      packed_values = inputs.pop_front();
      for (int i = 0; i < K; ++i) values[i] = packed_values[32*i+:32];
      ++blocks;
      if (is_unknown(codes, scale)) return;
      if (mx_dpi_quantize(oracle, values, right_codes, right_scale) != MX_OK)
        fail(mx_dpi_message(oracle));
      else compare(values, codes, scale, right_codes, right_scale);
    endfunction

    // After the last block. True where something was compared and all of it was right.
    function bit passed();
      if (inputs.size() != 0) fail($sformatf("%0d blocks went in and never came out",
                                             inputs.size()));
      inputs.delete();
      return blocks > 0 && errors == 0 && wrong_blocks == 0 && unknown_blocks == 0;
    endfunction

    function string summary();
      return $sformatf(
          "%0d blocks: %0d wrong (%0d codes, %0d scales), %0d with X or Z, %0d other errors",
          blocks, wrong_blocks, wrong_codes, wrong_scales, unknown_blocks, errors);
    endfunction

    // X and Z match nothing. A two-state simulator never has one.
    local function bit is_unknown(input logic [7:0] codes[0:K-1], input logic [31:0] scale);
      bit unknown = $isunknown(scale);
      for (int i = 0; i < K; ++i) unknown |= $isunknown(codes[i]);
      if (unknown) begin
        ++unknown_blocks;
        if (unknown_blocks <= longint'(shown))
          $display("MX_UNKNOWN block %0d: X or Z in its codes or scale", blocks - 1);
      end
      return unknown;
    endfunction

    local function void compare(
        input logic [31:0] values[0:K-1], input logic [7:0] codes[0:K-1],
        input logic [31:0] scale, input logic [7:0] right_codes[0:K-1],
        input logic [31:0] right_scale);
      int first = -1;
      for (int i = 0; i < K; ++i)
        if (codes[i] !== right_codes[i]) begin
          ++wrong_codes;
          if (first < 0) first = i;
        end
      if (scale !== right_scale) ++wrong_scales;
      if (first < 0 && scale === right_scale) return;
      ++wrong_blocks;
      if (wrong_blocks > longint'(shown)) return;
      $display("MX_WRONG block %0d: scale 0x%02h, expected 0x%02h", blocks - 1, scale, right_scale);
      if (first >= 0)
        $display("  element %0d of 0x%08h: code 0x%02h, expected 0x%02h", first, values[first],
                 codes[first], right_codes[first]);
      if (wrong_blocks == 1) $display("%s", mx_dpi_explain(oracle, values));
    endfunction

    local function void fail(string sentence);
      ++errors;
      if (errors <= longint'(shown)) $display("MX_ERROR %s", sentence);
    endfunction
  endclass

endpackage
