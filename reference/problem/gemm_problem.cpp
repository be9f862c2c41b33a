// See gemm_problem.hpp.
#include "reference/problem/gemm_problem.hpp"

#include "reference/spec/formats.hpp"

namespace mx {

namespace {
constexpr const BlockFormat* nvfp4 = find_block_format("nvfp4");
}

const BlockFormat* small_block_format(const FactorType& factor) {
    if (factor.scaling == FactorScaling::ue4m3_1x16) return nvfp4;
    if (factor.scaling != FactorScaling::e8m0_1x32) return nullptr;
    for (const BlockFormat& format : mx_block_formats)
        if (format.element() == factor.element) return &format;
    return nullptr;
}

std::string name_of(const FactorType& factor) {
    if (const BlockFormat* format = small_block_format(factor)) return std::string(format->name);
    const std::string element(factor.element.name);
    if (factor.scaling == FactorScaling::none) return element;
    return element + ":" + std::string(name_of(factor.scaling));
}

std::vector<std::int64_t> GemmProblem::offsets() const {
    std::vector<std::int64_t> offsets{0};
    for (const std::int64_t rows : groups) offsets.push_back(offsets.back() + rows);
    return offsets;
}

std::string name_of(const ModelChoice& model) {
    if (model.row == nullptr) return model.is_bounded ? "bounded" : "any";
    if (model.own) return model.own->word;
    return (model.is_bounded ? "bounded:" : "") + std::string(model.row->name);
}

}  // namespace mx
