// See inputs.hpp.
#include "conformance/data/inputs.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/case/names.hpp"
#include "conformance/data/bits_source.hpp"
#include "conformance/data/captured_call.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "conformance/data/quantized_file.hpp"
#include "conformance/data/random_words.hpp"
#include "conformance/data/repeated_source.hpp"
#include "conformance/data/tensor_file.hpp"
#include "device/host/operation.hpp"
#include "reference/problem/problem.hpp"

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

CodeTensor make_tensor(const PartShape& shape) {
    CodeTensor tensor;
    tensor.type = shape.type.name;
    tensor.rows = shape.rows;
    tensor.columns = shape.columns;
    tensor.width = shape.type.code_bytes();
    tensor.bytes.resize(tensor.count() * static_cast<std::size_t>(tensor.width));
    return tensor;
}

namespace {

// A tensor from a file, cut into blocks as the case's. Lanes past a ragged end are zero.
class FileSource : public BlockSource {
public:
    FileSource(std::string path, CodeTensor tensor, Blocking like)
        : path_(std::move(path)), tensor_(std::move(tensor)), blocking_(like) {
        blocking_.rows = tensor_.rows;
        blocking_.columns = tensor_.columns;
        size_ = static_cast<std::uint64_t>(block_grid(blocking_).count());
    }
    std::uint64_t size() const override { return size_; }
    BlockData block(std::uint64_t index) const override {
        BlockData data = block_of_zeros(lanes_of(blocking_));
        if (size_ == 0) return data;
        const BlockPlace place = place_of(blocking_, static_cast<std::int64_t>(index % size_));
        for (int lane = 0; lane < place.count; ++lane)
            data.lanes[static_cast<std::size_t>(lane)] = tensor_.at(place.element(lane));
        return data;
    }
    // The tensor, or some of its blocks, as a failure names them: no block twice, each with the
    // rows and columns that it has in the file, or fewer, and side by side as there.
    Status holds(const Case& c) const override {
        const auto blocks = static_cast<std::uint64_t>(block_grid(c).count());
        bool is_there = c.index <= size_ && blocks <= size_ - c.index && lies_alike(c);
        const auto place = [](const Blocking& blocking, std::uint64_t block) {
            return place_of(blocking, static_cast<std::int64_t>(block));
        };
        for (std::uint64_t i = 0; is_there && i < blocks; ++i)
            is_there = fits(place(blocking_of(c), i), place(blocking_, c.index + i));
        if (is_there) return success();
        return bad_input(path_ + ": holds " + std::to_string(tensor_.count()) +
                         " values of shape " + shape_text(tensor_.rows, tensor_.columns) +
                         ", and the case asks for " + std::to_string(element_count(c)) +
                         " of shape " + shape_text(c.rows, c.columns) +
                         (c.index == 0 ? "" : " from block " + std::to_string(c.index) + " on"));
    }

private:
    // Lanes are read line by line, so that lines of a block of several are as long as in the file.
    static bool fits(const BlockPlace& asked, const BlockPlace& held) {
        if (static_cast<std::size_t>(asked.count) <= asked.width)
            return asked.count <= std::min(held.count, static_cast<int>(held.width));
        return asked.width == held.width && asked.count <= held.count;
    }

    // Do the blocks follow one another to the right and downwards as those of the file from the
    // first of them on?
    bool lies_alike(const Case& c) const {
        const BlockGrid asked = block_grid(c), held = block_grid(blocking_);
        // Of axis both two tiles may come alone, one as the tile before the other: single_tile.
        if (c.axis == BlockAxis::both || held.count() == 0) return true;
        if (!blocking_.has_blocks)
            return c.columns == tensor_.columns || (c.rows == 1 && asked.count() == 1);
        const auto first = static_cast<std::int64_t>(c.index) % held.block_columns;
        if (asked.block_rows == 1) return first + asked.block_columns <= held.block_columns;
        return first == 0 && asked.block_columns == held.block_columns;
    }

    static std::string shape_text(std::int64_t rows, std::int64_t columns) {
        return std::to_string(rows) + "x" + std::to_string(columns);
    }

    std::string path_;
    CodeTensor tensor_;
    Blocking blocking_;
    std::uint64_t size_ = 0;
};

Expected<std::shared_ptr<const BlockSource>> open_file(const Case& c) {
    const std::string path = c.data.substr(file_prefix.size());
    auto tensor = read_input_tensor(path);
    if (!tensor) return tensor.error();
    if (c.operation == OperationKind::dequantize)
        return bad_input("data=file: gives values to quantize or convert; dequantize needs codes");
    if (tensor.value().type != c.type.name)
        return bad_input(path + ": holds " + tensor.value().type +
                         ", but the case says input=" + type_name(c));
    if (c.operation == OperationKind::encode_scale)
        for (std::size_t i = 0; i < tensor.value().count(); ++i)
            if (c.type.is_negative(Code{tensor.value().at(i)}))
                return bad_input(path + ": element " + std::to_string(i) +
                                 " is negative, and encode_scale takes an amax, which is not");
    return std::shared_ptr<const BlockSource>(
        std::make_shared<FileSource>(path, std::move(tensor).value(), blocking_of(c)));
}

}  // namespace

Expected<CodeTensor> read_input_tensor(const std::string& path) {
    auto file = data::read_tensor_file(path);
    if (!file) return file.error();
    if (const Status values = check_unquantized(file.value()); !values)
        return bad_input(path + ": " + values.error().message);
    if (data::is_captured_call(file.value()))
        std::erase_if(file.value().tensors, [](const data::HostTensor& tensor) {
            return tensor.name != data::captured_values;
        });
    if (file.value().tensors.size() != 1)
        return bad_input(path + ": holds " + std::to_string(file.value().tensors.size()) +
                         " tensors; one is wanted, of " + data::names_text(file.value().tensors));
    data::HostTensor& tensor = file.value().tensors.front();
    const Status known = data::check_value_type(tensor.type);
    if (!known) return bad_input(path + ": " + known.error().message);
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
    auto source = source_of(c);
    if (source)
        if (const Status held = source.value()->holds(c); !held) return held.error();
    return source;
}

Sources::Key Sources::key_of(const Case& c) {
    const Family* family = find_family(c.data);
    if (family != nullptr && family->ignores_rules)
        return {.operation = c.operation, .type = c.type, .lanes = lanes_of(c), .data = c.data};
    const BlockAxis axis = is_file(c) ? c.axis : BlockAxis::row;
    return {c.operation, c.format, c.dialect,       c.type, lanes_of(c),
            axis,        c.rules,  c.tensor_number, c.seed, c.data};
}

Expected<std::shared_ptr<const BlockSource>> Sources::source_of(const Case& c) {
    if (is_gemm(c)) return open_gemm_data(c);
    const Key key = key_of(c);
    if (const auto found = std::ranges::find(open_, key, &Opened::key); found != open_.end())
        return found->source;
    const auto is_other_file = [&c](const Opened& opened) {
        return opened.key.data.starts_with(file_prefix) && opened.key.data != c.data;
    };
    if (is_file(c)) std::erase_if(open_, is_other_file);
    if (is_file(c) || is_bits(c)) {
        auto source = is_file(c) ? open_file(c) : open_bits(c);
        if (source) open_.push_back({key, source.value()});
        return source;
    }
    if (is_repeated(c)) {
        const auto repetition = repetition_of(c);
        if (!repetition) return repetition.error();
        Case once = c;
        once.data = repetition.value().family;
        auto family = source_of(once);
        if (!family) return family;
        open_.push_back({key, repeated_source(family.value(), repetition.value().blocks)});
        return open_.back().source;
    }
    const Family* family = find_family(c.data);
    if (family == nullptr) {
        const Status unknown = check_name("data family", c.data, names_of(families()));
        return bad_input(unknown.error().message +
                         " (or data=bits:HEX,HEX,..., data=file:PATH or "
                         "data=repeat:BLOCKS:FAMILY)");
    }
    const std::string padded = " " + std::string(family->operations) + " ";
    const std::string operation(name_of(c.operation));
    if (padded.find(" " + operation + " ") == std::string::npos)
        return bad_input("data family '" + c.data + "' has no data for " + operation +
                         ", only for " + std::string(family->operations));
    std::shared_ptr<const BlockSource> source = family->open(c);
    // Lists are kept: making them costs far more than holding them.
    open_.push_back({key, source});
    return source;
}

std::uint32_t random_word_at(const Problem& p, const StochasticForm& form, const CodeTensor& words,
                             std::size_t element) {
    const std::int64_t row = static_cast<std::int64_t>(element) / p.columns;
    const std::int64_t column = static_cast<std::int64_t>(element) % p.columns;
    const std::int64_t word = row * words.columns + column / form.values_per_word;
    return words.at(static_cast<std::size_t>(word));
}

RandomBits random_bits_at(const Problem& p, const StochasticForm& form, const CodeTensor& words,
                          std::size_t element) {
    const std::int64_t column = static_cast<std::int64_t>(element) % p.columns;
    return random_bits_of(form, random_word_at(p, form, words, element), column);
}

std::vector<CodeTensor> make_inputs(const Case& c, const BlockSource& source) {
    if (const std::vector<CodeTensor>* given = source.gemm_tensors()) return *given;
    if (is_gemm(c)) return make_gemm_inputs(c);
    const std::vector<Part> parts = inputs_of(c);
    std::vector<CodeTensor> tensors;
    for (const Part part : parts) tensors.push_back(make_tensor(shape_of(c, part)));
    const bool has_scales = c.operation == OperationKind::dequantize;
    const Blocking blocking = blocking_of(c);
    const std::int64_t blocks = block_grid(blocking).count();
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
        const BlockData data = source.block(c.index + static_cast<std::uint64_t>(block));
        for (int lane = 0; lane < place.count; ++lane)
            tensors[0].set(place.element(lane), data.lanes[static_cast<std::size_t>(lane)]);
        if (has_scales) tensors[1].set(static_cast<std::size_t>(block), data.scale);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == Part::tensor_number) tensors[i].set(0, *c.tensor_number);
        if (parts[i] == Part::random_bits) fill_random_words(c, tensors[0], tensors[i]);
    }
    return tensors;
}

}  // namespace mx
