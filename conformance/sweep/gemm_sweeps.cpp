// See gemm_sweeps.hpp.
#include "conformance/sweep/gemm_sweeps.hpp"

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "reference/proof/sweep.hpp"

namespace mx::sweep {
namespace {

struct Types {
    const char* a;
    const char* b;
};
constexpr std::array fp8_pairs{Types{"e4m3", "e4m3"}, Types{"e4m3", "e5m2"}, Types{"e5m2", "e4m3"}};

struct Scales {
    const char* a;
    const char* b;
};
constexpr std::array fp8_scales{Scales{"tensor", "tensor"}, Scales{"row", "row"},
                                Scales{"1x128", "1x128"}, Scales{"1x128", "128x128"},
                                Scales{"128x128", "1x128"}};

// FP8 comes out with scales of whole tensors alone, and E5M2 of pairs that have one.
std::vector<std::string> outputs_of(const Types& types, const Scales& scales) {
    std::vector<std::string> outputs{"f32", "bf16", "f16"};
    if (std::string_view(scales.a) != "tensor") return outputs;
    outputs.push_back("e4m3");
    if (std::string_view(types.a) != types.b) outputs.push_back("e5m2");
    return outputs;
}

// Scales of blocks have no fast accumulation.
std::vector<std::string> accumulations_of(const Scales& scales) {
    const bool is_block = std::string_view(scales.a).find("128") != std::string_view::npos;
    return is_block ? std::vector<std::string>{""} : std::vector<std::string>{"", "fast"};
}

constexpr std::uint32_t awkward_alpha = 0xBF9D70A4;  // -1.23
constexpr std::uint32_t awkward_beta = 0x3F451EB8;   // 0.77

// alpha, beta and epilogue: what may come after the sum.
struct After {
    std::uint32_t alpha, beta;
    const char* epilogue;
};
constexpr std::array plain{After{0x3F800000, 0, ""}};
constexpr std::array afters{
    After{0x3F800000, 0, ""},
    After{awkward_alpha, 0, ""},
    After{0x3F800000, 0x3F800000, ""},
    After{awkward_alpha, awkward_beta, ""},
};
constexpr std::array epilogues{After{awkward_alpha, 0, "bias"},
                               After{0x3F800000, 0, "relu"},
                               After{awkward_alpha, awkward_beta, "bias-relu"},
                               After{awkward_alpha, 0, "gelu"},
                               After{0x3F800000, awkward_beta, "gelu"},
                               After{awkward_alpha, awkward_beta, "bias-gelu"}};

// Lengths along K that end inside a step and inside a promotion, and others that end with one.
constexpr std::array<std::int64_t, 12> depths{16,  32,   48,   144,  160,   272,
                                              528, 1040, 4112, 7680, 10240, 16384};

class FamilyMaker {
public:
    FamilyMaker(GemmSetting base, GemmEffort effort) : base_(std::move(base)), effort_(effort) {}

    // Every kind of data, with everything that may come after.
    void add_data() {
        for (std::size_t data = 0; data < gemm_data_names.size(); ++data)
            for (const After& after : afters) add(after, 256, 256, 1024, data);
    }
    void add_depths() {
        for (const std::int64_t k : depths) add(plain[0], 128, 64, k, 3);
        if (effort_ == GemmEffort::quick) return;
        for (const std::int64_t k : depths)
            for (const std::int64_t m : {16, 272})
                for (const std::size_t data : {0u, 3u, 9u}) add(afters[3], m, 528, k, data);
    }
    void add_large() {
        if (effort_ == GemmEffort::quick) return;
        add(plain[0], 2048, 2048, 1024, 0);
    }
    void add_epilogues() {
        for (const After& after : epilogues) add(after, 256, 256, 512, 0);
    }
    void add_batches() {
        base_.batches = 5;
        add(afters[3], 64, 128, 384, 3);
        base_.batches = 1;
    }
    std::vector<GemmSetting> take() { return std::move(settings_); }

private:
    void add(const After& after, std::int64_t m, std::int64_t n, std::int64_t k, std::size_t data) {
        GemmSetting setting = base_;
        // Where the range is narrow, 2^-10 of alpha keeps most outputs inside.
        const ElementFormat& output = *find_element_format(setting.output);
        setting.alpha = after.alpha - (output.exponent_bits < 8 ? 10u << 23 : 0);
        setting.beta = after.beta;
        setting.epilogue = after.epilogue;
        setting.m = m;
        setting.n = n;
        setting.k = k;
        setting.data = static_cast<GemmData>(data);
        // The same for quick and full.
        setting.seed = static_cast<std::uint64_t>(m * 31 + k) * 16 + data;
        settings_.push_back(setting);
    }

    GemmSetting base_;
    GemmEffort effort_;
    std::vector<GemmSetting> settings_;
};

GemmFamily family_of(const GemmSetting& base, GemmEffort effort) {
    GemmFamily family;
    family.name = "gemm " + base.a + " x " + base.b + " to " + base.output;
    if (!base.scaling_a.empty())
        family.name += ", scales " + base.scaling_a + " x " + base.scaling_b;
    if (!base.accumulation.empty()) family.name += ", " + base.accumulation;
    FamilyMaker maker(base, effort);
    maker.add_data();
    maker.add_depths();
    maker.add_large();
    const bool takes_more = base.scaling_a == "tensor" || base.scaling_a.empty();
    if (takes_more) maker.add_epilogues();
    if (takes_more) maker.add_batches();
    family.settings = maker.take();
    family.domain = std::to_string(family.settings.size()) +
                    " problems: " + std::to_string(gemm_data_names.size()) +
                    " kinds of data, with and without C and alpha, K from 16 to 16384, "
                    "by every algorithm offered";
    return family;
}

// Spreads of the scales of MX blocks: sums of all sizes; those that bfloat16 still holds; and every
// byte but that of NaN, where sums mostly overflow or vanish, so that K is short.
struct MxSpread {
    std::uint32_t binades;
    std::int64_t k;
};
constexpr std::array mx_spreads{MxSpread{8, 1024}, MxSpread{60, 512}, MxSpread{255, 64}};

// Rows and columns of whole and of broken tiles.
struct MxShape {
    std::int64_t m, n;
};
constexpr std::array mx_shapes{MxShape{128, 64}, MxShape{16, 528}, MxShape{272, 260},
                               MxShape{1, 37}};
constexpr std::array<std::int64_t, 3> mx_large_depths{32, 96, 144};

class MxFamilyMaker {
public:
    MxFamilyMaker(GemmSetting base, GemmEffort effort) : base_(std::move(base)), effort_(effort) {
        base_.scaling_a = base_.scaling_b = "1x32";
    }

    std::vector<GemmSetting> take() {
        for (const MxSpread& spread : mx_spreads)
            for (std::size_t data = 0; data < gemm_data_names.size(); ++data)
                for (const After& after : afters) add(after, 256, 256, spread.k, data, spread);
        for (const std::int64_t k : depths)
            for (const MxShape& shape : mx_shapes)
                add(afters[3], shape.m, shape.n, k, 3, mx_spreads[0]);
        base_.batches = 5;
        add(afters[3], 64, 128, 384, 3, mx_spreads[0]);
        base_.batches = 1;
        if (effort_ == GemmEffort::full) add_large();
        return std::move(settings_);
    }

private:
    void add_large() {
        for (const MxSpread& spread : mx_spreads)
            for (const std::int64_t k : mx_large_depths)
                for (const std::size_t data : {0u, 3u}) add(plain[0], 4096, 4096, k, data, spread);
    }
    void add(const After& after, std::int64_t m, std::int64_t n, std::int64_t k, std::size_t data,
             const MxSpread& spread) {
        GemmSetting setting = base_;
        setting.alpha = after.alpha;
        setting.beta = after.beta;
        setting.m = m;
        setting.n = n;
        setting.k = k;
        setting.data = static_cast<GemmData>(data);
        setting.scale_binades = spread.binades;
        setting.seed = static_cast<std::uint64_t>(m * 31 + k) * 4096 + spread.binades * 16 + data;
        settings_.push_back(setting);
    }

    GemmSetting base_;
    GemmEffort effort_;
    std::vector<GemmSetting> settings_;
};

std::string place_text(const GemmSetting& setting, const std::string& algorithm,
                       const GemmDifferences& differing) {
    return text_of(setting) + ", row " + std::to_string(differing.row) + ", column " +
           std::to_string(differing.column) + ", by " +
           (algorithm.empty() ? "its own choice" : algorithm);
}

// Who multiplies, and on what.
struct Multiplier {
    std::optional<Device> device;
    int architecture = 0;
};

Status make_ready(Multiplier& multiplier, const DeviceOpener& open) {
    if (multiplier.device) return success();
    const auto gpu = find_gpu();
    if (!gpu) return gpu.error();
    auto device = open();
    if (!device) return device.error();
    multiplier.architecture = gpu.value().architecture;
    multiplier.device = std::move(device).value();
    return success();
}

void refuse(SweepAnswer& answer, const std::string& reason) {
    ++answer.refused;
    answer.refusal = reason;
}

// One setting by every algorithm, added to the answer.
Status ask_setting(Multiplier& multiplier, const GemmSetting& setting, SweepAnswer& answer) {
    Device& device = *multiplier.device;
    const auto offer = offer_of(device, setting);
    if (!offer) return offer.error();
    if (!offer.value().refusal.empty()) refuse(answer, offer.value().refusal);
    for (const std::string& algorithm : offer.value().algorithms) {
        const auto model = modelled(setting, algorithm, multiplier.architecture);
        if (!model) {
            refuse(answer, model.error().message);
            continue;
        }
        const auto checked = check_gemm(device, setting, algorithm, model.value());
        if (!checked)
            return Error{checked.error().kind, text_of(setting) + ": " + checked.error().message};
        const GemmDifferences& differing = checked.value();
        answer.inputs += differing.outputs;
        answer.differing += differing.differing;
        answer.seconds += differing.seconds;
        if (differing.differing != 0 && answer.first.size() < 5)
            answer.first.push_back({place_text(setting, algorithm, differing), "",
                                    proof::to_hex(differing.actual),
                                    proof::to_hex(differing.expected)});
    }
    return success();
}

Expected<SweepAnswer> ask_family(Multiplier& multiplier, const GemmFamily& family,
                                 const Watch& go_on) {
    SweepAnswer answer;
    const int all = static_cast<int>(family.settings.size());
    for (int i = 0; i < all; ++i) {
        answer.complete = go_on({i, all});
        if (!answer.complete) return answer;
        const GemmSetting& setting = family.settings[static_cast<std::size_t>(i)];
        const Status asked = ask_setting(multiplier, setting, answer);
        if (!asked) return asked.error();
    }
    return answer;
}

}  // namespace

std::vector<GemmFamily> gemm_families(GemmEffort effort) {
    std::vector<GemmFamily> families;
    for (const Types& types : fp8_pairs)
        for (const Scales& scales : fp8_scales)
            for (const std::string& output : outputs_of(types, scales))
                for (const std::string& accumulation : accumulations_of(scales)) {
                    GemmSetting base{.a = types.a, .b = types.b, .output = output};
                    base.scaling_a = scales.a;
                    base.scaling_b = scales.b;
                    base.accumulation = accumulation;
                    families.push_back(family_of(base, effort));
                }
    for (const char* half : {"bf16", "f16"})
        for (const std::string& output : {std::string("f32"), std::string(half)})
            families.push_back(family_of({.a = half, .b = half, .output = output}, effort));
    return families;
}

std::vector<GemmFamily> mx_gemm_families(GemmEffort effort) {
    std::vector<GemmFamily> families;
    for (const char* a : {"e4m3", "e5m2"})
        for (const char* b : {"e4m3", "e5m2"})
            for (const char* output : {"f32", "bf16"}) {
                GemmFamily family;
                family.name = std::string("gemm mxfp8-") + a + " x mxfp8-" + b + " to " + output;
                family.settings = MxFamilyMaker({.a = a, .b = b, .output = output}, effort).take();
                family.domain = std::to_string(family.settings.size()) +
                                " problems: " + std::to_string(gemm_data_names.size()) +
                                " kinds of data, scales over 8, 60 and all binades, with and "
                                "without C and alpha, K from 16 to 16384, by every algorithm";
                families.push_back(std::move(family));
            }
    return families;
}

namespace {

std::vector<GpuSweep> sweeps_of(const std::vector<GemmFamily>& families, const DeviceOpener& open) {
    const auto multiplier = std::make_shared<Multiplier>();
    std::vector<GpuSweep> sweeps;
    for (const GemmFamily& family : families)
        sweeps.push_back({family.name, family.domain, Subject::plugin, Output::elements, 0,
                          [multiplier, open, family](const Watch& go_on) -> Expected<SweepAnswer> {
                              const Status ready = make_ready(*multiplier, open);
                              if (!ready) return ready.error();
                              return ask_family(*multiplier, family, go_on);
                          }});
    return sweeps;
}

}  // namespace

std::vector<GpuSweep> gemm_sweeps(DeviceOpener open, GemmEffort effort) {
    return sweeps_of(gemm_families(effort), open);
}

std::vector<GpuSweep> mx_gemm_sweeps(DeviceOpener open, GemmEffort effort) {
    return sweeps_of(mx_gemm_families(effort), open);
}

}  // namespace mx::sweep
