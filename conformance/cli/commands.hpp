// The commands, one file each. main.cpp lists them; nothing else includes this.
#pragma once

#include "conformance/cli/arguments.hpp"

namespace mx::cli {

Command run_command();
Command replay_command();
Command gen_command();
Command answer_command();
Command check_command();
Command explain_command();
Command identify_command();
Command relate_command();
Command fuzz_command();
Command quantize_command();
Command requantize_command();
Command dequantize_command();
Command gemm_command();
Command diff_command();
Command audit_command();
Command accuracy_command();
Command train_command();
Command bench_command();
Command merge_command();
Command report_command();
Command selftest_command();
Command prove_command();
Command list_command();
Command doctor_command();
Command survey_command();
Command verify_command();

}  // namespace mx::cli
