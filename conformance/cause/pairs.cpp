// See pairs.hpp.
#include "conformance/cause/pairs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "conformance/cause/places.hpp"

namespace mx::cause {
namespace {

// Of both kinds.
constexpr std::size_t cases_max = 32;
constexpr std::size_t like_max = 2;

// Whatever explains the case gives the answer that the device gave.
std::optional<std::vector<CodeTensor>> answer_of_device(const Again& again,
                                                        const Failing& failing) {
    for (const std::string& kind : failing.alone)
        if (auto answer = again.answer_with({kind})) return answer;
    for (const std::vector<std::string>& kinds : failing.explanations)
        if (auto answer = again.answer_with(kinds)) return answer;
    return std::nullopt;
}

bool is_of(const Again& again, const std::string& kind) {
    return std::ranges::find(again.kinds, read_placed_kind(kind).alteration) != again.kinds.end();
}

}  // namespace

Pairs::Pairs(std::span<const Failing> failing, std::span<const results::CaseResult* const> passing,
             Sources& sources) {
    for (const Failing& each : failing) add(each, sources);
    std::ranges::stable_sort(cases_, {}, [](const Known& known) {
        return element_count(known.again.c);  // what is wrong shows in the small ones mostly
    });
    failing_count_ = cases_.size();
    const std::size_t step = std::max<std::size_t>(1, (passing.size() + cases_max - 1) / cases_max);
    for (std::size_t i = 0; i < passing.size(); i += step) {
        auto again = made_again(*passing[i], sources);
        if (!again || !again->answer_with) continue;
        auto right = again->answer_with({});
        cases_.push_back({std::move(*again), std::move(*right)});
    }
}

void Pairs::add(const Failing& failing, Sources& sources) {
    auto again = cases_.size() < cases_max ? made_again(*failing.result, sources) : std::nullopt;
    auto answer = again && again->answer_with ? answer_of_device(*again, failing) : std::nullopt;
    if (!answer) {
        knows_all_ = false;
        return;
    }
    for (const std::string& kind : again->kinds)
        if (std::ranges::find(kinds_, kind) == kinds_.end()) kinds_.push_back(kind);
    cases_.push_back({std::move(*again), std::move(*answer)});
}

bool Pairs::explain(const std::string& one, const std::string& other) const {
    return failing_count_ > 0 && std::ranges::all_of(cases_, [&](const Known& known) {
               std::vector<std::string> kinds;
               for (const std::string& kind : {one, other})
                   if (is_of(known.again, kind)) kinds.push_back(kind);
               const auto answer = known.again.answer_with(kinds);
               return std::ranges::equal(*answer, known.answer, {}, &CodeTensor::bytes,
                                         &CodeTensor::bytes);
           });
}

// What may stand beside the other one of the first of these.
std::vector<std::string> Pairs::alike(std::size_t side, const Covers& held) const {
    const std::string& other = held[0][1 - side];
    std::vector<std::string> kinds{held[0][side]};
    const auto try_kind = [&](const std::string& kind) {
        const bool is_new = kind != other && std::ranges::find(kinds, kind) == kinds.end();
        if (is_new && explain(kind, other)) kinds.push_back(kind);
    };
    for (const auto& cover : held)
        for (const std::string& kind : cover) try_kind(kind);
    if (!knows_all_) return kinds;
    for (const std::string& kind : instead_of(held[0][side]))
        if (read_placed_kind(kind).alteration != read_placed_kind(other).alteration) try_kind(kind);
    return kinds;
}

// Everywhere, and where that one is.
std::vector<std::string> Pairs::instead_of(const std::string& kind) const {
    std::vector<std::string> kinds = kinds_;
    const std::size_t at = kind.find('@');
    if (at != std::string::npos)
        for (const std::string& each : kinds_) kinds.push_back(each + kind.substr(at));
    return kinds;
}

Covers Pairs::like(const Covers& covers) const {
    Covers held;
    for (std::size_t i = 0; i < covers.size() && i < like_max && knows_all_; ++i)
        for (const std::size_t side : {0u, 1u}) {
            const std::string& other = covers[i][1 - side];
            for (const std::string& kind : instead_of(covers[i][side])) {
                const bool is_new = std::ranges::find(held, std::vector{kind, other}) == held.end();
                if (is_new && kind != other && explain(kind, other)) held.push_back({kind, other});
            }
        }
    return held;
}

Covers Pairs::settled(const Covers& held) const {
    if (held.empty()) return {};
    const std::vector<std::string> ones = alike(0, held), others = alike(1, held);
    Covers covers = held;
    for (const std::string& one : ones)
        for (const std::string& other : others) {
            const auto is_it = [&](const auto& cover) {
                return cover == std::vector{one, other} || cover == std::vector{other, one};
            };
            const bool is_beside_a_first = one == ones[0] || other == others[0];
            if (one != other && std::ranges::none_of(covers, is_it) &&
                (is_beside_a_first || explain(one, other)))
                covers.push_back({one, other});
        }
    const auto placed_of = [](const auto& cover) {
        return std::ranges::count_if(cover, [](const std::string& kind) {
            return read_placed_kind(kind).place != places_max;
        });
    };
    const auto least = placed_of(*std::ranges::min_element(covers, {}, placed_of));
    std::erase_if(covers, [&](const auto& cover) { return placed_of(cover) != least; });
    return covers;
}

}  // namespace mx::cause
