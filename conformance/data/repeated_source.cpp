// See repeated_source.hpp.
#include "conformance/data/repeated_source.hpp"

#include <charconv>
#include <string>

namespace mx {
namespace {

class RepeatedSource : public BlockSource {
public:
    RepeatedSource(std::shared_ptr<const BlockSource> family, std::uint64_t blocks)
        : family_(std::move(family)), blocks_(blocks) {}
    std::uint64_t size() const override { return blocks_; }
    BlockData block(std::uint64_t index) const override { return family_->block(index % blocks_); }

private:
    std::shared_ptr<const BlockSource> family_;
    std::uint64_t blocks_;
};

}  // namespace

Expected<Repetition> repetition_of(const Case& c) {
    const std::string_view text = std::string_view(c.data).substr(repeat_prefix.size());
    const std::size_t colon = text.find(':');
    const std::string_view number = text.substr(0, colon);
    Repetition repetition;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), repetition.blocks);
    const bool is_number = error == std::errc{} && end == number.data() + number.size();
    if (colon == std::string_view::npos || !is_number)
        return bad_input("data '" + c.data +
                         "' is not repeat:BLOCKS:FAMILY, such as repeat:4099:codes.random");
    constexpr std::uint64_t blocks_max = 1u << 20;
    if (repetition.blocks < 3 || repetition.blocks % 2 == 0 || repetition.blocks > blocks_max)
        return bad_input("data '" + c.data + "' repeats after " + std::string(number) +
                         " blocks; an odd number from 3 to " + std::to_string(blocks_max) +
                         " is wanted, which divides no power of two");
    repetition.family = text.substr(colon + 1);
    return repetition;
}

std::shared_ptr<const BlockSource> repeated_source(std::shared_ptr<const BlockSource> family,
                                                   std::uint64_t blocks) {
    return std::make_shared<RepeatedSource>(std::move(family), blocks);
}

}  // namespace mx
