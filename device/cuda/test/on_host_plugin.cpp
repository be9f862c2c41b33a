// A device that answers what the kernels of blocks whose scale has a mantissa would answer, on a
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

    void supports(const kit::Arguments& call) const { real_job_of(call, kit::Buffers::absent); }

    void run(const kit::Arguments& call) const {
        const Job job = real_job_of(call, kit::Buffers::present);
        if (const auto* back = std::get_if<DequantizeRealScalesJob>(&job))
            return dequantize_on_host(back->blocks);
        const auto& forth = std::get<QuantizeRealScalesJob>(job);
        quantize(forth.blocks);
        if (forth.columns) quantize(*forth.columns);
    }

private:
    static Job real_job_of(const kit::Arguments& call, kit::Buffers buffers) {
        const Job job = job_of(call, buffers);
        if (!std::holds_alternative<QuantizeRealScalesJob>(job) &&
            !std::holds_alternative<DequantizeRealScalesJob>(job))
            kit::not_supported("scales that are powers of two");
        kit::Call(call, buffers).expect_host();
        return job;
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
