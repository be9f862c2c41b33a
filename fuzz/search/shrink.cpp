// See shrink.hpp.
#include "fuzz/search/shrink.hpp"

#include <algorithm>
#include <array>

#include "fuzz/search/sample.hpp"
#include "reference/problem/problem.hpp"

namespace mx::fuzz {
namespace {

constexpr std::uint64_t calls_max = 500;
constexpr std::uint64_t calls_max_fresh = 150;  // where the device is opened anew for each
constexpr std::uint64_t calls_max_timeout = 12;
constexpr std::size_t gathered_max = 32;

class Shrinker {
public:
    Shrinker(Judge& judge, const Failure& failure, const ShrinkLimits& limits)
        : judge_(judge),
          failure_(failure),
          limits_(limits),
          budget_(failure.judgement.outcome == Outcome::timeout ? calls_max_timeout : calls_max) {}

    std::uint64_t calls() const { return calls_; }
    bool is_stopped() const { return limits_.is_stopped(); }
    bool may_ask() const {
        return calls_ < budget_ && elements_ < limits_.elements_max && !is_stopped();
    }
    void open_anew_for_each_call() {
        fresh_ = true;
        budget_ = std::min(budget_, calls_ + calls_max_fresh);
        elements_ = 0;
    }
    void ask_before(const Case& prelude) { prelude_ = prelude; }

    // Does the device fail in the same way?
    bool fails(const Sample& sample) {
        if (!may_ask()) return false;
        ++calls_;
        elements_ += element_count(sample.c);
        if (fresh_ || prelude_) judge_.restart();
        if (prelude_) ask(*prelude_);
        return is_same(judge_.judge(sample.c, sample.inputs));
    }

    // The same, of a device just opened and from the text alone, as a replay will do it.
    bool fails_anew(const Case& c) {
        ++calls_;
        judge_.restart();
        if (prelude_) ask(*prelude_);
        return is_same(ask(c));
    }

    // Tries the change, and keeps it if the device still fails.
    bool keep_if_fails(Sample& sample, Sample&& smaller) {
        if (!fails(smaller)) return false;
        sample = std::move(smaller);
        return true;
    }

    void shrink_shape(Sample& sample);
    void shrink_fields(Sample& sample);
    void shrink_elements(Sample& sample);
    void shrink_scales(Sample& sample);
    void simplify_values(Sample& sample);
    void gather(Sample& sample);

private:
    Judgement ask(const Case& c) {
        Sources sources;
        const auto source = sources.open(c);
        if (!source) return {Outcome::unasked, source.error().message, {}};
        return judge_.judge(c, make_inputs(c, *source.value()));
    }

    bool is_same(const Judgement& judgement) const {
        if (judgement.outcome != failure_.judgement.outcome) return false;
        if (judgement.outcome != Outcome::wrong) return true;
        const std::string& wanted = failure_.judgement.mismatches[failure_.mismatch].mismatch_class;
        return std::ranges::any_of(judgement.mismatches, [&wanted](const results::Mismatch& m) {
            return m.mismatch_class == wanted;
        });
    }

    bool crop_rows(Sample& sample, std::int64_t step);
    bool crop_columns(Sample& sample, std::int64_t step);
    bool simplify_value(Sample& sample, std::size_t element);

    Judge& judge_;
    const Failure& failure_;
    const ShrinkLimits& limits_;
    std::uint64_t calls_ = 0, budget_;
    std::int64_t elements_ = 0;
    bool fresh_ = false;
    std::optional<Case> prelude_;
};

// What is cropped at once: a block; of axis both less, for a tile of it holds many blocks.
Rectangle unit_of(const Case& c) {
    return c.axis == BlockAxis::both ? Rectangle{0, 0, 1, 1} : block_extent(c);
}

// Takes `step` blocks' rows off one end or the other.
bool Shrinker::crop_rows(Sample& sample, std::int64_t step) {
    const std::int64_t height = unit_of(sample.c).rows * step;
    const std::int64_t left = sample.c.rows - height;
    if (left <= 0) return false;
    return keep_if_fails(sample, cropped(sample, {0, 0, left, sample.c.columns})) ||
           keep_if_fails(sample, cropped(sample, {height, 0, left, sample.c.columns}));
}

bool Shrinker::crop_columns(Sample& sample, std::int64_t step) {
    const std::int64_t width = unit_of(sample.c).columns * step;
    const std::int64_t left = sample.c.columns - width;
    if (left <= 0) return false;
    return keep_if_fails(sample, cropped(sample, {0, 0, sample.c.rows, left})) ||
           keep_if_fails(sample, cropped(sample, {0, width, sample.c.rows, left}));
}

void Shrinker::shrink_shape(Sample& sample) {
    const results::Mismatch* place = nullptr;
    if (!failure_.judgement.mismatches.empty())
        place = &failure_.judgement.mismatches[failure_.mismatch];
    if (place != nullptr && !place->input_bits.empty() && place->axis.empty() &&
        static_cast<std::int64_t>(place->block) < block_grid(sample.c).count()) {
        const Rectangle block = rectangle_of(sample.c, static_cast<std::int64_t>(place->block));
        if (keep_if_fails(sample, cropped(sample, block)) && has_blocks(sample.c)) return;
    }
    const Rectangle extent = unit_of(sample.c);
    for (std::int64_t step =
             std::max(sample.c.rows / extent.rows, sample.c.columns / extent.columns) / 2 + 1;
         step > 0; step /= 2) {
        while (crop_rows(sample, step)) {
        }
        while (crop_columns(sample, step)) {
        }
    }
}

// Each field to what is plainest.
void Shrinker::shrink_fields(Sample& sample) {
    const auto set = [&](const auto& change) {
        Case c = sample.c;
        change(c);
        if (c == sample.c) return;
        if (auto changed = with_case(sample, c)) keep_if_fails(sample, std::move(*changed));
    };
    for (const BlockAxis axis : {BlockAxis::row, BlockAxis::col})
        if (sample.c.axis == BlockAxis::both) set([axis](Case& c) { c.axis = axis; });
    set([](Case& c) { c.layout = RowLayout::dense; });
    set([](Case& c) { c.packing = &packing_rows::bytes; });
    set([](Case& c) { c.scales = ScaleStorage::linear; });
    set([](Case& c) { c.seed = 0; });
    if (has_tensor_number(sample.c)) set([](Case& c) { c.tensor_number = 0x3F800000; });
    if (sample.c.rules) {
        set([](Case& c) { c.rules->subnormals = Subnormals::honoured; });
        set([](Case& c) {
            c.rules->rounding = Rounding::nearest_even;
            c.rules->form = nullptr;
        });
        set([](Case& c) { c.rules->overflow = Overflow::saturate; });
    }
    if (sample.c.rows != 1 && sample.c.columns != 1) return;
    // One line of elements can as well lie along a row.
    Case row = sample.c;
    row.axis = BlockAxis::row;
    row.rows = 1;
    row.columns = element_count(sample.c);
    if (row == sample.c) return;
    if (auto changed = with_case(sample, row)) keep_if_fails(sample, std::move(*changed));
}

// Zeros: all, then halves of what is left, then each element.
void Shrinker::shrink_elements(Sample& sample) {
    const auto not_zero = [&sample] {
        std::vector<std::size_t> elements;
        for (std::size_t i = 0; i < sample.count(); ++i)
            if (sample.at(i) != 0) elements.push_back(i);
        return elements;
    };
    for (std::size_t size = std::max<std::size_t>(not_zero().size(), 1); size > 0 && may_ask();
         size /= 2) {
        const std::vector<std::size_t> elements = not_zero();
        for (std::size_t first = 0; first < elements.size() && may_ask(); first += size) {
            Sample fewer = sample;
            for (std::size_t i = first; i < std::min(first + size, elements.size()); ++i)
                set_element(fewer, elements[i], 0);
            draw_words(fewer);
            keep_if_fails(sample, std::move(fewer));
        }
    }
}

// One scale for all blocks, 2^0 if that will do.
void Shrinker::shrink_scales(Sample& sample) {
    if (sample.c.operation != OperationKind::dequantize || sample.inputs[1].count() == 0) return;
    const ElementFormat& format = scale_format_of(sample.c);
    const std::uint32_t one = static_cast<std::uint32_t>(format.exponent_bias)
                              << format.mantissa_bits;
    for (const std::uint32_t scale : {one, sample.inputs[1].at(0)}) {
        Sample plainer = sample;
        for (std::size_t i = 0; i < plainer.inputs[1].count(); ++i) plainer.inputs[1].set(i, scale);
        if (keep_if_fails(sample, std::move(plainer))) return;
    }
}

bool Shrinker::simplify_value(Sample& sample, std::size_t element) {
    const bool is_code = sample.c.operation == OperationKind::dequantize;
    const ElementFormat& format = is_code ? element_format_of(sample.c) : sample.c.type;
    const std::uint32_t code = sample.at(element);
    const std::uint32_t magnitude = code & format.code_magnitude_mask();
    std::vector<std::uint32_t> simpler{
        static_cast<std::uint32_t>(format.exponent_bias) << format.mantissa_bits, magnitude};
    for (int bits = format.mantissa_bits; bits > 0; --bits)
        simpler.push_back(magnitude >> bits << bits);
    for (int bits = format.mantissa_bits; bits > 0; --bits) simpler.push_back(code >> bits << bits);
    for (const std::uint32_t candidate : simpler) {
        if (candidate == code || candidate == 0) continue;
        Sample changed = sample;
        set_element(changed, element, candidate);
        draw_words(changed);
        if (keep_if_fails(sample, std::move(changed))) return true;
    }
    return false;
}

void Shrinker::simplify_values(Sample& sample) {
    constexpr int values_max = 8;
    int values = 0;
    for (std::size_t i = 0; i < sample.count() && values < values_max; ++i) {
        if (sample.at(i) == 0) continue;
        ++values;
        simplify_value(sample, i);
    }
}

// The elements that are not zero alone, one after the other in a row.
void Shrinker::gather(Sample& sample) {
    std::vector<std::uint32_t> codes;
    for (std::size_t i = 0; i < sample.count(); ++i)
        if (sample.at(i) != 0) codes.push_back(sample.at(i));
    if (codes.empty()) codes.push_back(0);
    if (codes.size() == sample.count() || codes.size() > gathered_max) return;
    Case c = sample.c;
    c.axis = BlockAxis::row;
    if (!has_blocks(c) || c.format->has_e8m0_scales()) c.block = block_size;
    c.rows = 1;
    c.columns = static_cast<std::int64_t>(codes.size());
    auto gathered = with_case(sample, c);
    if (!gathered) return;
    gathered->inputs[0] = make_tensor(sample.inputs[0].type, c.rows, c.columns);
    for (std::size_t i = 0; i < codes.size(); ++i) set_element(*gathered, i, codes[i]);
    draw_words(*gathered);
    keep_if_fails(sample, std::move(*gathered));
}

Sample shrunk(Shrinker& shrinker, Sample sample) {
    shrinker.shrink_shape(sample);
    shrinker.shrink_fields(sample);
    shrinker.shrink_scales(sample);
    shrinker.shrink_elements(sample);
    shrinker.gather(sample);
    shrinker.simplify_values(sample);
    return sample;
}

// What cannot be written out may show on data that has a name.
std::optional<Case> in_named_data(Shrinker& shrinker, const Case& like) {
    constexpr std::array<const char*, 5> named{"codes.random", "random.spread", "random.bits",
                                               "edge.special", "edge.mixed"};
    for (const char* data : named)
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            if (shrinker.is_stopped()) return std::nullopt;
            Case c = like;
            c.data = data;
            c.seed = seed;
            if (shrinker.fails_anew(c)) return c;
        }
    return std::nullopt;
}

// A device that fails only after it was asked something else: the same shape with other data.
std::optional<Find> after_another(Shrinker& shrinker, const Sample& sample, Find find) {
    const Rectangle block = rectangle_of(sample.c, 0);
    Sample small = block_grid(sample.c).count() == 0 ? sample : cropped(sample, block);
    const ElementFormat& format = sample.c.operation == OperationKind::dequantize
                                      ? element_format_of(sample.c)
                                      : sample.c.type;
    for (const std::uint32_t other :
         {std::uint32_t{0}, static_cast<std::uint32_t>(format.exponent_bias)
                                << format.mantissa_bits}) {
        Sample before = small;
        for (std::size_t i = 0; i < before.count(); ++i) set_element(before, i, other);
        draw_words(before);
        const auto prelude = written_out(before);
        if (!prelude) continue;
        shrinker.ask_before(*prelude);
        if (!shrinker.fails(small)) continue;
        shrinker.shrink_elements(small);
        const auto last = written_out(small);
        if (!last || !shrinker.fails_anew(*last)) continue;
        find.cases = {*prelude, *last};
        return find;
    }
    return std::nullopt;
}

int lanes_not_zero(const Case& c) {
    if (!c.data.starts_with("bits:")) return -1;
    const std::string codes = c.data.substr(c.data.rfind(':') + 1);
    int count = 0;
    for (std::size_t at = 0; at < codes.size();
         at = std::min(codes.find(',', at), codes.size()) + 1)
        if (codes.compare(at, 1, "0") != 0 || (codes.size() > at + 1 && codes[at + 1] != ','))
            ++count;
    return count;
}

// From the whole to the smallest; nothing unless a device just opened fails on the text alone.
std::optional<Case> smallest(Shrinker& shrinker, const Sample& whole) {
    const Sample small = shrunk(shrinker, whole);
    if (const auto written = written_out(small); written && shrinker.fails_anew(*written))
        return written;
    return std::nullopt;
}

}  // namespace

namespace {

std::string subject_text(const Case& c) {
    return std::string(name_of(c.operation)) + " " + format_name(c) + " ";
}

}  // namespace

std::string kind_of(const Case& c, const Judgement& judgement, std::size_t mismatch) {
    const std::string what = subject_text(c);
    switch (judgement.outcome) {
        case Outcome::wrong: {
            const results::Mismatch& m = judgement.mismatches[mismatch];
            const bool names_a_number = m.mismatch_class == "unclassified";
            return what + m.mismatch_class + (names_a_number ? "" : ", " + m.direction) +
                   (m.axis.empty() ? "" : " of axis " + m.axis);
        }
        case Outcome::crash:
            return what + "crash";
        case Outcome::timeout:
            return what + "timeout";
        case Outcome::own_fault:
            return what + "oracles disagree";
        default:
            return what + "device error";
    }
}

Find shrink(Judge& judge, const Failure& failure, const ShrinkLimits& limits) {
    Find find{
        kind_of(failure.c, failure.judgement, failure.mismatch), {}, "", failure.judgement.outcome};
    find.what = find.kind.substr(subject_text(failure.c).size());
    Sample whole{failure.c, failure.inputs};
    Shrinker shrinker(judge, failure, limits);
    auto found = smallest(shrinker, whole);
    if (!found) {
        shrinker.open_anew_for_each_call();
        if (shrinker.fails(whole)) {
            found = smallest(shrinker, whole);
            shrinker.shrink_shape(whole);
            if (!found) found = in_named_data(shrinker, whole.c);
        } else if (auto pair = after_another(shrinker, whole, find)) {
            find = *pair;
        }
    }
    if (found) find.cases = {*found};
    if (!find.cases.empty()) find.lanes_not_zero = lanes_not_zero(find.cases.back());
    find.calls = shrinker.calls();
    return find;
}

}  // namespace mx::fuzz
