// See gemm_tree.hpp.
#include "conformance/identify/gemm_tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "conformance/identify/gemm_fit.hpp"
#include "conformance/identify/gemm_rows.hpp"

namespace mx::identify {
namespace {

using Numbers = std::vector<std::int32_t>;

// What the large pair and the others are. A pair hides all others together, and they add up
// exactly.
struct Sizes {
    int large = 0, hidden = 0;
};
std::optional<Sizes> sizes_of(const GemmProblem& setting, std::int64_t depth) {
    const ElementFormat &a = setting.a.element, &b = setting.b.element;
    const int large = std::min(a.exponent_max() + b.exponent_max(), 60);
    int bits = 0;
    while (std::int64_t{1} << bits < depth) ++bits;
    const int hidden = large - formats::f32.mantissa_bits - 2 - bits;
    if (hidden < a.quantum_exponent_min() + b.quantum_exponent_min()) return std::nullopt;
    return Sizes{large, hidden};
}

// Numbers that are added among themselves before any other joins them: `first` joins the groups
// one after the other, each of which is such a set again.
struct Set {
    Numbers numbers;
    std::vector<std::size_t> groups = {};  // sets, in the order in which they are joined
};

double value_of(Code d) {
    const double value = number_of(formats::f32, d);
    return std::isfinite(value) ? value : std::nan("");
}

class Measurement {
public:
    Measurement(GemmSubject& subject, const GemmShape& shape, Sizes sizes)
        : subject_(subject), shape_(shape), sizes_(sizes) {}

    Expected<MeasuredTree> run(const std::function<void(std::uint64_t)>& asked) {
        Numbers all;
        for (std::int64_t k = 0; k < shape_.k; ++k) all.push_back(static_cast<std::int32_t>(k));
        sets_.push_back({std::move(all)});
        for (std::size_t first = 0; first < sets_.size();) {
            const std::size_t end = sets_.size();
            const Status split = split_sets(first, end, asked);
            if (!split) return split.error();
            if (!why_not_.empty()) return MeasuredTree{{}, why_not_};
            first = end;
        }
        SumTree tree;
        tree.leaves = shape_.k;
        (void)joined(0, tree);
        return MeasuredTree{std::move(tree), ""};
    }

private:
    // One pair: the first number of a set and another one of it.
    GemmProbe pair(std::int32_t left, std::int32_t right) const {
        Rows rows(subject_.setting(), shape_.k);
        rows.probe("tree");
        for (std::int64_t k = 0; k < shape_.k; ++k) rows.product(k, {sizes_.hidden});
        rows.product(left, {sizes_.large}).product(right, {sizes_.large, -4});
        return std::move(rows.all().front());
    }

    Status split_sets(std::size_t first, std::size_t end,
                      const std::function<void(std::uint64_t)>& asked) {
        for (std::size_t set = first; set < end && why_not_.empty(); ++set) {
            const Numbers& numbers = sets_[set].numbers;
            for (std::size_t i = 1; i < numbers.size(); ++i)
                pending_.push_back({set, numbers[0], numbers[i]});
        }
        while (!pending_.empty() && why_not_.empty()) {
            const std::size_t count = std::min<std::size_t>(
                pending_.size(), static_cast<std::size_t>(std::min(shape_.m, shape_.n)));
            GemmProbes probes;
            for (std::size_t i = 0; i < count; ++i)
                probes.push_back(pair(pending_[i].left, pending_[i].right));
            const auto answers = subject_.ask(shape_, probes);
            if (!answers) return answers.error();
            for (std::size_t i = 0; i < count; ++i) take(pending_[i], answers.value()[i]);
            pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
            asked(asked_ += count);
        }
        for (std::size_t set = first; set < end && why_not_.empty(); ++set) group(set);
        below_.clear();
        return success();
    }

    struct Pair {
        std::size_t set;
        std::int32_t left, right;
    };
    void take(const Pair& pair, Code answer) {
        const double count = std::ldexp(value_of(answer), -sizes_.hidden);
        const bool is_count =
            count >= 0 && count <= static_cast<double>(shape_.k - 2) && std::floor(count) == count;
        if (!is_count && why_not_.empty())
            why_not_ = text_of(pair) + " gave " + bits_text(answer) +
                       ", which is no number of products beside them";
        if (is_count)
            below_[pair.set][shape_.k - static_cast<std::int64_t>(count)].push_back(pair.right);
    }
    std::string text_of(const Pair& pair) const {
        return "large products at k " + std::to_string(pair.left) + " and, negative, " +
               std::to_string(pair.right);
    }

    // Those that join the first number together are one set; as many numbers are below each join
    // as have joined by then.
    void group(std::size_t set) {
        std::int64_t joined = 1;
        for (auto& [below, numbers] : below_[set]) {
            joined += static_cast<std::int64_t>(numbers.size());
            if (below != joined && why_not_.empty())
                why_not_ = text_of(Pair{set, sets_[set].numbers[0], numbers[0]}) + " hide " +
                           std::to_string(below - 2) +
                           " products, and single additions would hide " +
                           std::to_string(joined - 2);
            sets_[set].groups.push_back(sets_.size());
            sets_.push_back({numbers});
        }
    }

    std::int32_t joined(std::size_t set, SumTree& tree) const {
        std::int32_t sum = sets_[set].numbers[0];
        for (const std::size_t group : sets_[set].groups) {
            const std::int32_t other = joined(group, tree);
            tree.joins.push_back({sum, other});
            sum = static_cast<std::int32_t>(tree.leaves) +
                  static_cast<std::int32_t>(tree.joins.size()) - 1;
        }
        return sum;
    }

    GemmSubject& subject_;
    GemmShape shape_;
    Sizes sizes_;
    std::vector<Set> sets_;
    std::vector<Pair> pending_;
    std::map<std::size_t, std::map<std::int64_t, Numbers>> below_;
    std::string why_not_;
    std::uint64_t asked_ = 0;
};

}  // namespace

Expected<MeasuredTree> measure_tree(GemmSubject& subject, const GemmShape& shape,
                                    const std::function<void(std::uint64_t)>& asked) {
    const std::optional<Sizes> sizes = sizes_of(subject.setting(), shape.k);
    if (!sizes)
        return MeasuredTree{{}, "elements of so few binades hide no product beside a large one"};
    return Measurement(subject, shape, *sizes).run(asked);
}

}  // namespace mx::identify
