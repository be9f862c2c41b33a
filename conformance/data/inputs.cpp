// See inputs.hpp.
#include "conformance/data/inputs.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/case/names.hpp"
#include "conformance/case/rules.hpp"
#include "conformance/data/bits_source.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "conformance/data/quantized_file.hpp"
#include "conformance/data/random_words.hpp"
#include "conformance/data/tensor_file.hpp"
#include "device/host/operation.hpp"

namespace mx {

std::uint32_t CodeTensor::at(std::size_t element) const {
    std::uint32_t code = 0;
    const std::size_t size = static_cast<std::size_t>(width);
    std::memcpy(&code, bytes.data() + element * size, size);
    return code;
}

void CodeTensor::set(std::size_t element, std::uint32_t code) {
    const std::size_t size = static_cast<std::size_t>(width);
    std::memcpy(bytes.data() + element * size, &code, size);
}

CodeTensor make_tensor(std::string_view type, std::int64_t rows, std::int64_t columns) {
    CodeTensor tensor;
    tensor.type = type;
    tensor.rows = rows;
    tensor.columns = columns;
    tensor.width = static_cast<int>(element_width(type));
    tensor.bytes.resize(tensor.count() * static_cast<std::size_t>(tensor.width));
    return tensor;
}

namespace {

// The rows and columns of a tensor that one block takes, before the tensor's edge cuts it.
struct Extent {
    std::int64_t rows, columns;
};
Extent block_extent(const Case& c) {
    return {c.axis == "row" ? 1 : c.block, c.axis == "col" ? 1 : c.block};
}

// Block number `line` of a tile of axis both: its row of that number, or in every other tile, as on
// a chessboard, its column. A tile at the tensor's edge may lack it.
BlockPlace place_in_tile(const Case& c, const BlockGrid& grid, std::int64_t block) {
    const std::int64_t line = block % c.block;
    const std::int64_t tile_row = block / grid.block_columns;
    const std::int64_t tile_column = block % grid.block_columns / c.block;
    const std::int64_t row = tile_row * c.block, column = tile_column * c.block;
    const std::int64_t height = std::min(c.block, c.rows - row);
    const std::int64_t width = std::min(c.block, c.columns - column);
    const std::int64_t first = row * c.columns + column;
    const std::size_t step = static_cast<std::size_t>(c.columns);
    if ((tile_row + tile_column) % 2 == 0)
        return {static_cast<std::size_t>(first + line * c.columns), static_cast<std::size_t>(width),
                step, line < height ? static_cast<int>(width) : 0};
    return {static_cast<std::size_t>(first + line), 1, step,
            line < width ? static_cast<int>(height) : 0};
}

}  // namespace

BlockPlace place_of(const Case& c, const BlockGrid& grid, std::int64_t block) {
    if (!has_blocks(c)) {
        const std::int64_t first = block * block_size;
        const std::int64_t count = std::min(block_size, element_count(c) - first);
        return {static_cast<std::size_t>(first), static_cast<std::size_t>(block_size), 0,
                static_cast<int>(count)};
    }
    if (c.axis == "both") return place_in_tile(c, grid, block);
    const Extent extent = block_extent(c);
    const std::int64_t row = block / grid.block_columns * extent.rows;
    const std::int64_t column = block % grid.block_columns * extent.columns;
    const std::int64_t height = std::min(extent.rows, c.rows - row);
    const std::int64_t width = std::min(extent.columns, c.columns - column);
    return {static_cast<std::size_t>(row * c.columns + column), static_cast<std::size_t>(width),
            static_cast<std::size_t>(c.columns), static_cast<int>(height * width)};
}

LanePlace lane_of(const Case& c, const BlockGrid& grid, std::size_t element) {
    MX_ASSERT(c.axis != "both");
    const std::int64_t at = static_cast<std::int64_t>(element);
    if (!has_blocks(c)) return {at / block_size, static_cast<int>(at % block_size)};
    const Extent extent = block_extent(c);
    const std::int64_t row = at / c.columns, column = at % c.columns;
    const std::int64_t block_column = column / extent.columns;
    const std::int64_t width = std::min(extent.columns, c.columns - block_column * extent.columns);
    return {row / extent.rows * grid.block_columns + block_column,
            static_cast<int>(row % extent.rows * width + column % extent.columns)};
}

namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// A tensor from a file, cut into blocks along the case's axis. Lanes past a ragged end are zero.
class FileSource : public BlockSource {
public:
    FileSource(CodeTensor tensor, const Case& like) : tensor_(std::move(tensor)), case_(like) {
        case_.rows = tensor_.rows;
        case_.columns = tensor_.columns;
        grid_ = block_grid(case_);
    }
    std::uint64_t size() const override { return static_cast<std::uint64_t>(grid_.count()); }
    BlockData block(std::uint64_t index) const override {
        BlockData data = block_of_zeros(case_);
        if (grid_.count() == 0) return data;
        const BlockPlace place = place_of(case_, grid_, static_cast<std::int64_t>(index % size()));
        for (int lane = 0; lane < place.count; ++lane)
            data.lanes[static_cast<std::size_t>(lane)] = tensor_.at(place.element(lane));
        return data;
    }

private:
    CodeTensor tensor_;
    Case case_;
    BlockGrid grid_;
};

Expected<std::shared_ptr<const BlockSource>> open_file(const Case& c) {
    const std::string path = c.data.substr(file_prefix.size());
    auto tensor = read_input_tensor(path);
    if (!tensor) return tensor.error();
    const OperationKind kind = operation_of(c).kind;
    if (kind == OperationKind::dequantize)
        return bad("data=file: gives values to quantize or convert; dequantize needs codes");
    if (tensor.value().type != c.type)
        return bad(path + ": holds " + tensor.value().type + ", but the case says input=" + c.type);
    if (kind == OperationKind::encode_scale)
        for (std::size_t i = 0; i < tensor.value().count(); ++i)
            if (value_format_of(c).is_negative(Code{tensor.value().at(i)}))
                return bad(path + ": element " + std::to_string(i) +
                           " is negative, and encode_scale takes an amax, which is not");
    return std::shared_ptr<const BlockSource>(
        std::make_shared<FileSource>(std::move(tensor).value(), c));
}

}  // namespace

Expected<CodeTensor> read_input_tensor(const std::string& path) {
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    if (const Status values = check_unquantized(file.value()); !values)
        return bad(path + ": " + values.error().message);
    if (file.value().tensors.size() != 1)
        return bad(path + ": holds " + std::to_string(file.value().tensors.size()) +
                   " tensors; one is wanted");
    data::HostTensor& tensor = file.value().tensors.front();
    const Status known = check_name("input type", tensor.type, type_names());
    if (!known) return bad(path + ": " + known.error().message);
    std::int64_t count = 1;
    for (const std::int64_t length : tensor.shape) count *= length;
    CodeTensor result;
    result.type = tensor.type;
    result.width = find_element_format(tensor.type)->code_bytes();
    result.columns = tensor.shape.empty() ? 1 : tensor.shape.back();
    result.rows = result.columns == 0 ? 0 : count / result.columns;
    result.bytes = std::move(tensor.bytes);
    return result;
}

Expected<std::shared_ptr<const BlockSource>> Sources::open(const Case& c) {
    if (is_gemm(c)) {
        if (const Status known = check_gemm_data(c); !known) return known.error();
        return std::shared_ptr<const BlockSource>(list_source({BlockData{}}));
    }
    std::string key;
    for (const std::string& part :
         {c.operation, c.format, c.dialect, c.type, c.rounding, c.overflow, c.subnormals, c.data,
          std::to_string(c.seed), std::to_string(lanes_of(c))})
        key += part + " ";
    if (is_file(c)) key += c.axis;
    if (const auto found = open_.find(key); found != open_.end()) return found->second;
    if (is_file(c) || is_bits(c)) {
        auto source = is_file(c) ? open_file(c) : open_bits(c);
        if (source) open_.emplace(key, source.value());
        return source;
    }
    const Family* family = find_family(c.data);
    if (family == nullptr) {
        const Status unknown = check_name("data family", c.data, names_of(families()));
        return bad(unknown.error().message + " (or data=bits:HEX,HEX,... or data=file:PATH)");
    }
    const std::string padded = " " + std::string(family->operations) + " ";
    if (padded.find(" " + c.operation + " ") == std::string::npos)
        return bad("data family '" + c.data + "' has no data for " + c.operation + ", only for " +
                   std::string(family->operations));
    std::shared_ptr<const BlockSource> source = family->open(c);
    // Lists are kept: making them costs far more than holding them.
    open_.emplace(key, source);
    return source;
}

RandomBits random_bits_at(const Case& c, const StochasticForm& form, const CodeTensor& words,
                          std::size_t element) {
    const std::int64_t row = static_cast<std::int64_t>(element) / c.columns;
    const std::int64_t column = static_cast<std::int64_t>(element) % c.columns;
    const std::int64_t word = row * words.columns + column / form.values_per_word;
    return random_bits_of(form, words.at(static_cast<std::size_t>(word)), column);
}

std::vector<CodeTensor> make_inputs(const Case& c, const BlockSource& source) {
    if (is_gemm(c)) return make_gemm_inputs(c);
    const std::vector<Part> parts = inputs_of(c);
    std::vector<CodeTensor> tensors;
    for (const Part part : parts) {
        const PartShape shape = shape_of(c, part);
        tensors.push_back(make_tensor(shape.type, shape.rows, shape.columns));
    }
    const bool has_scales = parts.back() == Part::scales;
    const BlockGrid grid = block_grid(c);
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(c, grid, block);
        const BlockData data = source.block(c.index + static_cast<std::uint64_t>(block));
        for (int lane = 0; lane < place.count; ++lane)
            tensors[0].set(place.element(lane), data.lanes[static_cast<std::size_t>(lane)]);
        if (has_scales) tensors[1].set(static_cast<std::size_t>(block), data.scale);
    }
    if (parts.back() == Part::random_bits) fill_random_words(c, tensors[0], tensors[1]);
    return tensors;
}

}  // namespace mx
