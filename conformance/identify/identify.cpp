// See identify.hpp.
#include "conformance/identify/identify.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/identify/hypotheses.hpp"
#include "conformance/identify/probes.hpp"
#include "conformance/identify/witness.hpp"
#include "reference/spec/layouts.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::identify {
namespace {

using FieldNames = std::vector<std::string_view>;

// Fields that are found out together, from one part of the answers.
struct Stage {
    FieldNames fields;
    Part part;
    Pool (*pool)(const Setting& setting, std::span<const Quantizer> hypotheses);
    bool looks_back = false;  // do the answers to earlier stages count?
    bool goes_on = false;     // do all hypotheses that are left enter the next stage?
};

Pool specials(const Setting& setting, std::span<const Quantizer>) {
    return special_blocks(setting);
}
Pool elements(const Setting& setting, std::span<const Quantizer> hypotheses) {
    return element_blocks(setting, hypotheses.front());
}

const std::vector<Stage>& stages() {
    static const std::vector<Stage> list{
        {{"amax_rounding", "scale_ratio", "scale_rounding"},
         Part::scale,
         ordinary_amaxes,
         false,
         true},
        {{"amax_min", "ratio_min", "scale_underflow", "scale_byte_min", "scale_zero", "zero_block"},
         Part::scale,
         tiny_amaxes},
        {{"scale_byte_max", "scale_overflow"}, Part::scale, huge_amaxes},
        {{"nan_in_block", "scale_nan", "infinity_in_block", "scale_infinity"},
         Part::scale,
         specials,
         true},
        {{"element_rounding", "element_overflow", "subnormals", "nan_code", "sign_of_zero",
          "inverse", "quotient"},
         Part::elements,
         elements,
         true},
    };
    return list;
}

// The index of the block that cuts the hypotheses into the most groups; the pool's size if none
// does. Blocks that cut nothing are dropped: they will not cut a part of the hypotheses either.
std::size_t best_block(const Setting& setting, const std::vector<Quantizer>& hypotheses, Part part,
                       Pool& pool) {
    Pool cutting;
    std::size_t best = 0, most = 1;
    for (const Lanes& block : pool) {
        const Answer answer{block, predicted_scale(setting, hypotheses.front(), block), {}};
        std::vector<std::uint64_t> groups;
        for (const Quantizer& dialect : hypotheses)
            groups.push_back(predicted(setting, dialect, answer, part));
        std::sort(groups.begin(), groups.end());
        const std::size_t count =
            static_cast<std::size_t>(std::unique(groups.begin(), groups.end()) - groups.begin());
        if (count == 1) continue;
        if (count > most) most = count, best = cutting.size();
        cutting.push_back(block);
    }
    pool = std::move(cutting);
    return most == 1 ? pool.size() : best;
}

class Deduction {
public:
    explicit Deduction(Subject& subject) : subject_(subject) {}

    Status look_at_bytes();
    Status run(const Stage& stage);
    Status compare_unseen();
    Identification take();

private:
    bool keep_what_explains(const Answer& answer, Part part);
    Expected<bool> narrow(Part part, const Lanes& block);
    void note_findings();
    void find_names();

    const Setting& setting() const { return subject_.setting(); }

    Subject& subject_;
    std::vector<Quantizer> alive_{plain_rules()};  // the hypotheses that explain the answers
    FieldNames fields_;                            // free since the last findings
    BytesSeen bytes_seen_;
    std::vector<Answer> answers_;
    Identification result_;
};

// What the device gives for zero, huge and special blocks are values that the fields of bytes may
// have.
Status Deduction::look_at_bytes() {
    Pool pool{Lanes{}, block_of_amax(setting().input.code_max_finite())};
    for (const Lanes& block : special_blocks(setting())) pool.push_back(block);
    auto answers = subject_.quantize(pool);
    if (!answers) return answers.error();
    answers_ = std::move(answers).value();
    std::set<std::uint8_t> special;
    for (std::size_t i = 2; i < answers_.size(); ++i)
        special.insert(static_cast<std::uint8_t>(answers_[i].scale.bits));
    bytes_seen_.zero = static_cast<std::uint8_t>(answers_[0].scale.bits);
    bytes_seen_.huge = static_cast<std::uint8_t>(answers_[1].scale.bits);
    bytes_seen_.special.assign(special.begin(), special.end());
    return success();
}

// An answer that nothing explains is no reason to give up what explains the others. False for one.
bool Deduction::keep_what_explains(const Answer& answer, Part part) {
    std::vector<Quantizer> still;
    for (const Quantizer& dialect : alive_)
        if (predicted(setting(), dialect, answer, part) == given(answer, part))
            still.push_back(dialect);
    if (still.empty()) return false;
    alive_ = std::move(still);
    return true;
}

// Asks the block. Does anything explain the answer?
Expected<bool> Deduction::narrow(Part part, const Lanes& block) {
    auto answers = subject_.quantize({&block, 1});
    if (!answers) return answers.error();
    answers_.push_back(answers.value().front());
    return keep_what_explains(answers_.back(), part);
}

Status Deduction::run(const Stage& stage) {
    std::vector<Quantizer> wider;
    for (const Quantizer& dialect : alive_)
        for (const Quantizer& other : combinations(stage.fields, dialect, bytes_seen_))
            wider.push_back(other);
    alive_ = std::move(wider);
    Pool pool = stage.pool(setting(), alive_);
    // Before the rules for special values are known, their blocks say nothing of other fields.
    if (stage.looks_back)
        for (const Answer& answer : answers_) keep_what_explains(answer, stage.part);
    // A device that goes on giving answers outside all hypotheses will not choose among them.
    constexpr int unexplained_max = 8;
    int unexplained = 0;
    while (alive_.size() > 1 && unexplained < unexplained_max) {
        const std::size_t best = best_block(setting(), alive_, stage.part, pool);
        if (best == pool.size()) break;
        const auto explained = narrow(stage.part, pool[best]);
        if (!explained) return explained.error();
        unexplained = explained.value() ? 0 : unexplained + 1;
        pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(best));
    }
    fields_.insert(fields_.end(), stage.fields.begin(), stage.fields.end());
    if (stage.goes_on && unexplained < unexplained_max) return success();
    note_findings();
    alive_.resize(1);
    return success();
}

// Of the fields that were free since the last time.
void Deduction::note_findings() {
    for (const std::string_view name : fields_) {
        Finding finding;
        finding.field = name;
        for (const Quantizer& dialect : alive_) {
            const std::string text = field_named(name).value_of(dialect);
            if (std::find(finding.values.begin(), finding.values.end(), text) ==
                finding.values.end())
                finding.values.push_back(text);
        }
        if (finding.values.size() == 1)
            finding.witness =
                witness_of(setting(), name, values_of(name, alive_.front(), bytes_seen_), answers_);
        result_.findings.push_back(std::move(finding));
    }
    fields_.clear();
}

Status Deduction::compare_unseen() {
    const Pool unseen = unseen_blocks(setting());
    auto answers = subject_.quantize(unseen);
    if (!answers) return answers.error();
    for (const Answer& answer : answers.value()) answers_.push_back(answer);
    result_.unexplained = unexplained_by(setting(), alive_.front(), answers_);
    find_names();
    constexpr std::size_t part = 20;
    auto partial = subject_.quantize_partial(unseen.front(), part);
    if (!partial) return partial.error();
    result_.partial_block = partial_text(setting(), alive_.front(), partial.value(), part);
    for (const ScaleLayout& layout : scale_layouts)
        if (layout.axis == BlockAxis::row && subject_.takes_scale_layout(std::string(layout.name)))
            result_.scale_layouts.emplace_back(layout.name);
    return success();
}

void Deduction::find_names() {
    result_.answers = answers_.size();
    const Quantizer* nearest = nullptr;
    std::vector<std::string> but_for_open;
    for (const Quantizer& row : e8m0_quantizers) {
        if (!row.is_known() || !row.quantizes(setting().format) || !row.reads(setting().input.name))
            continue;
        const Unexplained rest = unexplained_by(setting(), row, answers_);
        const std::uint64_t right = answers_.size() - rest.blocks;
        if (rest.blocks == 0)
            (rest.open == 0 ? result_.identical : but_for_open).emplace_back(row.name);
        if (result_.unexplained.blocks != 0 && result_.unexplained.hypothesis.empty())
            result_.unexplained.hypothesis = common_offset(setting(), row, answers_);
        if (nearest == nullptr || right > result_.nearest_predicted) {
            nearest = &row;
            result_.nearest_predicted = right;
        }
    }
    if (result_.identical.empty()) result_.identical = std::move(but_for_open);
    if (nearest == nullptr) return;
    result_.nearest = nearest->name;
    for (const Finding& finding : result_.findings) {
        const std::string theirs = field_named(finding.field).value_of(*nearest);
        if (finding.values.size() == 1 && finding.values.front() != theirs)
            result_.parts.push_back(finding.field + ": the device " + finding.values.front() +
                                    ", " + result_.nearest + " " + theirs);
    }
}

Identification Deduction::take() {
    result_.setting = setting();
    result_.blocks_asked = subject_.blocks_asked();
    return std::move(result_);
}

}  // namespace

Expected<Identification> identify(Subject& subject) {
    Deduction deduction(subject);
    Status status = deduction.look_at_bytes();
    for (const Stage& stage : stages())
        if (status) status = deduction.run(stage);
    if (status) status = deduction.compare_unseen();
    if (!status) return status.error();
    return deduction.take();
}

}  // namespace mx::identify
