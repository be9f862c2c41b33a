// See audit.hpp.
#include "conformance/files/audit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "reference/base/text.hpp"
#include "reference/fast/pack.hpp"

namespace mx::files {
namespace {

// Counts one view, row of blocks by row of blocks.
class Counter {
public:
    explicit Counter(const View& view) : view_(view), reader_(view) {
        const auto columns = static_cast<std::size_t>(view.grid_columns());
        alive_.assign(columns, 0);
        scales_.assign(columns, 0);
        for (std::uint32_t code = 0; code < 256; ++code) {
            const Code bits{code};
            const bool is_code = code >> view.element.code_bits() == 0;
            kinds_[code] = !is_code                         ? Kind::no_code
                           : view.element.is_nan(bits)      ? Kind::nan
                           : view.element.is_infinity(bits) ? Kind::nan
                           : view.element.is_zero(bits)     ? Kind::zero
                           : view.element.magnitude(bits) >= view.element.code_max_finite()
                               ? Kind::largest
                               : Kind::number;
        }
        counts_.scale_min = std::numeric_limits<std::uint32_t>::max();
    }

    Expected<Counts> run() {
        Tile tile;
        const std::int64_t piece =
            std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(view_.columns, 1));
        for (std::int64_t row = 0; row < view_.rows && view_.columns > 0; row += piece) {
            const Area area{row, std::min(piece, view_.rows - row), 0, view_.columns};
            if (const Status s = reader_.read(area, tile); !s) return s.error();
            for (std::int64_t i = 0; i < area.rows; ++i) add_row(tile, i);
        }
        if (view_.rows > 0 && view_.columns > 0) end_blocks();
        if (const Status s = count_pads(); !s) return s.error();
        return counts_;
    }

private:
    enum class Kind : std::uint8_t { number, zero, largest, nan, no_code };

    void add_row(const Tile& tile, std::int64_t row) {
        const std::int64_t grid_row = view_.block_row(tile.area.row + row);
        if (grid_row != grid_row_) {
            if (grid_row_ >= 0) end_blocks();
            grid_row_ = grid_row;
            std::fill(alive_.begin(), alive_.end(), 0);
            std::fill(scales_.begin(), scales_.end(), 0);
        }
        const std::uint8_t* codes = tile.codes.data() + row * tile.area.columns;
        for (std::int64_t run = 0; run < tile.runs(); ++run) {
            const std::int64_t begin = run * tile.run;
            const std::int64_t end = std::min(begin + tile.run, tile.area.columns);
            const auto block = static_cast<std::size_t>(run);
            scales_[block] = tile.scale_of(row, begin);
            double largest = 0;
            for (std::int64_t i = begin; i < end; ++i) {
                add_element(codes[i], alive_[block]);
                const double value = std::fabs(reader_.element_value(codes[i]));
                if (value > largest) largest = value;
            }
            note_amax(largest, scales_[block]);
        }
        counts_.elements += static_cast<std::uint64_t>(tile.area.columns);
    }

    void add_element(std::uint8_t code, std::uint8_t& is_alive) {
        const Kind kind = kinds_[code];
        if (kind == Kind::zero) return;
        is_alive = 1;
        if (kind == Kind::number) return;
        ++(kind == Kind::largest ? counts_.saturated
           : kind == Kind::nan   ? counts_.nan_elements
                                 : counts_.wrong_codes);
    }

    void note_amax(double element, std::uint32_t scale) {
        const double value = element * std::fabs(value_of(view_.scale, Code{scale}));
        if (std::isfinite(value) && value > counts_.amax) counts_.amax = value;
    }

    void end_blocks() {
        for (std::size_t i = 0; i < alive_.size(); ++i) end_block(alive_[i] != 0, Code{scales_[i]});
    }

    void end_block(bool is_alive, Code scale) {
        const ElementFormat& format = view_.scale;
        ++counts_.blocks;
        if (!is_alive) ++counts_.zero_blocks;
        if (format.is_nan(scale) || format.is_infinity(scale)) {
            ++counts_.nan_scales;
            return;
        }
        const std::uint32_t magnitude = scale.bits & format.code_magnitude_mask();
        if (format.is_negative(scale) && magnitude != 0) ++counts_.negative_scales;
        counts_.scale_min = std::min(counts_.scale_min, magnitude);
        counts_.scale_max = std::max(counts_.scale_max, magnitude);
        if (!is_alive && magnitude > (format.has_zero() ? 1u : 0u)) ++counts_.dead_blocks;
        if (!is_alive) return;
        if (format.is_zero(scale)) ++counts_.zero_scales;
        if (!format.is_zero(scale) && magnitude == (format.has_zero() ? 1u : 0u))
            ++counts_.lowest_scales;
        if (magnitude == format.code_max_finite()) ++counts_.highest_scales;
    }

    // Bytes of a padded order of scales that no block has.
    Status count_pads() {
        const bool is_padded =
            view_.place == ScalePlace::tiles_128x4 || view_.place == ScalePlace::tiles_8x4;
        if (!is_padded || !view_.scales || view_.block_columns == 1) return success();
        const bool is_128 = view_.place == ScalePlace::tiles_128x4;
        const ScaleLayout& layout = *find_scale_layout(is_128 ? "128x4" : "8x4");
        const GridShape grid{view_.grid_rows(), view_.grid_columns()};
        const GridShape padded = fast::padded_shape(layout, grid);
        const std::int64_t tall = layout.outer_multiple;
        std::vector<std::byte> stripe(static_cast<std::size_t>(tall * padded.columns));
        for (std::int64_t row = 0; row < padded.rows; row += tall) {
            const auto at = static_cast<std::uint64_t>(row * padded.columns);
            if (const Status s = data::read_bytes(*view_.scales, at, stripe); !s) return s;
            for (std::int64_t r = row; r < row + tall; ++r)
                for (std::int64_t c = r < grid.rows ? grid.columns : 0; c < padded.columns; ++c) {
                    const std::int64_t place = fast::scale_offset(layout, padded, {r, c});
                    if (stripe[static_cast<std::size_t>(place) - at] != std::byte{0})
                        ++counts_.pads;
                }
        }
        return success();
    }

    View view_;
    TileReader reader_;
    std::array<Kind, 256> kinds_{};
    std::vector<std::uint8_t> alive_;
    std::vector<std::uint32_t> scales_;
    std::int64_t grid_row_ = -1;
    Counts counts_;
};

// --- what the counts mean ------------------------------------------------------------------------

std::string share_of(std::uint64_t part, std::uint64_t whole, std::string_view noun) {
    return grouped(part) + " of " + counted(whole, noun);
}

// Collects sentences, each where its number is not zero.
struct Suspicions {
    std::vector<Suspicion> list;
    void add(Severity severity, std::uint64_t count, const std::string& what) {
        if (count != 0) list.push_back({severity, what});
    }
};

// --- what is more than chance leaves ------------------------------------------------------------
// Both shares are those of magnitudes that are no more frequent near an amax than below it. Among
// such, uniform ones have the most near it.

// Is `part` above that share of `count`, by more than six standard deviations?
bool is_above(std::uint64_t part, std::uint64_t count, double share) {
    const auto n = static_cast<double>(count);
    return static_cast<double>(part) > share * n + 6 * std::sqrt(n * share * (1 - share));
}

// Values from the upper border of the code before it on have the largest code; a scale of a power
// of two leaves an amax up to the next power of two above it. Of E2M1 (8 - 5) / 8; other scales
// leave less.
double largest_code_share(const ElementFormat& format) {
    const std::uint32_t code = format.code_max_finite();
    const double largest = value_of(format, Code{code});
    const double border = (largest + value_of(format, Code{code - 1})) / 2;
    const double top = std::exp2(std::floor(std::log2(largest)) + 1);
    return (top - border) / top;
}

// NVFP4 gives the largest scale to the block that has the tensor's amax, and to those whose own
// comes to within half a code of it: 1 - (432 / 448)^16 = 0.44 of all, in blocks of 16.
double largest_scale_share(const View& view) {
    const std::uint32_t code = view.scale.code_max_finite();
    const double largest = value_of(view.scale, Code{code});
    const double border = (largest + value_of(view.scale, Code{code - 1})) / 2;
    const auto elements = static_cast<double>(view.block_rows * view.block_columns);
    return 1 - std::pow(border / largest, elements);
}

void judge_scales(const View& view, const Counts& counts, Suspicions& found) {
    const auto blocks = [&](std::uint64_t count) {
        return share_of(count, counts.blocks, "block");
    };
    found.add(
        Severity::suspicious, counts.nan_scales,
        blocks(counts.nan_scales) + " have a NaN scale, under which no element means anything");
    found.add(Severity::impossible, counts.negative_scales,
              blocks(counts.negative_scales) + " have a negative scale, and an amax has no sign");
    found.add(Severity::suspicious, counts.zero_scales,
              blocks(counts.zero_scales) + " have scale 0 over elements that are not 0");
    found.add(Severity::suspicious, counts.lowest_scales,
              blocks(counts.lowest_scales) + " have the smallest scale, as a clamp leaves it");
    // E8M0's largest scale is that of an amax of 2^127 and more, which no tensor of a model has.
    const bool is_clamped =
        view.scale == formats::e8m0
            ? counts.highest_scales != 0
            : is_above(counts.highest_scales, counts.blocks, largest_scale_share(view));
    found.add(Severity::suspicious, is_clamped ? counts.highest_scales : 0,
              blocks(counts.highest_scales) + " have the largest scale, as a clamp leaves it");
    found.add(Severity::suspicious, counts.pads,
              counted(counts.pads, "byte") + " of the padding of the scales are not 0");
}

void judge_elements(const View& view, const Counts& counts, Suspicions& found) {
    found.add(Severity::impossible, counts.wrong_codes,
              counted(counts.wrong_codes, "byte") + " of elements are no code of " +
                  std::to_string(view.element.code_bits()) + " bits");
    found.add(Severity::suspicious, counts.nan_elements,
              counted(counts.nan_elements, "element") + " are NaN or infinite");
    found.add(Severity::suspicious, counts.dead_blocks,
              share_of(counts.dead_blocks, counts.blocks, "block") +
                  " have zeros alone under a scale that is not that of a block of zeros");
    const bool is_dead = counts.blocks != 0 && counts.zero_blocks == counts.blocks;
    found.add(Severity::suspicious, is_dead ? 1 : 0, "every element is zero");
    const bool is_saturated =
        is_above(counts.saturated, counts.elements, largest_code_share(view.element));
    found.add(Severity::suspicious, is_saturated ? 1 : 0,
              share_of(counts.saturated, counts.elements, "element") +
                  " have the largest magnitude: the scales are too small");
}

void judge_number(const View& view, const Counts& counts, Suspicions& found) {
    if (view.use == GlobalUse::none) return;
    const double number = view.global_value;
    if (!std::isfinite(number) || number <= 0) {
        found.add(Severity::impossible, 1, "its global scale is " + four_digits(number));
        return;
    }
    const double amax = view.use == GlobalUse::times ? counts.amax * number : counts.amax / number;
    const double largest = std::numeric_limits<float>::max();
    // An NVFP4 number that is inverted makes 2688^2 / A of an amax A (2688 = 6 * 448): beyond this
    // for every A below 110, and no tensor that was ever stored in binary16 has such an amax.
    const double f16_largest = value_of(formats::f16, Code{formats::f16.code_max_finite()});
    if (amax > largest)
        found.add(Severity::impossible, 1,
                  "its global scale " + four_digits(number) + " makes an amax of " +
                      four_digits(amax) + ", which no binary32 tensor has");
    else if (amax > f16_largest)
        found.add(Severity::suspicious, 1,
                  "its global scale " + four_digits(number) + " makes an amax of " +
                      four_digits(amax) + ", beyond binary16: is it inverted?");
}

std::string_view words_of(CodeOrder order) {
    switch (order) {
        case CodeOrder::bytes:
            return "one element a byte";
        case CodeOrder::low_first:
            return "two elements a byte, the first in the low half";
        case CodeOrder::high_first:
            return "two elements a byte, the first in the high half";
        case CodeOrder::halves:
            return "elements j and j + half a block in one byte";
        case CodeOrder::six:
            return "four elements in three bytes";
    }
    return "";
}

std::string_view words_of(ScalePlace place) {
    switch (place) {
        case ScalePlace::linear:
            return "scales row by row";
        case ScalePlace::transposed:
            return "scales column by column";
        case ScalePlace::te_padded:
            return "scales row by row, padded to 128 x 4";
        case ScalePlace::tiles_8x4:
            return "scales swizzled by 8 x 4";
        case ScalePlace::tiles_32x8:
            return "scales swizzled by 32 x 8";
        default:
            return "scales swizzled by 128 x 4";
    }
}

std::vector<std::string> layout_words(const View& view) {
    std::vector<std::string> words{std::string(words_of(view.order))};
    words.emplace_back(view.group.elements != 0 ? "scales beside the elements of each block"
                                                : words_of(view.place));
    if (view.use != GlobalUse::none)
        words.push_back(
            "global scale " + four_digits(view.global_value) +
            (view.use == GlobalUse::times ? ", to be multiplied by" : ", to be divided by"));
    if (view.element.code_bits() == 6 && view.convention != "mxcheck")
        words.emplace_back("the file does not say whether E3M2 or E2M3: --elements does");
    if (view.element.negatives != Negatives::sign_bit && view.convention != "mxcheck")
        words.emplace_back("unverified: no project's document of MXINT8 in files was found");
    if (!view.dialect.empty()) words.push_back("made by dialect " + view.dialect);
    return words;
}

std::string source_of(const std::string& convention) {
    for (const Convention& row : conventions())
        if (row.name == convention) return std::string(row.source);
    return "";
}

std::string format_name(const View& view) {
    if (view.format != nullptr) return std::string(view.format->name);
    return std::string(view.element.name) + " under " + std::string(view.scale.name) +
           ", blocks of " + size_text(view.block_rows, view.block_columns);
}

Expected<AuditedTensor> audit_view(const View& view) {
    AuditedTensor tensor{
        view.name, format_name(view), view.convention,    source_of(view.convention),
        view.rows, view.columns,      layout_words(view), {},
        {}};
    auto counts = Counter(view).run();
    if (!counts) return counts.error();
    tensor.counts = counts.value();
    Suspicions found;
    judge_number(view, tensor.counts, found);
    judge_scales(view, tensor.counts, found);
    judge_elements(view, tensor.counts, found);
    std::stable_sort(found.list.begin(), found.list.end(),
                     [](const auto& a, const auto& b) { return a.severity > b.severity; });
    tensor.suspicions = std::move(found.list);
    return tensor;
}

}  // namespace

bool Audit::has_impossible() const {
    for (const AuditedTensor& tensor : tensors)
        for (const Suspicion& suspicion : tensor.suspicions)
            if (suspicion.severity == Severity::impossible) return true;
    return false;
}

Expected<Audit> audit(const std::string& path, const std::string& elements_format) {
    const auto file = open_quantized(path, elements_format);
    if (!file) return file.error();
    return audit_of(file.value());
}

Expected<Audit> audit_of(const Recognised& file) {
    Audit result;
    for (const View& view : file.views) {
        auto tensor = audit_view(view);
        if (!tensor) return tensor.error();
        result.tensors.push_back(std::move(tensor).value());
    }
    for (const Misfit& misfit : file.misfits)
        result.tensors.push_back({misfit.name,
                                  "",
                                  misfit.convention,
                                  source_of(misfit.convention),
                                  0,
                                  0,
                                  {},
                                  {},
                                  {{Severity::impossible, misfit.what}}});
    std::map<std::string, std::uint64_t> types;
    for (const data::ListedTensor& tensor : file.others)
        ++types[tensor.block_type.empty() ? tensor.type : tensor.block_type];
    result.others.assign(types.begin(), types.end());
    return result;
}

}  // namespace mx::files
