// See diff.hpp.
#include "conformance/files/diff.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/case/names.hpp"
#include "conformance/files/readings.hpp"
#include "reference/base/text.hpp"

namespace mx::files {
namespace {

std::string format_text(const View& view) {
    std::string text = std::string(view.element.name) + " under " + std::string(view.scale.name) +
                       ", blocks of " + size_text(view.block_rows, view.block_columns);
    if (view.format != nullptr) text = view.format->name;
    text += " of " + view.convention;
    return view.dialect.empty() ? text : text + ", made by dialect " + view.dialect;
}

// Elements of the larger tensor outside the common part that are not zero.
Expected<std::uint64_t> count_outside(const View& view, Shape common) {
    TileReader reader(view);
    Tile tile;
    std::uint64_t count = 0;
    const std::int64_t rows =
        std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(view.columns, 1));
    for (std::int64_t row = 0; row < view.rows; row += rows) {
        const Area area{row, std::min(rows, view.rows - row), 0, view.columns};
        if (const Status s = reader.read(area, tile); !s) return s.error();
        for (std::int64_t i = 0; i < area.rows; ++i)
            for (std::int64_t column = row + i < common.rows ? common.columns : 0;
                 column < view.columns; ++column)
                if (!view.element.is_zero(
                        Code{tile.codes[static_cast<std::size_t>(i * view.columns + column)]}))
                    ++count;
    }
    return count;
}

Expected<bool> have_equal_bytes(const View& a, const View& b) {
    const bool is_alike =
        a.element == b.element && a.scale == b.scale && a.rows == b.rows &&
        a.columns == b.columns && a.order == b.order && a.place == b.place && a.use == b.use &&
        a.block_rows == b.block_rows && a.block_columns == b.block_columns &&
        a.group.elements == b.group.elements && a.scales.has_value() == b.scales.has_value() &&
        a.global.has_value() == b.global.has_value();
    if (!is_alike) return false;
    auto equal = equal_bytes(a.elements, b.elements);
    if (equal && equal.value() && a.scales) equal = equal_bytes(*a.scales, *b.scales);
    if (equal && equal.value() && a.global) equal = equal_bytes(*a.global, *b.global);
    return equal;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return grouped(part) + " of " + grouped(whole);
}

// One tensor of both files.
class TensorComparer {
public:
    TensorComparer(const View& a, const View& b) : a_{a}, b_{b} {
        result_.name = a.name;
        result_.format_a = format_text(a);
        result_.format_b = format_text(b);
        result_.a = {a.rows, a.columns};
        result_.b = {b.rows, b.columns};
        result_.block = block_of(a_, b_);
    }

    Expected<TensorDiff> run() {
        const auto equal = have_equal_bytes(a_.view, b_.view);
        if (!equal) return equal.error();
        if (equal.value()) return std::move(result_);
        if (cancel_numbers(a_, b_))
            result_.notes.push_back(
                "each global scale is the other's inverse, rounded to binary32");
        const bool is_turned = a_.rows() == b_.columns() && a_.columns() == b_.rows();
        if (is_turned && a_.rows() != b_.rows()) {
            b_.is_transposed = true;
            shape_cause_ = "B is A transposed";
        }
        common_ = {std::min(a_.rows(), b_.rows()), std::min(a_.columns(), b_.columns())};
        auto counts = compare(a_, b_, common_);
        if (!counts) return counts.error();
        result_.counts = std::move(counts).value();
        const bool is_one_shape = a_.rows() == b_.rows() && a_.columns() == b_.columns();
        Status done = is_one_shape ? success() : judge_pads();
        if (done && result_.counts.different_blocks != 0) done = explain();
        if (!done) return done.error();
        if (result_.counts.different_blocks == 0 && !shape_cause_.empty())
            result_.causes.push_back({shape_cause_, 0, 0});
        note_encodings();
        conclude();
        return std::move(result_);
    }

private:
    Status judge_pads() {
        const bool a_is_larger = a_.view.rows >= b_.view.rows && a_.view.columns >= b_.view.columns;
        const bool b_is_larger = b_.view.rows >= a_.view.rows && b_.view.columns >= a_.view.columns;
        is_sound_shape_ = false;
        if (!a_is_larger && !b_is_larger) {
            shape_cause_ = "the shapes are no padding of each other";
            return success();
        }
        const View &large = a_is_larger ? a_.view : b_.view,
                   &small = a_is_larger ? b_.view : a_.view;
        const auto outside = count_outside(large, common_);
        if (!outside) return outside.error();
        is_sound_shape_ = outside.value() == 0;
        shape_cause_ =
            std::string(a_is_larger ? "A" : "B") + " is padded from " +
            size_text(small.rows, small.columns) + " to " + size_text(large.rows, large.columns) +
            (is_sound_shape_
                 ? " with zeros"
                 : ", and " + counted(outside.value(), "element") + " of the padding are not zero");
        return success();
    }

    Status explain() {
        if (const Status s = try_other_readings(); !s) return s;
        if (!shape_cause_.empty() && !result_.causes.empty())
            result_.causes.front().text = shape_cause_ + "; " + result_.causes.front().text;
        const bool is_whole = !result_.causes.empty() &&
                              result_.causes.front().explained == result_.counts.different_blocks;
        if (!is_whole)
            if (const Status s = note_kinds(); !s) return s;
        auto witness = block_text(a_, b_, result_.counts.places.front());
        if (!witness) return witness.error();
        result_.witness = std::move(witness).value();
        return success();
    }

    // Each reading is tried around some of the differences; the best is held against all blocks.
    Status try_other_readings() {
        const OtherReading* best = nullptr;
        std::uint64_t most = 0;
        const std::vector<OtherReading> readings = other_readings(a_, b_);
        for (const OtherReading& other : readings) {
            const auto tried = try_at({a_, b_, other.a, other.b}, common_, result_.counts.places);
            if (!tried) return tried.error();
            const auto& [different, explained, parted] = tried.value();
            // More is explained than is broken, and no small part by luck.
            if (2 * explained < different || explained <= parted || explained <= most) continue;
            best = &other;
            most = explained;
        }
        if (best == nullptr) return success();
        const auto whole = try_readings({a_, b_, best->a, best->b}, common_);
        if (!whole) return whole.error();
        if (2 * whole.value().explained >= result_.counts.different_blocks &&
            whole.value().explained > whole.value().parted)
            result_.causes.push_back({best->cause, whole.value().explained, whole.value().parted});
        return success();
    }

    Status note_kinds() {
        const Differences& kinds = result_.counts.kinds;
        if (kinds.neighbours != 0) {
            const std::string direction = kinds.away == 0          ? ", each nearer to zero in B"
                                          : kinds.toward_zero == 0 ? ", each farther from zero in B"
                                                                   : "";
            result_.causes.push_back(
                {"another rounding: under equal scales each element that differs is the next code" +
                     direction,
                 kinds.neighbours, 0});
        }
        if (kinds.scale_rule != 0) {
            const std::string direction = kinds.scale_down == 0 ? "larger in B"
                                          : kinds.scale_up == 0
                                              ? "smaller in B"
                                              : "larger in B in " + grouped(kinds.scale_up) +
                                                    " blocks and smaller in the others";
            const auto shared = shared_amax(a_, b_, common_);
            if (!shared) return shared.error();
            const std::string what =
                shared.value().empty()
                    ? "another rule for scales (another dialect, or another set of elements for "
                      "the amax)"
                    : "another set of elements for the amax: " + shared.value();
            result_.causes.push_back({what + ": the scale is " + direction +
                                          ", and both can be roundings of one original",
                                      kinds.scale_rule, 0});
        }
        std::stable_sort(result_.causes.begin(), result_.causes.end(),
                         [](const Cause& x, const Cause& y) { return x.explained > y.explained; });
        return success();
    }

    void note_encodings() {
        const Comparison& counts = result_.counts;
        if (counts.recoded != 0)
            result_.notes.push_back(share_text(counts.recoded, counts.blocks) +
                                    " blocks have other codes of equal values");
        if (counts.zero_signs != 0)
            result_.notes.push_back(counted(counts.zero_signs, "zero") + " of unequal sign");
    }

    void conclude() {
        const std::uint64_t different = result_.counts.different_blocks;
        const bool explains_all =
            !result_.causes.empty() && result_.causes.front().explained == different;
        if (different == 0 && shape_cause_.empty())
            result_.verdict = Verdict::equal_values;
        else
            result_.verdict =
                explains_all && is_sound_shape_ ? Verdict::explained : Verdict::different;
    }

    Reading a_, b_;
    Shape common_;
    std::string shape_cause_;     // "" where the shapes are the same
    bool is_sound_shape_ = true;  // or it is a transpose, or padded with zeros
    TensorDiff result_;
};

struct Pair {
    const View* a = nullptr;
    const View* b = nullptr;
};

Error no_tensor(const std::string& path, const std::string& name, const Recognised& file) {
    std::vector<std::string> names;
    for (const View& view : file.views) names.push_back(view.name);
    return bad_input(path + ": " + check_name("quantized tensor", name, names).error().message);
}

const View* find_view(const Recognised& file, const std::string& name) {
    for (const View& view : file.views)
        if (view.name == name) return &view;
    return nullptr;
}

Expected<std::vector<Pair>> pairs_of(const Recognised& a, const Recognised& b,
                                     const DiffRequest& request, FileDiff& result) {
    std::vector<Pair> pairs;
    if (!request.tensor.empty()) {
        const std::string& other =
            request.other_tensor.empty() ? request.tensor : request.other_tensor;
        const Pair pair{find_view(a, request.tensor), find_view(b, other)};
        if (pair.a == nullptr) return no_tensor(request.a, request.tensor, a);
        if (pair.b == nullptr) return no_tensor(request.b, other, b);
        pairs.push_back(pair);
        return pairs;
    }
    if (a.views.size() == 1 && b.views.size() == 1) {
        pairs.push_back({&a.views.front(), &b.views.front()});
        return pairs;
    }
    for (const View& view : a.views) {
        const View* other = find_view(b, view.name);
        if (other == nullptr)
            result.only_a.push_back(view.name);
        else
            pairs.push_back({&view, other});
    }
    for (const View& view : b.views)
        if (find_view(a, view.name) == nullptr) result.only_b.push_back(view.name);
    return pairs;
}

// Tensors that are not quantized: their bytes.
Status compare_others(const Recognised& a, const Recognised& b, FileDiff& result) {
    std::map<std::string, const data::ListedTensor*> by_name;
    for (const data::ListedTensor& tensor : b.others) by_name[tensor.name] = &tensor;
    for (const data::ListedTensor& tensor : a.others) {
        const auto other = by_name.find(tensor.name);
        if (other == by_name.end()) {
            result.only_a.push_back(tensor.name);
            continue;
        }
        const bool is_alike = tensor.type == other->second->type &&
                              tensor.block_type == other->second->block_type &&
                              tensor.shape == other->second->shape;
        const auto equal = is_alike ? equal_bytes(tensor, *other->second) : Expected<bool>(false);
        if (!equal) return equal.error();
        if (equal.value())
            ++result.plain_equal;
        else
            result.plain_different.push_back(tensor.name);
        by_name.erase(other);
    }
    for (const auto& [name, tensor] : by_name) result.only_b.push_back(name);
    return success();
}

Status add_origin(const Pair& pair, const DiffRequest& request, TensorDiff& tensor) {
    auto values = find_values(request.original, pair.a->name);
    if (!values) return values.error();
    for (const auto& [name, view] : {std::pair{"A", pair.a}, std::pair{"B", pair.b}}) {
        const auto found = predict(*view, values.value());
        if (!found)
            return Error{found.error().kind, request.original + ": " + found.error().message};
        tensor.origin.push_back(std::string(name) + " follows " + sentence_of(found.value()));
    }
    return success();
}

Status check_misfits(const Recognised& file, const std::string& path) {
    if (file.misfits.empty()) return success();
    const Misfit& first = file.misfits.front();
    return bad_input(path + ": tensor " + data::in_quotes(first.name) + " has the names of " +
                     first.convention + ", but " + first.what);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::equal_bytes:
            return "equal bytes";
        case Verdict::equal_values:
            return "equal values in another encoding";
        case Verdict::explained:
            return "different, and explained";
        case Verdict::different:
            return "different";
    }
    return "";
}

bool FileDiff::has_equal_bytes() const {
    return has_equal_values() && std::all_of(tensors.begin(), tensors.end(), [](const auto& t) {
               return t.verdict == Verdict::equal_bytes;
           });
}

bool FileDiff::has_equal_values() const {
    return only_a.empty() && only_b.empty() && plain_different.empty() &&
           std::all_of(tensors.begin(), tensors.end(), [](const auto& t) {
               return t.verdict == Verdict::equal_bytes || t.verdict == Verdict::equal_values;
           });
}

Expected<FileDiff> diff(const DiffRequest& request) {
    auto a = open_quantized(request.a, request.elements);
    if (!a) return a.error();
    auto b = open_quantized(request.b, request.elements);
    if (!b) return b.error();
    for (const auto& [file, path] : {std::pair{&a.value(), &request.a}, {&b.value(), &request.b}})
        if (const Status fits = check_misfits(*file, *path); !fits) return fits.error();
    if (a.value().views.empty() && a.value().others.empty())
        return bad_input(request.a + ": holds no tensor");
    FileDiff result;
    const auto pairs = pairs_of(a.value(), b.value(), request, result);
    if (!pairs) return pairs.error();
    for (const Pair& pair : pairs.value()) {
        auto tensor = TensorComparer(*pair.a, *pair.b).run();
        if (!tensor) return tensor.error();
        if (!request.original.empty())
            if (const Status s = add_origin(pair, request, tensor.value()); !s) return s.error();
        result.tensors.push_back(std::move(tensor).value());
    }
    if (request.tensor.empty())
        if (const Status s = compare_others(a.value(), b.value(), result); !s) return s.error();
    return result;
}

}  // namespace mx::files
