// The plug-in around a verilated design: calls of the contract become jobs. Knows the names of the
// contract and no arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/kit/blocks.hpp"
#include "device/kit/plugin.hpp"
#include "device/rtl/driver/canary.hpp"

namespace mx::rtl {

// The type of the elements of a block format: "e4m3" of "mxfp8-e4m3", "int8" of "mxint8".
inline std::string element_of(const std::string& format) {
    return format.starts_with("mxint8") ? format.substr(2) : format.substr(format.find('-') + 1);
}

class Device {
public:
    explicit Device(kit::Configuration& configuration)
        : setup_(configured(configuration)), stream_(setup_, PowerOn::random, 1) {
        const std::string trace = configuration.value("trace", "");
        configuration.refuse_others();
        expect_room();
        try {
            Canary(setup_).check(stream_);
        } catch (const kit::Refusal& refusal) {
            fail(setup_.file + ": no verdict. " + refusal.reason);
        }
        if (!trace.empty()) {
            trace_ = trace;
            stream_.trace_to(trace);
            stream_.reset(setup_.modes.front());
        }
        facts_ = {{"name", setup_.top.c_str()},
                  {"vendor", "RTL"},
                  {"version", build_facts().version},
                  {"driver", build_facts().simulator},
                  {"notes", build_facts().notes}};
    }

    std::span<const mx_fact> facts() const { return facts_; }

    void supports(const kit::Arguments& arguments) {
        const kit::Sides sides(arguments);
        for (const kit::Arguments& side : sides) job_of(kit::Call(side, kit::Buffers::absent));
    }
    void run(const kit::Arguments& arguments) {
        const kit::Sides sides(arguments);
        for (const kit::Arguments& side : sides) {
            Job job = job_of(kit::Call(side, kit::Buffers::present));
            job.direction = direction_;
            say_when(Worker(setup_, stream_).run(job), Worker(setup_, stream_).beats_of(job));
        }
        // The host asks twice and compares.
        direction_ = direction_ == Direction::forward ? Direction::backward : Direction::forward;
    }

private:
    static std::uint64_t number_of(const std::string& key, const std::string& text) {
        char* end = nullptr;
        const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
        if (text.empty() || *end != '\0')
            kit::invalid("configuration " + key + "=" + text + ": the value is no number");
        return value;
    }
    // Constants of the design may be given another value behind the device's name.
    static Setup configured(kit::Configuration& configuration) {
        Setup setup = the_setup();
        for (Constant& constant : setup.constants) {
            const std::string text =
                configuration.value(constant.port, std::to_string(constant.value));
            constant.value = number_of(constant.port, text);
        }
        return setup;
    }

    void expect_room() {
        for (const Constant& constant : setup_.constants) {
            const int bits = std::min(stream_.model().port(constant.port).bits, 32);
            if (constant.value >> bits != 0)
                kit::invalid("configuration " + constant.port + "=" +
                             std::to_string(constant.value) + ": " + std::to_string(bits) +
                             " bits are there for it");
        }
    }

    void say_when(Cycles cycles, Beats beats) {
        if (trace_.empty()) return;
        stream_.model().flush_trace();
        std::fprintf(stderr,
                     "rtl: %s: %lld beats go in from cycle %llu on, and the last of %lld comes out "
                     "in cycle %llu (cycle n begins at time 10 n)\n",
                     trace_.c_str(), static_cast<long long>(beats.in),
                     static_cast<unsigned long long>(cycles.first_in),
                     static_cast<long long>(beats.out),
                     static_cast<unsigned long long>(cycles.last_out));
    }

    bool is_product() const { return setup_.operation == "dot" || setup_.operation == "gemm"; }

    template <typename Fits>
    const Mode& mode_where(Fits fits, const std::string& asked) const {
        for (const Mode& mode : setup_.modes)
            if (fits(mode)) return mode;
        kit::not_supported("no [[mode]] of " + setup_.file + " is " + asked);
    }

    Job job_of(kit::Call call) const {
        call.expect_host();
        call.expect_strided();
        kit::expect_name("operation", call.operation().name,
                         is_product() ? "gemm" : setup_.operation);
        if (is_product()) return product_of(call);
        return setup_.operation == "convert" ? conversion_of(call) : blocks_of(call);
    }

    Job conversion_of(kit::Call& call) const {
        const mx_operation& operation = call.operation();
        if (kit::text_of(operation.rounding).starts_with("stochastic"))
            kit::not_supported("no port takes random words");
        const kit::Tensor in = call.input("the values"), out = call.output("the codes");
        call.expect_no_more();
        if (operation.subnormals != nullptr)
            kit::expect_name("subnormals", operation.subnormals, "honoured");
        const auto is = [](const std::string& known, const char* asked) {
            return kit::text_of(asked) == known;
        };
        const Mode& mode = mode_where(
            [&](const Mode& m) {
                return is(m.format, operation.format) && is(m.dialect, operation.dialect) &&
                       in.type() == m.type && is(m.rounding, operation.rounding) &&
                       is(m.overflow, operation.overflow);
            },
            shown({operation.format, operation.dialect, in.raw().type, operation.rounding,
                   operation.overflow}));
        Job job{.mode = &mode};
        job.values = in.chosen(mode.type, in.shape());
        job.codes = out.implied(mode.format, in.shape());
        return job;
    }

    Job blocks_of(kit::Call& call) const {
        const mx_operation& operation = call.operation();
        const bool is_back = setup_.operation == "dequantize";
        const kit::Blocks blocks = kit::blocks_of(operation);
        if (blocks.axis == kit::Axis::tile || blocks.size != setup_.block)
            kit::not_supported("the design has blocks of " + std::to_string(setup_.block) +
                               " along rows or columns");
        const kit::Tensor first = call.input(is_back ? "the codes" : "the values");
        const kit::Tensor second = is_back ? call.input("the scales") : call.output("the codes");
        const kit::Tensor third = call.output(is_back ? "the values" : "the scales");
        call.expect_no_more();
        const kit::Tensor& values = is_back ? third : first;
        const kit::Tensor& codes = is_back ? first : second;
        const kit::Tensor& scales = is_back ? second : third;
        const Mode& mode = mode_where(
            [&](const Mode& m) {
                return kit::text_of(operation.format) == m.format &&
                       kit::text_of(operation.dialect) == m.dialect && values.type() == m.type;
            },
            shown({operation.format, operation.dialect, values.raw().type}));
        Job job{.mode = &mode};
        job.values = values.chosen(mode.type, first.shape());
        job.codes = codes.implied(element_of(mode.format), first.shape());
        job.scales = scales.implied("e8m0", blocks.grid(first.shape()));
        if (blocks.axis == kit::Axis::row) return job;
        for (kit::Strided* tensor : {&job.values, &job.codes, &job.scales})
            *tensor = transposed(*tensor);
        return job;
    }

    static void expect_plain(const mx_gemm& gemm) {
        constexpr std::uint32_t one = 0x3F800000, minus_zero = 0x80000000;
        kit::expect_name("scaling", gemm.scaling_a, "1x32");
        kit::expect_name("scaling", gemm.scaling_b, "1x32");
        for (const char* absent :
             {gemm.scaling_out, gemm.epilogue, gemm.accumulation, gemm.algorithm})
            if (absent != nullptr)
                kit::not_supported("a plain product has no " + kit::in_double_quotes(absent));
        if (gemm.alpha != one || (gemm.beta & ~minus_zero) != 0)
            kit::not_supported("the design multiplies with alpha 1 and beta 0");
        if (gemm.batches < 1) kit::invalid("a gemm has at least one batch");
    }

    Job product_of(kit::Call& call) const {
        const mx_gemm& gemm = call.gemm();
        expect_plain(gemm);
        const kit::Tensor a = call.input("A"), scales_a = call.input("the scales of A");
        const kit::Tensor b = call.input("B"), scales_b = call.input("the scales of B");
        const kit::Tensor d = call.output("D");
        call.expect_no_more();
        const Mode& mode = mode_where(
            [&](const Mode& m) {
                return a.type() == element_of(m.format) && b.type() == element_of(m.format_b) &&
                       d.type() == m.type;
            },
            shown({a.raw().type, b.raw().type, d.raw().type}));
        const kit::Shape a_shape = a.shape(), b_shape = b.shape();
        if (a_shape.columns != b_shape.columns || a_shape.rows % gemm.batches != 0 ||
            b_shape.rows % gemm.batches != 0)
            kit::invalid("A is " + kit::text_of(a_shape) + " and B is " + kit::text_of(b_shape));
        if (a_shape.columns == 0)
            kit::not_supported("the design multiplies rows of a block or more");
        if (a_shape.columns > setup_.block && setup_.port_of("last").empty())
            kit::not_supported("the design multiplies rows of one block");
        const kit::Blocks blocks{kit::Axis::row, setup_.block};
        Job job{.mode = &mode};
        job.batches = gemm.batches;
        job.a = a.chosen(element_of(mode.format), a_shape);
        job.b = b.chosen(element_of(mode.format_b), b_shape);
        job.scales_a = scales_a.implied("e8m0", blocks.grid(a_shape));
        job.scales_b = scales_b.implied("e8m0", blocks.grid(b_shape));
        job.d = d.chosen(mode.type, {a_shape.rows, b_shape.rows / gemm.batches});
        return job;
    }

    static std::string shown(std::initializer_list<const char*> names) {
        std::string text;
        for (const char* name : names) {
            if (name == nullptr) continue;
            text += (text.empty() ? "" : " ") + std::string(name);
        }
        return text;
    }

    Setup setup_;
    Stream stream_;
    std::string trace_;
    Direction direction_ = Direction::forward;
    std::vector<mx_fact> facts_;
};

}  // namespace mx::rtl
