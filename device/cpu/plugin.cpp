// The device of cpu_device.hpp: facts, and the way from a call to a job. Must not compute.
#include <array>
#include <span>
#include <string>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/request.hpp"
#include "device/kit/plugin.hpp"

namespace mx::cpu {
namespace {

struct Runner {
    void operator()(const ConvertJob& job) const { convert(job); }
    void operator()(const EncodeScaleJob& job) const { encode_scales(job); }
    void operator()(const QuantizeJob& job) const { quantize(job.blocks); }
    void operator()(const DequantizeJob& job) const { dequantize(job.blocks); }
    void operator()(const QuantizeRealScalesJob& job) const { quantize_real_scales(job.blocks); }
    void operator()(const DequantizeRealScalesJob& job) const {
        dequantize_real_scales(job.blocks);
    }
    void operator()(const GemmJob& job) const { gemm(job); }
};

void run_work(Work& work) {
    for (Staged& input : work.inputs) unpack(input);
    std::visit(Runner(), work.job);
    for (const Staged& output : work.outputs) pack(output);
}

class Cpu {
public:
    // Anew each time, because the instruction set can be changed.
    std::span<const mx_fact> facts() {
        isa_ = cpu_target();
        facts_ = {{{"name", "cpu"},
                   {"vendor", "mxcheck"},
                   {"version", "1"},
                   {"isa", isa_.c_str()},
                   {"notes", "integer arithmetic, dispatch by Highway, one thread"}}};
        return facts_;
    }

    static void supports(const kit::Arguments& call) { works_of(call, kit::Buffers::absent); }
    static void run(const kit::Arguments& call) {
        for (Work& work : works_of(call, kit::Buffers::present)) run_work(work);
    }

    // Every gemm can be summed in either way.
    static std::span<const char* const> algorithms(const kit::Arguments& call) {
        static constexpr std::array known{summations[0].name.data(), summations[1].name.data()};
        supports(call);
        return known;
    }

private:
    std::string isa_;
    std::array<mx_fact, 5> facts_{};
};

}  // namespace
}  // namespace mx::cpu

const mx_device_api* mx_cpu_device_api(void) {
    return &mx::kit::Plugin<mx::cpu::Cpu>::table;
}
