// A device that answers what the general kernels of device/cuda and device/hip would answer, on a
// host: the same request reader, the same functions, compiled for the CPU. So the suites and the
// properties hold the arithmetic against the oracle where there is no GPU. "arithmetic=fast" takes
// that of nvfp4_rows.cu wherever a rule has a kernel there. "plant=BUG" spoils the arithmetic's
// answers, for the test that the test sees it.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "device/cuda/request.hpp"
#include "device/cuda/test/on_host.hpp"
#include "device/kit/plugin.hpp"

namespace mx::cuda::test {
namespace {

Arithmetic arithmetic_of(const std::string& name) {
    if (name == "general") return Arithmetic::general;
    if (name == "fast") return Arithmetic::of_fast_kernels;
    kit::invalid("arithmetic is general or fast, not " + kit::in_double_quotes(name));
}

class OnHost {
public:
    explicit OnHost(kit::Configuration& configuration)
        : arithmetic_(arithmetic_of(configuration.value("arithmetic", "general"))),
          drops_last_code_(configuration.value("plant", "") == "last_code") {}

    std::span<const mx_fact> facts() const { return facts_; }

    void supports(const kit::Arguments& call) const { host_job_of(call, kit::Buffers::absent); }

    void run(const kit::Arguments& call) const {
        const Job job = host_job_of(call, kit::Buffers::present);
        std::visit([&](const auto& each) { run(each); }, job);
    }

private:
    static Job host_job_of(const kit::Arguments& call, kit::Buffers buffers) {
        const Job job = job_of(call, buffers);
        if (std::holds_alternative<ConvertJob>(job) || std::holds_alternative<EncodeScaleJob>(job))
            kit::not_supported("what has no blocks: on the GPU instructions do it");
        kit::Call(call, buffers).expect_host();
        return job;
    }

    void run(const QuantizeRealScalesJob& job) const {
        quantize(job.blocks);
        if (job.columns) quantize(*job.columns);
    }
    void run(const QuantizeJob& job) const { quantize(job.blocks); }
    void run(const BothJob& job) const {
        quantize(job.rows);
        quantize(columns_of(job));
    }
    void run(const DequantizeRealScalesJob& job) const { dequantize_on_host(job.blocks); }
    void run(const DequantizeJob& job) const { dequantize_on_host(job.blocks); }
    void run(const ConvertJob&) const {}      // refused above
    void run(const EncodeScaleJob&) const {}  // refused above

    void quantize(const BlockJob& job) const {
        quantize_on_host(job);
        if (!drops_last_code_ || job.extent.lines == 0 || job.extent.lanes == 0) return;
        std::uint8_t* last = byte_of(job.codes, {job.extent.lines - 1, job.extent.lanes - 1}, 1);
        *last = static_cast<std::uint8_t>(*last ^ 1u);
    }

    void quantize(const RealScaleJob& job) const {
        quantize_on_host(job, arithmetic_);
        const Extent extent = job.extent;
        if (!drops_last_code_ || extent.lines == 0 || extent.lanes == 0) return;
        const CodePlace last = place_of(job.codes, {extent.lines - 1, extent.lanes - 1});
        *last.byte = static_cast<std::uint8_t>(*last.byte ^ 1u << last.shift);
    }

    Arithmetic arithmetic_;
    bool drops_last_code_;
    std::array<mx_fact, 2> facts_{{{"name", "kernels of device/cuda, on the host"},
                                   {"notes", "no GPU: what the kernels call, compiled for a CPU"}}};
};

}  // namespace
}  // namespace mx::cuda::test

MX_KIT_PLUGIN(mx::cuda::test::OnHost)
