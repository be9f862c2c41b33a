// The table of families.
#include "conformance/data/family.hpp"

namespace mx {
namespace {

class ListSource : public BlockSource {
public:
    explicit ListSource(std::vector<BlockData> blocks) : blocks_(std::move(blocks)) {}
    std::uint64_t size() const override { return blocks_.size(); }
    BlockData block(std::uint64_t index) const override { return blocks_[index % blocks_.size()]; }

private:
    std::vector<BlockData> blocks_;
};

}  // namespace

std::unique_ptr<BlockSource> list_source(std::vector<BlockData> blocks) {
    return std::make_unique<ListSource>(std::move(blocks));
}

const std::vector<Family>& families() {
    static const std::vector<Family> table{
        {"edge.tie",
         "both sides of every border between codes, at every scale, with the ulp beyond",
         "convert quantize", open_edge_tie},
        {"edge.scale", "every amax at which the dialect's scale changes, and its neighbours",
         "encode_scale quantize", open_edge_scale},
        {"edge.amax",
         "amax at every power of two and at max*2^k, one ulp below and above, every lane",
         "encode_scale quantize", open_edge_amax},
        {"edge.special", "NaN payloads, Inf, zeros, subnormals and the largest value in every lane",
         "convert encode_scale quantize", open_edge_special},
        {"edge.mixed", "magnitudes that spread over many binades within one block",
         "convert quantize", open_edge_mixed},
        {"codes.all", "every element code under all 256 scales", "dequantize", open_codes_all},
        {"codes.random", "random element codes under random scales", "dequantize",
         open_codes_random},
        {"all.bits", "every code of the input type in order", "convert encode_scale quantize",
         open_all_bits},
        {"random.bits", "uniformly random codes", "convert encode_scale quantize",
         open_random_bits},
        {"random.spread", "random values of realistic spread", "convert encode_scale quantize",
         open_random_spread},
        {"random.subnormal", "subnormals of the input type and the binades next to them",
         "convert encode_scale quantize", open_random_subnormal},
    };
    return table;
}

const Family* find_family(std::string_view name) {
    for (const Family& family : families())
        if (family.name == name) return &family;
    return nullptr;
}

}  // namespace mx
