// mxcheck accuracy: what an operation loses, on named data or the user's tensors.
#include <memory>

#include "conformance/case/names.hpp"
#include "conformance/cli/accuracy_operations.hpp"
#include "conformance/cli/commands.hpp"

namespace mx::cli {
namespace {

int accuracy_of(const AccuracyArguments& arguments) {
    const Status known = check_name("operation", arguments.operation, {"quantize", "gemm"});
    if (!known) return fail_with(known.error());
    if (arguments.operation == "quantize") return accuracy_of_quantize(arguments);
    if (arguments.request.input.empty()) return accuracy_of_gemm(arguments);
    return fail_with({ErrorKind::bad_input,
                      "--op gemm multiplies named data; a tensor file goes to mxcheck gemm"});
}

}  // namespace

Command accuracy_command() {
    const std::string blocks = "--op quantize", gemm = "--op gemm";
    auto o = std::make_shared<AccuracyArguments>();
    accuracy::AccuracyRequest& r = o->request;
    std::vector<Option> options{
        {"INPUT", "a .npy or .safetensors; blocks along the last dimension", &r.input},
        {"--op", "quantize, or gemm: products in units of a model's bound", &o->operation},
        {"--format", "of blocks (mxfp8-e4m3), or factors: mxfp8-e4m3, e4m3:tensor, bf16, ...",
         &r.formats},
        {"--dialect", "dialects side by side (default ocp and nv, or the format's first)",
         &r.dialects},
        {"--data", "instead of a file: normal, uniform, ... (default: each)", &r.data},
        {"--elements", "of each named kind of data", &r.elements, false, blocks},
        {"--block", "lanes of a block", &r.block, false, blocks},
        {"--seed", "of the data and of stochastic rounding", &r.seed},
        {"--stochastic", "each dialect once more, its elements rounded stochastically",
         &r.stochastic, false, blocks},
        {"--format-b", "gemm: of B, where it is not that of A", &r.format_b, false, gemm},
        {"--model", "gemm: accumulators (list models), or exact (default: all that fit)", &r.models,
         false, gemm},
        {"--output", "gemm: types of D", &r.outputs, false, gemm},
        {"--k", "gemm: products in a sum", &r.depths, false, gemm},
        {"--side", "gemm: rows and columns of D", &r.side, false, gemm},
        {"--algorithm", "gemm: of the device", &r.algorithms, false, gemm},
        {"--json", "with the histograms, for machines", &o->json}};
    for (Option& option : options_of(o->choice, o->timeout_seconds))
        options.push_back(std::move(option));
    return {"accuracy", "what quantizing loses; with --op gemm, what accumulators lose",
            "mxcheck accuracy --format mxfp8-e4m3,mxfp4-e2m1 --dialect ocp,nv\n"
            "  mxcheck accuracy weights.safetensors --stochastic --json\n"
            "  mxcheck accuracy --device cuda --dialect ocp\n"
            "  mxcheck accuracy --op gemm --format mxfp8-e4m3 --k 4096",
            std::move(options), [o] { return accuracy_of(*o); }};
}

}  // namespace mx::cli
