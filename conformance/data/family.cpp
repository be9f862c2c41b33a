// The table of families.
#include "conformance/data/family.hpp"

namespace mx {
namespace {

// All blocks one after the other, each with its scale behind it: thousands of lists are held at
// once.
class ListSource : public BlockSource {
public:
    explicit ListSource(const std::vector<BlockData>& blocks)
        : size_(blocks.size()), lanes_(blocks.empty() ? 0 : blocks.front().lanes.size()) {
        codes_.reserve(size_ * (lanes_ + 1));
        for (const BlockData& block : blocks) {
            codes_.insert(codes_.end(), block.lanes.begin(), block.lanes.end());
            codes_.push_back(block.scale);
        }
    }
    std::uint64_t size() const override { return size_; }
    BlockData block(std::uint64_t index) const override {
        const std::uint32_t* codes = codes_.data() + index % size_ * (lanes_ + 1);
        return {{codes, codes + lanes_}, codes[lanes_]};
    }

private:
    std::size_t size_, lanes_;
    std::vector<std::uint32_t> codes_;
};

}  // namespace

std::unique_ptr<BlockSource> list_source(const std::vector<BlockData>& blocks) {
    return std::make_unique<ListSource>(blocks);
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
         "convert encode_scale quantize", open_edge_special, true},
        {"edge.mixed", "magnitudes that spread over many binades within one block",
         "convert quantize", open_edge_mixed, true},
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
