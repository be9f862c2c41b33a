// See inputs.hpp.
#include "conformance/data/inputs.hpp"

#include <cstring>

#include "conformance/case/names.hpp"
#include "conformance/case/rules.hpp"
#include "conformance/data/tensor_file.hpp"

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
    tensor.width = find_element_format(type)->code_bytes();
    tensor.bytes.resize(tensor.count() * static_cast<std::size_t>(tensor.width));
    return tensor;
}

BlockPlace place_of(const Case& c, const BlockGrid& grid, std::int64_t block) {
    const auto bounded = [](std::int64_t rest) {
        return static_cast<int>(rest < block_size ? rest : block_size);
    };
    if (!has_blocks(c)) {
        const std::int64_t first = block * block_size;
        return {static_cast<std::size_t>(first), 1, bounded(element_count(c) - first)};
    }
    const std::int64_t block_row = block / grid.block_columns;
    const std::int64_t block_column = block % grid.block_columns;
    if (c.axis == "col") {
        const std::int64_t row = block_row * block_size;
        return {static_cast<std::size_t>(row * c.columns + block_column),
                static_cast<std::size_t>(c.columns), bounded(c.rows - row)};
    }
    const std::int64_t column = block_column * block_size;
    return {static_cast<std::size_t>(block_row * c.columns + column), 1,
            bounded(c.columns - column)};
}

LanePlace lane_of(const Case& c, const BlockGrid& grid, std::size_t element) {
    const std::int64_t at = static_cast<std::int64_t>(element);
    if (!has_blocks(c)) return {at / block_size, static_cast<int>(at % block_size)};
    const std::int64_t row = at / c.columns, column = at % c.columns;
    if (c.axis == "col")
        return {row / block_size * grid.block_columns + column, static_cast<int>(row % block_size)};
    return {row * grid.block_columns + column / block_size, static_cast<int>(column % block_size)};
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
        BlockData data;
        if (grid_.count() == 0) return data;
        const BlockPlace place = place_of(case_, grid_, static_cast<std::int64_t>(index % size()));
        for (int lane = 0; lane < place.count; ++lane)
            data.lanes[static_cast<std::size_t>(lane)] =
                tensor_.at(place.first + static_cast<std::size_t>(lane) * place.step);
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
    if (c.operation == "dequantize")
        return bad("data=file: gives values to quantize or convert; dequantize needs codes");
    if (tensor.value().type != c.type)
        return bad(path + ": holds " + tensor.value().type + ", but the case says input=" + c.type);
    if (c.operation == "encode_scale")
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
    std::string key = c.operation + " " + c.format + " " + c.dialect + " " + c.type + " " +
                      c.rounding + " " + c.overflow + " " + c.data + " " + std::to_string(c.seed);
    if (is_file(c)) key += " " + c.axis;
    if (const auto found = open_.find(key); found != open_.end()) return found->second;
    if (is_file(c)) {
        auto source = open_file(c);
        if (source) open_.emplace(key, source.value());
        return source;
    }
    const Family* family = find_family(c.data);
    if (family == nullptr) {
        const Status unknown = check_name("data family", c.data, names_of(families()));
        return bad(unknown.error().message + " (or data=file:PATH)");
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

std::vector<CodeTensor> make_inputs(const Case& c, const BlockSource& source) {
    const bool is_codes = c.operation == "dequantize";
    const std::string_view type =
        is_codes ? find_block_format(c.format)->element().name : std::string_view(c.type);
    std::vector<CodeTensor> tensors{make_tensor(type, c.rows, c.columns)};
    const BlockGrid grid = block_grid(c);
    if (is_codes) tensors.push_back(make_tensor("e8m0", grid.block_rows, grid.block_columns));
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(c, grid, block);
        const BlockData data = source.block(c.index + static_cast<std::uint64_t>(block));
        for (int lane = 0; lane < place.count; ++lane)
            tensors[0].set(place.first + static_cast<std::size_t>(lane) * place.step,
                           data.lanes[static_cast<std::size_t>(lane)]);
        if (is_codes) tensors[1].set(static_cast<std::size_t>(block), data.scale);
    }
    return tensors;
}

}  // namespace mx
