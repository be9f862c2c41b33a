// A testbench without DPI: it reads the vectors that
//   mxcheck gen --form readmemh --expected --suite quantize --format mxfp8-e4m3 --dialect ocp
//     --level smoke --out vectors
// wrote, from the folder of +vectors=, puts their blocks through a design and compares. It takes
// the quantize requests of float32 along rows; of others it says how many it left out.
module readmemh_tb;
  localparam int ELEMENTS_MAX = 1 << 20;  // of a tensor

  `include "design_under_test.svh"

  logic [31:0] values[0:ELEMENTS_MAX-1];
  logic [7:0] right_codes[0:ELEMENTS_MAX-1];
  logic [7:0] right_scales[0:ELEMENTS_MAX-1];
  int blocks = 0, wrong_codes = 0, wrong_scales = 0, left_out = 0;

  // What lies beyond a short last block are zeros, which change neither amax nor codes.
  task automatic ask_block(input int row, input int columns, input int block, input int scales);
    int first = row * columns + block * K;
    int count = columns - block * K < K ? columns - block * K : K;
    for (int i = 0; i < K; ++i) in_values[32*i+:32] = i < count ? values[first+i] : 32'h0;
    in_valid = 1;
    @(negedge clk);
    in_valid = 0;
    ++blocks;
    if (!out_valid || out_scale !== right_scales[row*scales+block]) ++wrong_scales;
    for (int i = 0; i < count; ++i)
      if (out_codes[8*i+:8] !== right_codes[first+i]) begin
        wrong_codes++;
        if (wrong_codes <= 5)
          $display("row %0d block %0d element %0d of 0x%08h: code 0x%02h, expected 0x%02h", row,
                   block, i, values[first+i], out_codes[8*i+:8], right_codes[first+i]);
      end
  endtask

  // A line of index.txt is a tensor: request, operation, axis and size of its blocks, name, type,
  // rows, columns, file. Those of a request stand together, the scales last.
  task automatic read_all(input string folder);
    string number, operation, axis, name, type_name, file, request = "";
    int block, rows, columns, value_columns = 0;
    bit fits = 0;
    int index;
    index = $fopen({folder, "/index.txt"}, "r");
    if (index == 0) $fatal(1, "MX_FAILED there is no %s/index.txt", folder);
    while ($fscanf(index, "%s %s %s %d %s %s %d %d %s", number, operation, axis, block, name,
                   type_name, rows, columns, file) == 9) begin
      if (number != request) begin
        request = number;
        fits = operation == "quantize" && axis == "row" && block == K && name == "values"
            && type_name == "f32" && rows * columns > 0 && rows * columns <= ELEMENTS_MAX;
        if (!fits) ++left_out;
        value_columns = columns;
      end
      if (!fits) continue;
      file = {folder, "/", file};
      if (name == "values") $readmemh(file, values, 0, rows * columns - 1);
      if (name == "expected_elements") $readmemh(file, right_codes, 0, rows * columns - 1);
      if (name != "expected_scales") continue;
      $readmemh(file, right_scales, 0, rows * columns - 1);
      for (int row = 0; row < rows; ++row)
        for (int i = 0; i < columns; ++i) ask_block(row, value_columns, i, columns);
    end
    $fclose(index);
  endtask

  initial begin
    string folder = "vectors";
    void'($value$plusargs("vectors=%s", folder));
    leave_reset();
    read_all(folder);
    $display("%0d blocks: %0d codes and %0d scales wrong; %0d requests left out", blocks,
             wrong_codes, wrong_scales, left_out);
    if (blocks == 0 || wrong_codes + wrong_scales > 0) $fatal(1, "MX_FAILED");
    $display("MX_PASSED");
    $finish;
  end
endmodule
