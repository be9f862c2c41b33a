// The oracle inside a testbench: the right bits of MX, NVFP4 and FP8 blocks from libmxcheck,
// through DPI-C. Compile it with mx_dpi.c; see README.md for the command of each simulator.
//
// A testbench opens an oracle by the names of a format, a dialect and the type of its values, as
// `mxcheck list` prints them, and asks it block by block. Arrays are one-dimensional and unpacked;
// the lowest index is that of the block's first element. Numbers cross as their bits, in the low
// bits of a word.
//
// Every function that answers a status answers MX_OK, or says why not in mx_dpi_message. Outputs
// are then as they were. An X or Z in an input is MX_UNKNOWN: no bits of a block follow from it,
// and none are made up.
package mx_dpi_pkg;

  localparam int MX_OK = 0;
  localparam int MX_NOT_SUPPORTED = 1;  // a name that the oracle does not know
  localparam int MX_INVALID = 2;        // sizes or bits that contradict the format
  localparam int MX_OUT_OF_MEMORY = 3;
  localparam int MX_FAILED = 5;         // the oracle of this build is broken: judge nothing
  localparam int MX_UNKNOWN = 16;       // X or Z in what was given

  // format "mxfp8-e4m3", dialect "ocp", value_type "f32", "bf16" or "f16". Never null while there
  // is memory: names that do not go together are the status of the oracle and of every call of it.
  import "DPI-C" function chandle mx_dpi_open(
    input string format, input string dialect, input string value_type);
  import "DPI-C" function void mx_dpi_close(input chandle oracle);
  import "DPI-C" function int mx_dpi_status(input chandle oracle);
  import "DPI-C" function string mx_dpi_message(input chandle oracle);
  // Elements of a block; a last block may be shorter.
  import "DPI-C" function int mx_dpi_block_size(input chandle oracle);

  // The right codes and scale of a block. The scale is a byte of E8M0 (MX) or UE4M3 (NVFP4), or the
  // bits of a binary32 number (FP8).
  import "DPI-C" function int mx_dpi_quantize(
    input chandle oracle, input logic [31:0] values[],
    output logic [7:0] codes[], output logic [31:0] scale);
  // The same of a dialect that rounds stochastically: a word for each value, as the dialect cuts
  // it.
  import "DPI-C" function int mx_dpi_quantize_random(
    input chandle oracle, input logic [31:0] values[], input logic [31:0] random[],
    output logic [7:0] codes[], output logic [31:0] scale);
  // Of a dialect with a number for the whole tensor (NVFP4), before quantize: the tensor's amax, or
  // its scale where the dialect has a history, as bits of binary32.
  import "DPI-C" function int mx_dpi_set_tensor_number(
    input chandle oracle, input logic [31:0] number);
  // ... and what quantize kept of it, which dequantize takes.
  import "DPI-C" function int mx_dpi_kept_number(
    input chandle oracle, output logic [31:0] number);

  // The values of codes under their scale, in the oracle's value type.
  import "DPI-C" function int mx_dpi_dequantize(
    input chandle oracle, input logic [7:0] codes[], input logic [31:0] scale,
    output logic [31:0] values[]);

  // One value as a code of the format's element, unscaled. rounding "nearest_even", "toward_zero",
  // "stochastic8", ...; overflow "saturate" or "overflow". random is read by stochastic ones alone.
  import "DPI-C" function int mx_dpi_round(
    input chandle oracle, input string rounding, input string overflow,
    input logic [31:0] value, input logic [31:0] random, output logic [31:0] code);

  // The dot product of two vectors in blocks, rounded to a's value type. model "exact" rounds the
  // exact sum once; others sum as a machine does ("hopper-fp8", `mxcheck list models`). a and b may
  // be the same oracle.
  import "DPI-C" function int mx_dpi_dot(
    input chandle a, input chandle b, input string model,
    input logic [7:0] a_codes[], input logic [31:0] a_scales[],
    input logic [7:0] b_codes[], input logic [31:0] b_scales[], output logic [31:0] result);

  // Blocks on borders: ties and their neighbours, scales that change, specials. How many there are,
  // and one of them, in as many values as a block has.
  import "DPI-C" function int mx_dpi_edge_count(input chandle oracle);
  import "DPI-C" function int mx_dpi_edge_block(
    input chandle oracle, input int index, output logic [31:0] values[]);

  // Every step from values to codes with exact fractions, for a person who looks at a failure.
  import "DPI-C" function string mx_dpi_explain(input chandle oracle, input logic [31:0] values[]);
  // What there is, as JSON: "formats", "dialects", "models", "layouts".
  import "DPI-C" function string mx_dpi_list(input chandle oracle, input string what);

endpackage
