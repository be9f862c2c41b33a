// mxcheck: the program.
#include "conformance/cli/commands.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/oracle/isolated_check.hpp"
#include "device/host/child_setup.hpp"

int main(int argc, char** argv) {
    mx::hold_standard_streams();
    using namespace mx::cli;
    return dispatch(argc, argv,
                    {.commands = {run_command(),      replay_command(),     gen_command(),
                                  answer_command(),   check_command(),      explain_command(),
                                  identify_command(), relate_command(),     fuzz_command(),
                                  quantize_command(), requantize_command(), dequantize_command(),
                                  gemm_command(),     diff_command(),       audit_command(),
                                  accuracy_command(), train_command(),      merge_command(),
                                  bench_command(),    report_command(),     selftest_command(),
                                  prove_command(),    list_command(),       doctor_command(),
                                  survey_command(),   verify_command()},
                     .version = version_text(),
                     .oracle_fault = mx::isolated_oracle_fault});
}
