// See gemm_audit.hpp.
#include "conformance/selftest/gemm_audit.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "conformance/data/gemm_inputs.hpp"
#include "conformance/mutants/gemm_acceptance.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/gemm_judge.hpp"
#include "reference/spec/formats.hpp"

namespace mx::selftest {
namespace {

constexpr std::array products{
    "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=40x32x256 model=blackwell-mx",
    "gemm a=mxfp8-e4m3 b=mxfp8-e5m2 shape=40x32x208 model=blackwell-mx batches=2",
    "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=136x24x160 model=blackwell-mx scales=128x4",
    "gemm a=mxfp4-e2m1 b=mxfp4-e2m1 shape=32x32x128 model=blackwell-mx beta=1 alpha=0.75 batches=2",
    "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=40x32x128 model=blackwell-mx output=bf16 epilogue=bias "
    "alpha=0.75",
    "gemm a=e4m3:tensor b=e4m3:tensor shape=40x32x400 model=hopper-fp8-promoted alpha=1.5 beta=1",
    "gemm a=e4m3:tensor b=e5m2:tensor shape=40x32x256 model=hopper-fp8-promoted output=bf16 "
    "epilogue=bias-relu",
    "gemm a=e4m3 b=e4m3 shape=40x32x272 model=hopper-fp8-promoted output=f16 epilogue=relu",
};

double number_of(const ElementFormat& format, Code code) {
    return value_of(format, code.bits);
}

// Elements around an eighth of the largest one, so that few saturate; scales of blocks that differ
// by a factor of two, as those of normal numbers do; the rest around 1.
std::uint32_t ordinary_code(const GemmTensor& tensor, std::size_t number) {
    const ElementFormat& format = tensor.type;
    const std::size_t place = number + (static_cast<std::size_t>(tensor.part) << 24);
    constexpr std::uint32_t scale_of_tensor = 0x3D23D70A;  // 0.04
    const bool is_scale = tensor.part == GemmPart::scales_a || tensor.part == GemmPart::scales_b;
    if (is_scale && format == formats::f32) return scale_of_tensor;
    if (is_scale) return 120 + (drawn(Population::normal, place) > 0 ? 1u : 0u);
    const bool is_factor = tensor.part == GemmPart::a || tensor.part == GemmPart::b;
    const double unit = is_factor ? number_of(format, Code{format.code_max_finite()}) / 8 : 1;
    return code_of(format, std::clamp(drawn(Population::normal, place), -7.0, 7.0) * unit);
}

std::vector<CodeTensor> ordinary_inputs(const Case& c) {
    std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    std::size_t index = 0;
    for (const GemmTensor& tensor : tensors_of(c)) {
        if (is_output(tensor.part)) continue;
        CodeTensor& input = inputs[index++];
        for (std::size_t i = 0; i < input.count(); ++i) input.set(i, ordinary_code(tensor, i));
    }
    return inputs;
}

std::vector<double> values_of(const CodeTensor& tensor, const ElementFormat& format) {
    std::vector<double> values;
    for (std::size_t i = 0; i < tensor.count(); ++i)
        values.push_back(value_of(format, tensor.at(i)));
    return values;
}

}  // namespace

Expected<GemmAudit> GemmAudit::prepare() {
    GemmAudit audit;
    for (const std::string text : products) {
        auto c = parse_case(text + " data=gemm.middle");
        if (!c) return c.error();
        Task task{std::move(c).value(), {}, {}, {}};
        task.inputs = ordinary_inputs(task.c);
        task.right = values_of(expect_gemm(task.c, task.inputs)[0], task.c.gemm.output.element);
        Case exact = task.c;
        exact.gemm.model = {};
        task.exact = values_of(expect_gemm(exact, task.inputs)[0], task.c.gemm.output.element);
        audit.tasks_.push_back(std::move(task));
    }
    return audit;
}

Status GemmAudit::judge_task(const Task& task, const Client& client,
                             std::vector<Outcome>& outcomes) {
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(task.c, task.inputs, storage);
    const DeviceAnswer answer = client.ask(question);
    if (answer.kind == AnswerKind::host_error) return Error{ErrorKind::system, answer.reason};
    if (answer.kind == AnswerKind::not_supported) return success();
    if (answer.kind != AnswerKind::answered) {
        std::ranges::fill(outcomes, Outcome::killed);
        return success();
    }
    CodeTensor d = make_tensor({task.c.gemm.output.element, task.c.rows, task.c.columns});
    d.bytes = answer.outputs[0].bytes;
    const std::vector<double> actual = values_of(d, task.c.gemm.output.element);
    for (std::size_t rule = 0; rule < outcomes.size(); ++rule) {
        const auto judge = acceptance::gemm_rules()[rule].judge;
        if (judge({task.exact, task.right}) == acceptance::Answer::accepts &&
            judge({task.exact, actual}) == acceptance::Answer::rejects)
            outcomes[rule] = Outcome::killed;
    }
    return success();
}

Expected<std::vector<Outcome>> GemmAudit::judge(const Subject& subject,
                                                const Limits& limits) const {
    std::vector<Outcome> outcomes(acceptance::gemm_rules().size(), Outcome::missed);
    const auto client = open_client(subject.source, limits);
    if (!client) return Error{ErrorKind::device, subject.name + ": " + client.error().message};
    for (const Task& task : tasks_) {
        if (std::ranges::count(outcomes, Outcome::missed) == 0) break;
        const Status status = judge_task(task, client.value(), outcomes);
        if (!status) return Error{ErrorKind::device, subject.name + ": " + status.error().message};
    }
    return outcomes;
}

}  // namespace mx::selftest
