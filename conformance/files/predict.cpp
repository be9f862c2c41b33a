// See predict.hpp.
#include "conformance/files/predict.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "conformance/data/tensor_file.hpp"
#include "conformance/files/compare.hpp"
#include "reference/base/hex.hpp"
#include "reference/base/text.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::files {
namespace {

constexpr std::int64_t blocks_max = 4096;
constexpr std::int64_t lanes_max = 1 << 18;        // of all blocks that are asked
constexpr std::int64_t block_lanes_max = 1 << 24;  // of one, which may be the tensor

using Lanes = std::vector<std::uint32_t>;

// A tensor of values as rows and columns, read in pieces.
class ValueReader {
public:
    ValueReader(const data::ListedTensor& tensor, std::int64_t columns)
        : tensor_(tensor), type_(*find_element_format(tensor.type)), columns_(columns) {}

    const ElementFormat& type() const { return type_; }

    Status read(const Area& area, Lanes& lanes) {
        const auto width = static_cast<std::size_t>(type_.code_bytes());
        bytes_.resize(static_cast<std::size_t>(area.columns) * width);
        lanes.clear();
        for (std::int64_t row = 0; row < area.rows; ++row) {
            const auto at = static_cast<std::uint64_t>((area.row + row) * columns_ + area.column);
            if (const Status s = data::read_bytes(tensor_, at * width, bytes_); !s) return s;
            for (std::int64_t i = 0; i < area.columns; ++i) {
                std::uint32_t code = 0;
                std::memcpy(&code, bytes_.data() + static_cast<std::size_t>(i) * width, width);
                lanes.push_back(code);
            }
        }
        return success();
    }

private:
    data::ListedTensor tensor_;
    ElementFormat type_;
    std::int64_t columns_;
    std::vector<std::byte> bytes_;
};

std::uint32_t magnitude_max(const ElementFormat& type, const Lanes& lanes, std::uint32_t so_far) {
    for (const std::uint32_t lane : lanes) {
        const Code magnitude{lane & type.code_magnitude_mask()};
        if (!type.is_nan(magnitude)) so_far = std::max(so_far, magnitude.bits);
    }
    return so_far;
}

// The magnitude of the largest value of the whole tensor, NaN left out.
Expected<std::uint32_t> amax_of(ValueReader& values, Shape size) {
    Lanes lanes;
    std::uint32_t amax = 0;
    const std::int64_t piece =
        std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(size.columns, 1));
    for (std::int64_t row = 0; row < size.rows; row += piece) {
        const Area area{row, std::min(piece, size.rows - row), 0, size.columns};
        if (const Status s = values.read(area, lanes); !s) return s.error();
        amax = magnitude_max(values.type(), lanes, amax);
    }
    return amax;
}

// A block as the file has it, with the values that it was made of.
struct Block {
    Area area;
    Lanes lanes;
    std::vector<std::uint8_t> codes;
    std::uint32_t scale = 0;
};

// The number of the tensor as the file has it.
Expected<float> stored_number(const View& view) {
    std::array<std::byte, 4> bytes{};
    if (const Status s = data::read_bytes(*view.global, 0, bytes); !s) return s.error();
    return std::bit_cast<float>(static_cast<std::uint32_t>(data::little_endian(bytes)));
}

// The numbers of the tensor under a row: those that follow from the values where the file has the
// same, else those that follow from the file's.
struct Numbers {
    fast::TensorNumbers numbers;
    bool is_the_files = true;
};
Numbers numbers_under(const Quantizer& row, const View& view, const fast::Unpacked& amax,
                      float stored) {
    const BlockFormat& format = *view.format;
    Numbers result{fast::tensor_numbers(row, format, amax), true};
    if (!view.global || row.tensor_scale == TensorScale::none) return result;
    const float kept = std::bit_cast<float>(fast::f32_code(fast::kept_number(row, result.numbers)));
    const float scale = std::bit_cast<float>(fast::f32_code(result.numbers.scale));
    for (const float number : {kept, scale, 1 / scale})
        if (number == stored) return result;
    result.is_the_files = false;
    const bool encodes = row.tensor_scale == TensorScale::encode;
    const bool divides = view.use == GlobalUse::divided;
    const float own = encodes == divides ? stored : 1 / stored;
    result.numbers.scale = fast::unpack(formats::f32, Code{std::bit_cast<std::uint32_t>(own)});
    return result;
}

// Can the row have made the tensor without anything that is in no file?
bool can_have_made(const Quantizer& row, const View& view, std::string_view type) {
    return row.is_known() && row.quantizes(*view.format) && row.reads(type) &&
           row.transform == LaneTransform::none && row.element_rounding != Rounding::stochastic &&
           row.tensor_scale != TensorScale::history;
}

// Where a block of the grid lies.
Area area_of(const View& view, std::int64_t index) {
    const std::int64_t grid_row = index / view.grid_columns(), column = index % view.grid_columns();
    const std::int64_t in_slice =
        view.block_rows == 1 ? 1 : (view.slice_rows + view.block_rows - 1) / view.block_rows;
    Area area;
    std::int64_t end = grid_row + 1;
    if (view.block_rows == 1) {
        area.row = grid_row;
    } else {
        const std::int64_t slice = grid_row / in_slice;
        area.row = slice * view.slice_rows + grid_row % in_slice * view.block_rows;
        end = std::min(area.row + view.block_rows, (slice + 1) * view.slice_rows);
    }
    area.rows = std::min(end, view.rows) - area.row;
    area.column = column * view.block_columns;
    area.columns = std::min(view.block_columns, view.columns - area.column);
    return area;
}

Expected<Block> read_block(TileReader& codes, Area area) {
    Block block;
    block.area = area;
    const std::int64_t before = area.column % column_step(codes.view());
    const bool is_wide = codes.view().block_columns > 128;
    const std::int64_t begin = is_wide ? area.column : area.column - before;
    const std::int64_t skipped = area.column - begin;
    Tile tile;
    const Area read{area.row, area.rows, begin, skipped + area.columns};
    if (const Status s = codes.read(read, tile); !s) return s.error();
    block.scale = tile.scale_of(0, skipped);
    for (std::int64_t row = 0; row < area.rows; ++row)
        for (std::int64_t i = 0; i < area.columns; ++i)
            block.codes.push_back(
                tile.codes[static_cast<std::size_t>(row * read.columns + skipped + i)]);
    return block;
}

bool has_same_scale(const ElementFormat& format, std::uint32_t expected, std::uint32_t stored) {
    return expected == stored || (format.is_nan({expected}) && format.is_nan({stored}));
}

// A block quantized under a given amax, which need not be its own.
Code quantize_under(const fast::BlockQuestion& question, const fast::Unpacked& amax,
                    const Lanes& lanes, std::vector<std::uint8_t>& elements) {
    const Quantizer& row = question.quantizer;
    const auto lane_at = [&](std::size_t i) {
        return fast::read_input(row.subnormals, question.input, Code{lanes[i]});
    };
    elements.resize(lanes.size());
    if (row.has_e8m0_scales()) {
        const Code scale = fast::encode_scale(row, question.format, amax);
        for (std::size_t i = 0; i < lanes.size(); ++i)
            elements[i] = static_cast<std::uint8_t>(
                fast::quantize_element(row, question.format, scale, lane_at(i)).bits);
        return scale;
    }
    const fast::BlockScale scale = fast::block_scale(question, amax);
    for (std::size_t i = 0; i < lanes.size(); ++i)
        elements[i] =
            static_cast<std::uint8_t>(fast::quantize_lane(question, scale, lane_at(i)).bits);
    return scale.stored;
}

std::string witness_text(const Block& block, std::uint32_t scale,
                         const std::vector<std::uint8_t>& elements, const View& view) {
    const std::string where = "row " + std::to_string(block.area.row) + ", column ";
    const int digits = view.scale.code_bits() / 4;
    if (!has_same_scale(view.scale, scale, block.scale))
        return where + std::to_string(block.area.column) + ": scale 0x" + hex(block.scale, digits) +
               ", predicted 0x" + hex(scale, digits);
    for (std::size_t i = 0; i < elements.size(); ++i)
        if (elements[i] != block.codes[i])
            return where +
                   std::to_string(block.area.column +
                                  static_cast<std::int64_t>(i) % block.area.columns) +
                   ": element 0x" + hex(block.codes[i]) + " of input 0x" + hex(block.lanes[i]) +
                   ", predicted 0x" + hex(elements[i]);
    return "";
}

class Predictor {
public:
    Predictor(const View& view, const data::ListedTensor& values)
        : view_(view), codes_(view), values_(values, view.columns) {}

    Expected<Predictions> run() {
        if (const Status s = read_all(); !s) return s.error();
        Predictions found;
        found.blocks = blocks_.size();
        const Quantizer* best = nullptr;
        for (const Quantizer& row : quantizers) {
            if (!can_have_made(row, view_, values_.type().name)) continue;
            found.rows.push_back(hold(row));
        }
        if (found.rows.empty())
            return bad_input("no dialect quantizes " + std::string(values_.type().name) + " to " +
                             std::string(view_.format->name));
        std::stable_sort(
            found.rows.begin(), found.rows.end(), [](const Prediction& a, const Prediction& b) {
                return a.predicted != b.predicted ? a.predicted > b.predicted : a.scales > b.scales;
            });
        best = find_quantizer(found.rows.front().dialect);
        if (found.rows.front().predicted == found.blocks || found.blocks == 0) return found;
        if (const Status s = try_variants(*best, found); !s) return s.error();
        return found;
    }

private:
    Status read_all() {
        const std::int64_t total = view_.rows == 0 ? 0 : view_.grid_rows() * view_.grid_columns();
        const std::int64_t lanes = view_.block_rows * view_.block_columns;
        if (lanes > block_lanes_max)
            return bad_input("one block of " + std::to_string(lanes) +
                             " elements is more than is read at once");
        const std::int64_t wanted = std::clamp<std::int64_t>(lanes_max / lanes, 1, blocks_max);
        const std::int64_t count = std::min(total, wanted);
        for (std::int64_t i = 0; i < count; ++i) {
            auto block = read_block(codes_, area_of(view_, i * total / count));
            if (!block) return block.error();
            const Status s = values_.read(block.value().area, block.value().lanes);
            if (!s) return s.error();
            blocks_.push_back(std::move(block).value());
        }
        if (!view_.global && view_.block_rows != view_.rows) return success();
        if (const Status s = find_amax(); !s) return s;
        if (!view_.global) return success();
        const auto stored = stored_number(view_);
        if (!stored) return stored.error();
        stored_ = stored.value();
        return success();
    }

    Status find_amax() {
        const auto amax = amax_of(values_, {view_.rows, view_.columns});
        if (!amax) return amax.error();
        amax_ = fast::unpack(values_.type(), Code{amax.value()});
        return success();
    }

    fast::BlockQuestion question_of(const Quantizer& row, const Numbers& numbers) const {
        return {row, *view_.format, values_.type(), numbers.numbers};
    }

    Prediction hold(const Quantizer& row) const {
        const Numbers numbers = numbers_under(row, view_, amax_, stored_);
        const fast::BlockQuestion question = question_of(row, numbers);
        Prediction result{std::string(row.name), 0, 0, numbers.is_the_files, ""};
        std::vector<std::uint8_t> elements;
        for (const Block& block : blocks_) {
            elements.resize(block.lanes.size());
            const Code scale =
                fast::quantize(question, block.lanes.data(), static_cast<int>(block.lanes.size()),
                               elements.data());
            const bool is_scale = has_same_scale(view_.scale, scale.bits, block.scale);
            if (is_scale) ++result.scales;
            if (is_scale && elements == block.codes)
                ++result.predicted;
            else if (result.witness.empty())
                result.witness = witness_text(block, scale.bits, elements, view_);
        }
        return result;
    }

    Status try_variants(const Quantizer& nearest, Predictions& found) {
        const std::uint64_t least = found.rows.front().predicted;
        // The rounding may be that of any row whose scales are right.
        Quantizer scales_of = nearest;
        std::uint64_t most = 0;
        for (const Prediction& row : found.rows)
            if (row.scales > most) {
                most = row.scales;
                scales_of = *find_quantizer(row.dialect);
            }
        for (const auto& [name, rounding] : roundings) {
            if (rounding == Rounding::stochastic || rounding == scales_of.element_rounding)
                continue;
            Quantizer other = scales_of;
            other.element_rounding = rounding;
            keep(found, least, hold(other).predicted,
                 std::string(scales_of.name) + " with elements rounded " + spoken(name));
        }
        for (const auto& [text, rows, columns] : reductions())
            if (const Status s = try_reduction({rows, columns}, text, found); !s) return s;
        std::stable_sort(
            found.variants.begin(), found.variants.end(),
            [](const Variant& a, const Variant& b) { return a.predicted > b.predicted; });
        return success();
    }

    static std::string spoken(std::string_view name) {
        std::string text(name);
        std::replace(text.begin(), text.end(), '_', ' ');
        return text;
    }

    static void keep(Predictions& found, std::uint64_t least, std::uint64_t predicted,
                     std::string text) {
        if (predicted > least) found.variants.push_back({std::move(text), predicted});
    }

    struct Reduction {
        std::string text;
        std::int64_t rows, columns;
    };
    std::vector<Reduction> reductions() const {
        const std::int64_t rows = view_.block_rows, columns = view_.block_columns;
        if (rows != 1 || columns > 128) return {};
        const auto text = [](const std::string& what) { return " whose amax is that of " + what; };
        return {{text("2 blocks of a row"), 1, 2 * columns},
                {text("4 blocks of a row"), 1, 4 * columns},
                {text("a tile of " + size_text_of(columns)), columns, columns},
                {text("the row"), 1, view_.columns},
                {text("the whole tensor"), view_.rows, view_.columns}};
    }
    static std::string size_text_of(std::int64_t side) {
        return std::to_string(side) + " x " + std::to_string(side);
    }

    // Every row of the table may be the one, with the amax of a larger set.
    Status try_reduction(Shape set, const std::string& text, Predictions& found) {
        const bool is_tensor = set.rows == view_.rows && set.columns == view_.columns;
        std::vector<fast::Unpacked> amaxes;
        Lanes lanes;
        if (is_tensor)
            if (const Status s = find_amax(); !s) return s;
        for (const Block& block : blocks_) {
            if (is_tensor) {
                amaxes.push_back(amax_);
                continue;
            }
            Area area{block.area.row / set.rows * set.rows, set.rows,
                      block.area.column / set.columns * set.columns, set.columns};
            area.rows = std::min(area.rows, view_.rows - area.row);
            area.columns = std::min(area.columns, view_.columns - area.column);
            if (const Status s = values_.read(area, lanes); !s) return s;
            const Code amax{magnitude_max(values_.type(), lanes, 0)};
            amaxes.push_back(fast::unpack(values_.type(), amax));
        }
        std::vector<std::uint8_t> elements;
        Variant best;
        for (const Prediction& prediction : found.rows) {
            const Quantizer& row = *find_quantizer(prediction.dialect);
            const auto question = question_of(row, numbers_under(row, view_, amax_, stored_));
            std::uint64_t predicted = 0;
            for (std::size_t i = 0; i < blocks_.size(); ++i) {
                const Code scale = quantize_under(question, amaxes[i], blocks_[i].lanes, elements);
                if (has_same_scale(view_.scale, scale.bits, blocks_[i].scale) &&
                    elements == blocks_[i].codes)
                    ++predicted;
            }
            if (predicted > best.predicted) best = {prediction.dialect + text, predicted};
        }
        keep(found, found.rows.front().predicted, best.predicted, best.text);
        return success();
    }

    View view_;
    TileReader codes_;
    ValueReader values_;
    std::vector<Block> blocks_;
    fast::Unpacked amax_{};
    float stored_ = 0;
};

}  // namespace

std::vector<std::string> Predictions::names() const {
    std::vector<std::string> all;
    for (const Prediction& row : rows)
        if (blocks != 0 && row.predicted == blocks) all.push_back(row.dialect);
    return all;
}

namespace {

Status check_values(const View& view, const data::ListedTensor& values) {
    if (const Status known = data::check_value_type(values.type); !known) return known.error();
    std::int64_t rows = 1, columns = values.shape.empty() ? 1 : values.shape.back();
    for (std::size_t i = 0; i + 1 < values.shape.size(); ++i) rows *= values.shape[i];
    if (rows == view.rows && columns == view.columns) return success();
    return bad_input("the original has shape " + data::shape_text(values.shape) + ", but " +
                     data::in_quotes(view.name) + " has " + std::to_string(view.rows) +
                     " rows of " + std::to_string(view.columns));
}

}  // namespace

Expected<FileBlock> block_at(const View& view, std::uint64_t index,
                             const data::ListedTensor* values) {
    const std::int64_t count = view.grid_rows() * view.grid_columns();
    if (index >= static_cast<std::uint64_t>(count))
        return bad_input("block " + std::to_string(index) +
                         " does not exist: " + data::in_quotes(view.name) + " has " +
                         counted(static_cast<std::uint64_t>(count), "block") + ", from 0 on");
    TileReader codes(view);
    auto block = read_block(codes, area_of(view, static_cast<std::int64_t>(index)));
    if (!block) return block.error();
    FileBlock result{
        block.value().area, block.value().scale, std::move(block.value().codes), {}, 0};
    if (values == nullptr) return result;
    if (const Status fits = check_values(view, *values); !fits) return fits.error();
    ValueReader reader(*values, view.columns);
    if (const Status s = reader.read(result.area, result.values); !s) return s.error();
    const auto amax = amax_of(reader, {view.rows, view.columns});
    if (!amax) return amax.error();
    result.tensor_amax = fast::f32_code(fast::unpack(reader.type(), Code{amax.value()}));
    return result;
}

Expected<std::string> held_against(const View& view, const FileBlock& block,
                                   const std::string& type, const Quantizer& dialect) {
    const auto stored = view.global ? stored_number(view) : Expected<float>(0.0f);
    if (!stored) return stored.error();
    const fast::Unpacked amax = fast::unpack(formats::f32, Code{block.tensor_amax});
    const Numbers numbers = numbers_under(dialect, view, amax, stored.value());
    const fast::BlockQuestion question{dialect, *view.format, *find_element_format(type),
                                       numbers.numbers};
    std::vector<std::uint8_t> elements(block.codes.size());
    const Code scale = fast::quantize(question, block.values.data(),
                                      static_cast<int>(block.values.size()), elements.data());
    std::string text;
    const int digits = view.scale.code_bits() / 4;
    if (!has_same_scale(view.scale, scale.bits, block.scale))
        text = "scale 0x" + hex(block.scale, digits) + ", not 0x" + hex(scale.bits, digits);
    std::size_t different = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i] == block.codes[i] || different++ != 0) continue;
        text += (text.empty() ? "element " : "; element ") + std::to_string(i) + " 0x" +
                hex(block.codes[i]) + ", not 0x" + hex(elements[i]);
    }
    if (different > 1) text += ", and " + counted(different - 1, "more element");
    return text.empty() ? "the file has the same scale and elements" : "the file has " + text;
}

Expected<Predictions> predict(const View& view, const data::ListedTensor& values) {
    if (const Status fits = check_values(view, values); !fits) return fits.error();
    if (view.format == nullptr)
        return bad_input("no dialect is known for blocks of " + std::to_string(view.block_rows) +
                         " x " + std::to_string(view.block_columns) + " " +
                         std::string(view.element.name) + " under a scale of " +
                         std::string(view.scale.name));
    return Predictor(view, values).run();
}

std::string sentence_of(const Predictions& found) {
    const std::string of = counted(found.blocks, "block");
    if (found.blocks == 0) return "there is no block to tell by";
    if (const auto names = found.names(); !names.empty()) {
        const Prediction& first = found.rows.front();
        return joined(names, " = ") + ": all of " + of +
               (first.has_number ? "" : ", under the file's own global scale");
    }
    const Prediction& nearest = found.rows.front();
    std::string text = "no dialect; nearest is " + nearest.dialect + ", which predicts " +
                       grouped(nearest.predicted) + " of " + of + " (" + grouped(nearest.scales) +
                       " scales)";
    if (!found.variants.empty())
        text += "; " + found.variants.front().text + " predicts " +
                grouped(found.variants.front().predicted);
    else
        text += "; " + nearest.witness;
    return text;
}

Expected<data::ListedTensor> find_values(const std::string& path, const std::string& name) {
    auto listing = data::list_tensors(path);
    if (!listing) return listing.error();
    std::vector<data::ListedTensor>& tensors = listing.value().tensors;
    if (tensors.size() == 1) return std::move(tensors.front());
    for (const std::string& wanted :
         {name, name + ".weight", std::string("x"), std::string("values")})
        for (data::ListedTensor& tensor : tensors)
            if (tensor.name == wanted) return std::move(tensor);
    return bad_input(path + ": has no tensor " + data::in_quotes(name) + " among its " +
                     std::to_string(tensors.size()));
}

}  // namespace mx::files
