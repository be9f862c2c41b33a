// The planted bugs that show in large tensors, or after many calls, alone:
// large_mutants.so:bug=NAME,bits=N. One fast quantizer of bfloat16 to MXFP8 E4M3 by dialect ocp,
// along rows. N plants the same bug where 2^N is passed, so that a test need not be large.
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "conformance/mutants/planted_device.hpp"
#include "device/kit/blocks.hpp"
#include "device/kit/plugin.hpp"

namespace mx::mutants {
namespace {

enum class LargeBug {
    none,
    element_offset_wraps,
    input_offset_wraps,
    block_index_wraps,
    calls_run_out
};
struct Row {
    Mutant mutant;
    std::uint64_t bits;  // of what overflows
};
constexpr std::array rows{
    Row{{"none", "nothing: the base that every one of them is cut from", "must never show"}, 63},
    Row{{"element_offset_wraps", "elements from 2^31 on are written from the first one on again",
         "over 2^31 elements"},
        31},
    Row{{"input_offset_wraps", "values from 2^31 on are those from the first one on again",
         "over 2^31 elements"},
        31},
    Row{{"block_index_wraps", "blocks from 2^24 on have the scale of those from the first one on",
         "over 2^24 blocks"},
        24},
    Row{{"calls_run_out", "from call 2^12 on the last block is left as it was",
         "thousands of calls in one process"},
        12},
};
constexpr auto table = [] {
    std::array<Mutant, rows.size()> mutants{};
    for (std::size_t i = 0; i < rows.size(); ++i) mutants[i] = rows[i].mutant;
    return mutants;
}();

// |value| * 2^(127 - scale) to nearest, ties to even, clamped to 448; below 2^-6 the unit stays
// that of 2^-6.
std::uint8_t encode(std::uint32_t bf16, int scale) {
    const float value = std::bit_cast<float>((bf16 & 0x7FFF) << 16);
    const auto sign = static_cast<std::uint8_t>(bf16 >> 15 << 7);
    const double scaled = std::ldexp(static_cast<double>(value), 127 - scale);
    if (scaled == 0) return sign;
    const int exponent = std::max(std::ilogb(scaled), -6);
    const int units = static_cast<int>(std::nearbyint(std::ldexp(scaled, 3 - exponent)));
    return sign | static_cast<std::uint8_t>(std::min((exponent + 6) * 8 + units, 0x7E));
}

// By the exponent of the block's largest number less its own, and the mantissa: for those that are
// not subnormal.
constexpr int distances = 32;
using Codes = std::array<std::array<std::uint8_t, 128>, distances>;
Codes known_codes() {
    constexpr int amax_exponent = 128;
    Codes codes{};
    for (int distance = 0; distance < distances; ++distance)
        for (std::uint32_t mantissa = 0; mantissa < 128; ++mantissa)
            codes[static_cast<std::size_t>(distance)][mantissa] =
                encode(static_cast<std::uint32_t>(amax_exponent - distance) << 7 | mantissa,
                       amax_exponent - 8);
    return codes;
}

struct Request {
    kit::Strided values, codes, scales;
};

class Device {
public:
    explicit Device(kit::Configuration& configuration)
        : place_(chosen_bug(table, configuration)), facts_("large_mutants", table[place_].name) {
        const std::string bits = configuration.value("bits", std::to_string(rows[place_].bits));
        std::uint64_t number = 0;
        const auto read = std::from_chars(bits.data(), bits.data() + bits.size(), number);
        if (read.ec != std::errc{} || number > 63) kit::invalid("bits=" + bits + " is no number");
        wraps_at_ = std::uint64_t{1} << number;
    }

    std::span<const mx_fact> facts() const { return facts_.all(); }
    void supports(const kit::Arguments& arguments) { read({arguments, kit::Buffers::absent}); }
    void run(const kit::Arguments& arguments) {
        const Request request = read({arguments, kit::Buffers::present});
        const std::int64_t in_row = request.scales.columns;
        const std::int64_t blocks = request.scales.rows * in_row;
        ++calls_;
        const bool is_spent = has(LargeBug::calls_run_out) && calls_ > wraps_at_;
        for (std::int64_t block = 0; block < blocks - (is_spent ? 1 : 0); ++block)
            quantize(request, block, block / in_row * request.values.columns + block % in_row * 32);
    }

private:
    static Request read(kit::Call call) {
        call.expect_host();
        call.expect_strided();
        call.expect_names("quantize", "mxfp8-e4m3", "ocp");
        const kit::Blocks blocks = kit::blocks_of(call.operation());
        const kit::Tensor in = call.input("the values"), codes = call.output("the codes");
        const kit::Tensor scales = call.output("the scales");
        call.expect_no_more();
        const Request request{in.chosen("bf16", in.shape()), codes.implied("e4m3", in.shape()),
                              scales.implied("e8m0", blocks.grid(in.shape()))};
        const auto is_dense = [](const kit::Strided& tensor) {
            return tensor.column_stride == 1 && tensor.row_stride == tensor.columns;
        };
        if (blocks.axis != kit::Axis::row || blocks.size != 32 || in.shape().columns % 32 != 0 ||
            !is_dense(request.values) || !is_dense(request.codes) || !is_dense(request.scales))
            kit::not_supported("only whole blocks of 1x32, dense");
        return request;
    }

    bool has(LargeBug bug) const { return place_ == static_cast<std::size_t>(bug); }
    std::int64_t wrapped(std::int64_t index, LargeBug bug) const {
        return has(bug) ? static_cast<std::int64_t>(static_cast<std::uint64_t>(index) % wraps_at_)
                        : index;
    }

    void quantize(const Request& request, std::int64_t block, std::int64_t first) const {
        std::array<std::uint16_t, 32> values{};
        std::memcpy(values.data(),
                    request.values.data + 2 * wrapped(first, LargeBug::input_offset_wraps), 64);
        std::uint16_t amax = 0;
        for (const std::uint16_t value : values)
            amax = std::max(amax, static_cast<std::uint16_t>(value & 0x7FFF));
        const int exponent = amax >> 7, scale = std::max(exponent - 8, 0);
        std::uint8_t* codes = request.codes.data + wrapped(first, LargeBug::element_offset_wraps);
        for (std::size_t lane = 0; lane < values.size(); ++lane) {
            const std::uint32_t value = values[lane];
            const int distance = exponent - static_cast<int>(value >> 7 & 0xFF);
            const bool is_known = exponent >= 8 && distance < distances && (value >> 7 & 0xFF) != 0;
            codes[lane] = is_known ? static_cast<std::uint8_t>(
                                         known_[static_cast<std::size_t>(distance)][value & 0x7F] |
                                         value >> 15 << 7)
                                   : encode(value, scale);
        }
        const std::int64_t place = wrapped(block, LargeBug::block_index_wraps);
        request.scales.data[place] = static_cast<std::uint8_t>(scale);
    }

    std::size_t place_;
    PlantedFacts facts_;
    std::uint64_t wraps_at_ = 0, calls_ = 0;
    Codes known_ = known_codes();
};

}  // namespace
}  // namespace mx::mutants

MX_KIT_PLUGIN(mx::mutants::Device)
