// See answer.hpp.
#include "conformance/library/answer.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/data/converter.hpp"
#include "conformance/data/gemm_tensors.hpp"
#include "conformance/data/tensor_number.hpp"
#include "conformance/library/block_kernels.hpp"
#include "conformance/run/gemm_judge.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx::library {
namespace {

using kit::Cell;
using kit::Strided;

// Part of a tensor: of a block, what lies within the tensor.
struct Region {
    std::int64_t row, column, rows, columns;
    std::int64_t count() const { return rows * columns; }
};

template <typename Word, typename Visit>
void visit_words(const Strided& tensor, const Region& region, const Visit& visit) {
    const auto step = tensor.column_stride * static_cast<std::int64_t>(sizeof(Word));
    std::size_t lane = 0;
    for (std::int64_t row = 0; row < region.rows; ++row) {
        unsigned char* at = tensor.at({region.row + row, region.column});
        for (std::int64_t column = 0; column < region.columns; ++column, at += step)
            visit(at, lane++);
    }
}

template <typename Word, typename To>
void gather(const Strided& tensor, const Region& region, To* codes) {
    visit_words<Word>(tensor, region, [codes](const unsigned char* at, std::size_t lane) {
        Word word;
        std::memcpy(&word, at, sizeof word);
        codes[lane] = static_cast<To>(word);
    });
}
template <typename Word, typename From>
void scatter(const From* codes, const Strided& tensor, const Region& region) {
    visit_words<Word>(tensor, region, [codes](unsigned char* at, std::size_t lane) {
        const Word word = static_cast<Word>(codes[lane]);
        std::memcpy(at, &word, sizeof word);
    });
}

void read_codes(const Strided& tensor, const Region& region, std::uint32_t* codes) {
    if (tensor.width == 4) return gather<std::uint32_t>(tensor, region, codes);
    if (tensor.width == 2) return gather<std::uint16_t>(tensor, region, codes);
    gather<std::uint8_t>(tensor, region, codes);
}

// --- convert and encode_scale
// ---------------------------------------------------------------------

void convert(const OracleCall& call) {
    const Converter rules(call.question);
    const StochasticForm* form = stochastic_form_of(call.question);
    const Strided &values = call.inputs[0], &codes = call.outputs[0];
    kit::for_each_cell(values.shape(), [&](Cell cell) {
        RandomBits random;
        if (form != nullptr) {
            const Cell word{cell.row, cell.column / form->values_per_word};
            random = random_bits_of(*form, call.inputs[1].read(word), cell.column);
        }
        codes.write(cell, rules(Code{values.read(cell)}, random).bits);
    });
}

void encode_scales(const OracleCall& call) {
    const Problem& p = call.question;
    const Quantizer rules = rules_of(p);
    kit::for_each_cell(call.inputs[0].shape(), [&](Cell cell) {
        const fast::Unpacked amax =
            fast::read_input(rules.subnormals, p.type, Code{call.inputs[0].read(cell)});
        call.outputs[0].write(cell, fast::encode_scale(rules, *p.format, amax).bits);
    });
}

// --- blocks
// ---------------------------------------------------------------------------------------

// Calls visit(region, cell of the scale) for each block.
template <typename Visit>
void for_each_block(const OracleCall& call, const Visit& visit) {
    const Problem& p = call.question;
    const bool is_tensor = call.blocks.axis == kit::Axis::tensor;
    const kit::Shape grid = call.blocks.grid({p.rows, p.columns});
    const std::int64_t height = is_tensor ? p.rows : call.blocks.rows();
    const std::int64_t width = is_tensor ? p.columns : call.blocks.columns();
    kit::for_each_cell(grid, [&](Cell scale) {
        const std::int64_t row = scale.row * height, column = scale.column * width;
        visit(Region{row, column, std::min(height, p.rows - row),
                     std::min(width, p.columns - column)},
              scale);
    });
}

std::size_t lanes_of_block(const OracleCall& call) {
    const Problem& p = call.question;
    if (call.blocks.axis == kit::Axis::tensor) return static_cast<std::size_t>(p.rows * p.columns);
    return static_cast<std::size_t>(std::min(call.blocks.rows(), p.rows) *
                                    std::min(call.blocks.columns(), p.columns));
}

// --- quantize
// -------------------------------------------------------------------------------------

// The values as they are quantized. Owns those that were rotated: groups of 16 along the axis.
class Values {
public:
    explicit Values(const OracleCall& call) : view_(call.inputs[0]) {
        if (call.question.dialect->transform == LaneTransform::none) return;
        rotated_.resize(static_cast<std::size_t>(view_.rows * view_.columns * view_.width));
        const Strided given = view_;
        view_.data = rotated_.data();
        view_.row_stride = view_.columns;
        view_.column_stride = 1;
        const bool across = call.blocks.axis != kit::Axis::column;
        const std::int64_t height = across ? 1 : hadamard_size, width = across ? hadamard_size : 1;
        for (std::int64_t row = 0; row < given.rows; row += height)
            for (std::int64_t column = 0; column < given.columns; column += width)
                rotate(call.question.type, given, {row, column, height, width});
    }
    const Strided& view() const { return view_; }

private:
    void rotate(const ElementFormat& type, const Strided& given, const Region& group) {
        std::uint32_t codes[hadamard_size];
        fast::Unpacked lanes[hadamard_size];
        read_codes(given, group, codes);
        for (int lane = 0; lane < hadamard_size; ++lane)
            lanes[lane] = fast::unpack(type, Code{codes[lane]});
        for (int lane = 0; lane < hadamard_size; ++lane) {
            const Cell cell{group.row + (group.rows > 1 ? lane : 0),
                            group.column + (group.columns > 1 ? lane : 0)};
            view_.write(cell, fast::round(type, Rounding::nearest_even, Overflow::overflow,
                                          fast::rotated_lane(lanes, lane))
                                  .bits);
        }
    }

    Strided view_;
    std::vector<unsigned char> rotated_;
};

fast::TensorNumbers tensor_numbers(const Problem& p, const Strided& values) {
    if (!has_tensor_number(p)) return {};
    if (p.tensor_number) return numbers_of(p, *p.tensor_number);
    const Region whole{0, 0, values.rows, values.columns};
    std::vector<std::uint32_t> codes(static_cast<std::size_t>(whole.count()));
    read_codes(values, whole, codes.data());
    return fast::tensor_numbers(
        *p.dialect, *p.format,
        fast::amax_of(rules_of_tensor_amax(*p.dialect), p.type, codes.data(), whole.count()));
}

// Quantizes one block after the other in memory of its own.
class BlockQuantizer {
public:
    BlockQuantizer(const OracleCall& call, const Strided& values)
        : call_(call),
          values_(values),
          question_{rules_of(call.question), *call.question.format, call.question.type,
                    tensor_numbers(call.question, values)},
          form_(stochastic_form_of(call.question)),
          lanes_(lanes_of_block(call)),
          codes_(lanes_.size()),
          random_(form_ == nullptr ? 0 : lanes_.size()) {
        if (question_.format.has_e8m0_scales())
            kernel_ = block_kernel(question_.format, question_.input);
    }

    void run() {
        const Strided &codes = call_.outputs[0], &scales = call_.outputs[1];
        for_each_block(call_, [&](const Region& block, Cell scale) {
            read_codes(values_, block, lanes_.data());
            if (form_ != nullptr) read_random(block);
            scales.write(scale, quantize(static_cast<int>(block.count())).bits);
            scatter<std::uint8_t>(codes_.data(), codes, block);
        });
        if (!has_tensor_number(call_.question)) return;
        const fast::Unpacked kept = fast::kept_number(question_.quantizer, question_.tensor);
        call_.outputs[2].write({0, 0}, fast::f32_code(kept));
    }

private:
    Code quantize(int count) {
        const RandomBits* random = form_ == nullptr ? nullptr : random_.data();
        if (kernel_ != nullptr)
            return kernel_(question_.quantizer, lanes_.data(), count, codes_.data(), random);
        return fast::quantize(question_, lanes_.data(), count, codes_.data(), random);
    }

    void read_random(const Region& block) {
        std::size_t lane = 0;
        for (std::int64_t row = block.row; row < block.row + block.rows; ++row)
            for (std::int64_t column = block.column; column < block.column + block.columns;
                 ++column) {
                const Cell word{row, column / form_->values_per_word};
                random_[lane++] = random_bits_of(*form_, call_.inputs.back().read(word), column);
            }
    }

    const OracleCall& call_;
    const Strided& values_;
    const fast::BlockQuestion question_;
    const StochasticForm* form_;
    BlockKernel kernel_ = nullptr;
    std::vector<std::uint32_t> lanes_;
    std::vector<std::uint8_t> codes_;
    std::vector<RandomBits> random_;
};

// --- dequantize
// -----------------------------------------------------------------------------------

void dequantize(const OracleCall& call) {
    const Problem& p = call.question;
    const fast::DequantizeQuestion question{
        rules_of(p), *p.format, p.type,
        fast::unpack(formats::f32, Code{p.tensor_number.value_or(0)})};
    const ValuesKernel kernel =
        p.format->has_e8m0_scales() ? values_kernel(*p.format, p.type) : nullptr;
    const Strided &codes = call.inputs[0], &scales = call.inputs[1], &values = call.outputs[0];
    std::vector<std::uint8_t> elements(lanes_of_block(call));
    std::vector<std::uint32_t> results(elements.size());
    for_each_block(call, [&](const Region& block, Cell cell) {
        const Code scale{scales.read(cell)};
        gather<std::uint8_t>(codes, block, elements.data());
        if (kernel != nullptr)
            kernel(scale, elements.data(), static_cast<int>(block.count()), results.data());
        else
            for (std::size_t i = 0; i < static_cast<std::size_t>(block.count()); ++i)
                results[i] = fast::dequantize(question, {scale, Code{elements[i]}}).bits;
        if (values.width == 4) return scatter<std::uint32_t>(results.data(), values, block);
        scatter<std::uint16_t>(results.data(), values, block);
    });
}

// --- gemm
// -----------------------------------------------------------------------------------------

void gemm(const OracleCall& call) {
    const std::vector<GemmTensor> tensors = tensors_of(call.question);
    std::vector<CodeTensor> inputs;
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
        inputs.push_back(dense_copy(call.inputs[i], tensors[i].type.name));
    const std::vector<CodeTensor> outputs = expect_gemm(call.question, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        // Rows of no group stay as they are.
        std::size_t element = 0;
        kit::for_each_cell({outputs[i].rows, outputs[i].columns}, [&](Cell cell) {
            call.outputs[i].write(cell, outputs[i].at(element++));
        });
    }
}

}  // namespace

CodeTensor dense_copy(const Strided& tensor, std::string_view type) {
    CodeTensor copy{
        std::string(type), tensor.rows, tensor.columns, static_cast<int>(tensor.width), {}};
    copy.bytes.resize(copy.count() * static_cast<std::size_t>(tensor.width));
    if (tensor.shape().is_empty()) return copy;
    const bool is_dense = tensor.column_stride == 1 && tensor.row_stride == tensor.columns;
    if (is_dense) {
        std::memcpy(copy.bytes.data(), tensor.data, copy.bytes.size());
        return copy;
    }
    std::size_t element = 0;
    kit::for_each_cell(tensor.shape(), [&](Cell cell) { copy.set(element++, tensor.read(cell)); });
    return copy;
}

void answer(const OracleCall& call) {
    switch (call.question.operation) {
        case OperationKind::convert:
            return convert(call);
        case OperationKind::encode_scale:
            return encode_scales(call);
        case OperationKind::quantize: {
            const Values values(call);
            return BlockQuantizer(call, values.view()).run();
        }
        case OperationKind::dequantize:
            return dequantize(call);
        case OperationKind::gemm:
            return gemm(call);
    }
}

}  // namespace mx::library
