// The scoreboard of mx_scoreboard_pkg.sv as a UVM component: a monitor of the design's inputs
// writes to `went_in`, one of its outputs to `came_out`. UNVERIFIED: slang elaborates it beside
// UVM 2020.3.1, and no simulator has run it.
`include "uvm_macros.svh"

package mx_uvm_pkg;
  import uvm_pkg::*;
  import mx_scoreboard_pkg::*;

  `uvm_analysis_imp_decl(_went_in)
  `uvm_analysis_imp_decl(_came_out)

  // A block on its way in (values) or out (codes and scale).
  class mx_block_item #(int K = 32) extends uvm_sequence_item;
    `uvm_object_param_utils(mx_block_item#(K))
    rand logic [31:0] values[0:K-1];
    logic [7:0] codes[0:K-1];
    logic [31:0] scale;

    function new(string name = "mx_block_item");
      super.new(name);
    endfunction
  endclass

  // The names of format, dialect and value type come from the configuration database.
  class mx_uvm_scoreboard #(int K = 32) extends uvm_scoreboard;
    `uvm_component_param_utils(mx_uvm_scoreboard#(K))
    uvm_analysis_imp_went_in #(mx_block_item#(K), mx_uvm_scoreboard#(K)) went_in;
    uvm_analysis_imp_came_out #(mx_block_item#(K), mx_uvm_scoreboard#(K)) came_out;
    local mx_scoreboard #(K) judge;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    function void build_phase(uvm_phase phase);
      string format = "mxfp8-e4m3", dialect = "ocp", value_type = "f32";
      super.build_phase(phase);
      void'(uvm_config_db#(string)::get(this, "", "format", format));
      void'(uvm_config_db#(string)::get(this, "", "dialect", dialect));
      void'(uvm_config_db#(string)::get(this, "", "value_type", value_type));
      went_in = new("went_in", this);
      came_out = new("came_out", this);
      judge = new(format, dialect, value_type);
    endfunction

    function void write_went_in(mx_block_item#(K) item);
      judge.expect_block(item.values);
    endfunction

    function void write_came_out(mx_block_item#(K) item);
      judge.observe(item.codes, item.scale);
    endfunction

    function void check_phase(uvm_phase phase);
      if (judge.passed()) `uvm_info("MX", judge.summary(), UVM_LOW)
      else `uvm_error("MX", judge.summary())
    endfunction
  endclass

endpackage
