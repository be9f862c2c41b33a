// See gemm_plain.hpp.
#include "conformance/identify/gemm_plain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace mx::identify {
namespace {

using Join = SumTree::Join;

// Grows a tree join by join.
class Builder {
public:
    explicit Builder(std::int64_t leaves) { tree_.leaves = leaves; }

    std::int32_t join(std::int32_t left, std::int32_t right) {
        tree_.joins.push_back({left, right});
        return static_cast<std::int32_t>(tree_.leaves) +
               static_cast<std::int32_t>(tree_.joins.size()) - 1;
    }
    // One after the other, as they stand there.
    std::int32_t in_turn(const std::vector<std::int32_t>& numbers) {
        std::int32_t sum = numbers.front();
        for (std::size_t i = 1; i < numbers.size(); ++i) sum = join(sum, numbers[i]);
        return sum;
    }
    // Neighbours, then neighbours of those, and so on; what is left over waits.
    std::int32_t in_pairs(std::vector<std::int32_t> numbers) {
        while (numbers.size() > 1) {
            std::vector<std::int32_t> next;
            for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
                next.push_back(join(numbers[i], numbers[i + 1]));
            if (numbers.size() % 2 != 0) next.push_back(numbers.back());
            numbers = std::move(next);
        }
        return numbers.front();
    }
    SumTree take() { return std::move(tree_); }

private:
    SumTree tree_;
};

std::vector<std::int32_t> range(std::int64_t first, std::int64_t end, std::int64_t step = 1) {
    std::vector<std::int32_t> numbers;
    for (std::int64_t i = first; i < end; i += step)
        numbers.push_back(static_cast<std::int32_t>(i));
    return numbers;
}

SumTree forwards(std::int64_t leaves, std::int64_t) {
    Builder builder(leaves);
    builder.in_turn(range(0, leaves));
    return builder.take();
}
SumTree backwards(std::int64_t leaves, std::int64_t) {
    Builder builder(leaves);
    std::vector<std::int32_t> numbers = range(0, leaves);
    std::reverse(numbers.begin(), numbers.end());
    builder.in_turn(numbers);
    return builder.take();
}
// The sums of runs of so many.
std::vector<std::int32_t> sums_of_runs(Builder& builder, std::int64_t leaves, std::int64_t run) {
    std::vector<std::int32_t> sums;
    for (std::int64_t first = 0; first < leaves; first += run)
        sums.push_back(builder.in_turn(range(first, std::min(first + run, leaves))));
    return sums;
}
SumTree neighbours(std::int64_t leaves, std::int64_t run) {
    Builder builder(leaves);
    builder.in_pairs(sums_of_runs(builder, leaves, run));
    return builder.take();
}
// Runs of so many, one run after the other.
SumTree runs(std::int64_t leaves, std::int64_t run) {
    Builder builder(leaves);
    builder.in_turn(sums_of_runs(builder, leaves, run));
    return builder.take();
}
// Two halves, each by itself, down to runs of so many.
std::int32_t half(Builder& builder, std::int64_t first, std::int64_t end, std::int64_t run) {
    if (end - first <= std::max<std::int64_t>(run, 1)) return builder.in_turn(range(first, end));
    const std::int64_t middle = first + (end - first) / 2;
    const std::int32_t left = half(builder, first, middle, run);
    return builder.join(left, half(builder, middle, end, run));
}
SumTree halves(std::int64_t leaves, std::int64_t run) {
    Builder builder(leaves);
    half(builder, 0, leaves, run);
    return builder.take();
}
// The distance is halved in each round: i and i + n / 2 first.
SumTree strides(std::int64_t leaves, std::int64_t) {
    Builder builder(leaves);
    std::vector<std::int32_t> numbers = range(0, leaves);
    while (numbers.size() > 1) {
        const std::size_t kept = (numbers.size() + 1) / 2;
        for (std::size_t i = kept; i < numbers.size(); ++i)
            numbers[i - kept] = builder.join(numbers[i - kept], numbers[i]);
        numbers.resize(kept);
    }
    return builder.take();
}
// So many sums side by side, each of every so-manieth product.
std::vector<std::int32_t> lane_sums(Builder& builder, std::int64_t leaves, std::int64_t lanes) {
    std::vector<std::int32_t> sums;
    for (std::int64_t lane = 0; lane < std::min(lanes, leaves); ++lane)
        sums.push_back(builder.in_turn(range(lane, leaves, lanes)));
    return sums;
}
SumTree lanes_in_turn(std::int64_t leaves, std::int64_t lanes) {
    Builder builder(leaves);
    builder.in_turn(lane_sums(builder, leaves, lanes));
    return builder.take();
}
SumTree lanes_in_pairs(std::int64_t leaves, std::int64_t lanes) {
    Builder builder(leaves);
    builder.in_pairs(lane_sums(builder, leaves, lanes));
    return builder.take();
}
SumTree lanes_in_strides(std::int64_t leaves, std::int64_t lanes) {
    Builder builder(leaves);
    std::vector<std::int32_t> sums = lane_sums(builder, leaves, lanes);
    while (sums.size() > 1) {
        const std::size_t kept = (sums.size() + 1) / 2;
        for (std::size_t i = kept; i < sums.size(); ++i)
            sums[i - kept] = builder.join(sums[i - kept], sums[i]);
        sums.resize(kept);
    }
    return builder.take();
}
// NumPy's: up to 128 products in eight lanes, which are added in pairs, and the rest in turn; of
// more, two halves whose first has a multiple of eight.
std::int32_t numpy_part(Builder& builder, std::int64_t first, std::int64_t end) {
    constexpr std::int64_t lanes = 8, together = 128;
    const std::int64_t count = end - first;
    if (count < lanes) return builder.in_turn(range(first, end));
    if (count <= together) {
        const std::int64_t whole = first + count / lanes * lanes;
        std::vector<std::int32_t> sums;
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            sums.push_back(builder.in_turn(range(first + lane, whole, lanes)));
        std::int32_t sum = builder.in_pairs(sums);
        for (std::int64_t i = whole; i < end; ++i)
            sum = builder.join(sum, static_cast<std::int32_t>(i));
        return sum;
    }
    const std::int64_t middle = first + count / 2 / lanes * lanes;
    const std::int32_t left = numpy_part(builder, first, middle);
    return builder.join(left, numpy_part(builder, middle, end));
}
SumTree numpy(std::int64_t leaves, std::int64_t) {
    Builder builder(leaves);
    numpy_part(builder, 0, leaves);
    return builder.take();
}

// What each join adds, as a name that does not hang on the order of joins, left or right: equal
// ones have equal numbers.
std::int64_t shape_of(const SumTree& tree,
                      std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>& names) {
    std::vector<std::int64_t> of;
    for (std::int64_t i = 0; i < tree.leaves; ++i) of.push_back(i);
    for (const Join& join : tree.joins) {
        const auto sides = std::minmax(of[static_cast<std::size_t>(join.left)],
                                       of[static_cast<std::size_t>(join.right)]);
        const auto next = tree.leaves + static_cast<std::int64_t>(names.size());
        of.push_back(names.try_emplace({sides.first, sides.second}, next).first->second);
    }
    return of.empty() ? -1 : of.back();
}

std::vector<double> numbers_of(const FactorType& factor, const std::vector<Code>& codes,
                               const std::vector<Code>& scales) {
    const FactorScalingRow& rule = row_of(factor.scaling);
    std::vector<double> all;
    for (std::size_t k = 0; k < codes.size(); ++k) {
        double value = number_of(factor.element, codes[k]);
        const std::size_t block = rule.block == 0 ? 0 : k / static_cast<std::size_t>(rule.block);
        if (rule.block != 0 && block < scales.size()) value *= number_of(rule.scale, scales[block]);
        all.push_back(value);
    }
    return all;
}

struct PlainFactors {
    std::vector<double> a, b;

    float product(std::size_t k) const { return static_cast<float>(a[k] * b[k]); }
};

float tree_sum(const PlainSum& sum, const PlainFactors& factors, const SumTree& tree) {
    std::vector<float> numbers;
    const auto leaves = static_cast<std::size_t>(tree.leaves);
    numbers.reserve(leaves + tree.joins.size());
    for (std::size_t k = 0; k < leaves; ++k) numbers.push_back(factors.product(k));
    for (const Join& join : tree.joins) {
        auto left = static_cast<std::size_t>(join.left);
        auto right = static_cast<std::size_t>(join.right);
        if (left < leaves && right >= leaves) std::swap(left, right);
        const bool fuses = sum.is_fused && right < leaves;
        numbers.push_back(fuses ? std::fma(static_cast<float>(factors.a[right]),
                                           static_cast<float>(factors.b[right]), numbers[left])
                                : numbers[left] + numbers[right]);
    }
    const float total = numbers.empty() ? 0.0f : numbers.back();
    return sum.begins_with_zero ? total + 0.0f : total;
}

float kahan_sum(const PlainFactors& factors) {
    float sum = 0, lost = 0;
    for (std::size_t k = 0; k < factors.a.size(); ++k) {
        const float next = factors.product(k) - lost;
        const float total = sum + next;
        lost = (total - sum) - next;
        sum = total;
    }
    return sum;
}

float neumaier_sum(const PlainFactors& factors) {
    float sum = 0, lost = 0;
    for (std::size_t k = 0; k < factors.a.size(); ++k) {
        const float next = factors.product(k);
        const float total = sum + next;
        lost += std::abs(sum) >= std::abs(next) ? (sum - total) + next : (next - total) + sum;
        sum = total;
    }
    return sum + lost;
}

float double_sum(const PlainFactors& factors) {
    double sum = 0;
    for (std::size_t k = 0; k < factors.a.size(); ++k) sum += factors.a[k] * factors.b[k];
    return static_cast<float>(sum);
}

float sum_of(const PlainSum& sum, const PlainFactors& factors) {
    if (sum.loop == PlainLoop::kahan) return kahan_sum(factors);
    if (sum.loop == PlainLoop::neumaier) return neumaier_sum(factors);
    if (sum.loop == PlainLoop::binary64) return double_sum(factors);
    const auto depth = static_cast<std::int64_t>(factors.a.size());
    if (sum.tree.leaves == depth) return tree_sum(sum, factors, sum.tree);
    return tree_sum(sum, factors, sum.rule->tree(depth, sum.rule->number));
}

}  // namespace

std::string TreeRule::text() const {
    return number == 0 ? name : name + " of " + std::to_string(number);
}

std::vector<TreeRule> tree_rules() {
    std::vector<TreeRule> rules{{"in turn", forwards, 0, true},
                                {"in turn, from the end", backwards, 0},
                                {"halves", halves, 0},
                                {"neighbours in pairs", neighbours, 1},
                                {"the first half with the second", strides, 0},
                                {"NumPy's pairwise sum", numpy, 0}};
    for (const std::int64_t number : {2, 4, 8, 16, 32, 64, 128, 256}) {
        rules.push_back({"halves, down to runs", halves, number});
        rules.push_back({"pairs of runs", neighbours, number});
        rules.push_back({"runs", runs, number, true});
        rules.push_back({"lanes, added in turn,", lanes_in_turn, number, number <= lanes_max});
        rules.push_back({"lanes, added in pairs,", lanes_in_pairs, number});
        rules.push_back({"lanes, the first half with the second,", lanes_in_strides, number});
    }
    return rules;
}

bool are_same(const SumTree& a, const SumTree& b) {
    if (a.leaves != b.leaves || a.joins.size() != b.joins.size()) return false;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> names;
    return shape_of(a, names) == shape_of(b, names);
}

std::string text_of(const SumTree& tree, std::size_t longest) {
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < tree.leaves; ++i) texts.push_back(std::to_string(i));
    for (const Join& join : tree.joins) {
        std::string text = "(" + texts[static_cast<std::size_t>(join.left)] + "+" +
                           texts[static_cast<std::size_t>(join.right)] + ")";
        if (text.size() > 4 * longest) text = text.substr(0, 2 * longest) + " ...";
        texts.push_back(std::move(text));
    }
    std::string text = texts.empty() ? "" : texts.back();
    if (text.size() > longest) text = text.substr(0, longest) + " ...";
    return text;
}

std::string text_of(const PlainSum& sum) {
    if (sum.loop != PlainLoop::tree)
        return std::string(plain_loop_names[static_cast<std::size_t>(sum.loop)]);
    const std::string how = sum.is_fused ? ", by fused multiply-adds where a product joins a sum"
                                         : ", of products rounded to binary32";
    if (sum.rule) return "a binary32 sum, " + sum.rule->text() + how;
    return "a tree of binary32 additions that follows no rule known here, at K=" +
           std::to_string(sum.tree.leaves) + how;
}

Code predicted(const PlainSum& sum, const GemmMachine& machine, const GemmProblem& setting,
               const GemmProbe& probe) {
    const PlainFactors factors{numbers_of(setting.a, probe.a, probe.scales_a),
                               numbers_of(setting.b, probe.b, probe.scales_b)};
    float total = sum_of(sum, factors);
    const fast::Unpacked first = first_summand(machine, probe);
    if (first.significand != 0 || first.kind != fast::Kind::finite)
        total += static_cast<float>(number_of(first));
    return finished(machine, setting, probe,
                    fast::unpack(formats::f32, Code{std::bit_cast<std::uint32_t>(total)}));
}

}  // namespace mx::identify
