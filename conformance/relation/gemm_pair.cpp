// See gemm_pair.hpp.
#include "conformance/relation/gemm_pair.hpp"

namespace mx::relation {

Expected<CodeTensor> multiply(Subject& subject, const Product& product) {
    auto d = subject.gemm(product);
    if (d) join_nans(d.value());
    return d;
}

Expected<Finding> check_pair(Subject& subject, const ProductPair& pair) {
    const auto first = multiply(subject, pair.first), second = multiply(subject, pair.second);
    if (!first || !second) return first ? second.error() : first.error();
    Finding finding;
    compare(finding, {"output", first.value(), second.value()}, pair.outputs);
    finding.first = text_of(pair.first);
    finding.second = text_of(pair.second);
    return finding;
}

CodeTensor shape_of_d(const Setting& setting, const Product& p) {
    return make_tensor(setting.values, p.a.rows, p.b.rows / p.batches);
}

Product whole_product(const Setting& setting, const Sample& sample, std::int64_t batches) {
    Product p = make_product(setting, sample, {Factors::any, batches});
    Random random(sample.seed ^ 0xC);
    p.c = make_numbers(setting, {0, 0, p.a.rows, sample.extents.n}, random);
    p.alpha = odd_alpha;
    p.beta = one_f32;
    return p;
}

}  // namespace mx::relation
