// The black box that relations are asked of: tensors of codes in, tensors of codes out, in any of
// the forms that the device ABI has for them. Knows names and widths, no values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/client.hpp"
#include "reference/base/status.hpp"

namespace mx::relation {

// The words that cross to the device. A format that no table here holds is asked for by the
// device's own name; its codes then travel as "u8".
struct Setting {
    std::string operation;  // quantize, dequantize or gemm
    std::string format;
    std::string dialect;
    std::string values = "f32";  // type of the numbers; of a GEMM that of D
    std::string elements;        // type of the codes; of a GEMM those of A
    std::string scales = "e8m0";
    std::int64_t block = 32;
    std::string elements_b = {};  // these three: gemm
    std::string scaling = {};     // "1x32", "tensor" or "", of both factors
    std::string accumulation = {};
    // Of a dialect with a number for the whole tensor, codes of binary32: what quantize is given,
    // and dequantize. The same in every question, so that a block stays what it is beside others.
    std::optional<std::uint32_t> number_given = {}, number_kept = {};
};

// How the tensors of blocks lie.
struct Form {
    std::string axis = "row";
    std::int64_t block = 0;    // 0: that of the setting
    std::int64_t row_gap = 0;  // values, elements and scales: elements between two rows
    std::string packing = "strided";
    std::string scale_order = "strided";
};

struct Quantized {
    CodeTensor elements, scales;
    bool operator==(const Quantized& other) const {
        return elements.bytes == other.elements.bytes && scales.bytes == other.scales.bytes;
    }
};

// One product; scales have no rows where the setting has none.
struct Product {
    CodeTensor a, scales_a, b, scales_b;
    CodeTensor c, bias;  // no rows: there is none
    std::int64_t batches = 1;
    std::uint32_t alpha = 0x3F800000, beta = 0;
    std::string epilogue = {};
    std::string scale_order = "strided";
};

// Every NaN among numbers as one: their payloads are no answer.
void join_nans(CodeTensor& values);

class Subject {
public:
    Subject(Client client, Setting setting)
        : client_(std::move(client)), setting_(std::move(setting)) {}

    const Setting& setting() const { return setting_; }
    std::uint64_t calls() const { return calls_; }

    // As error, kind bad_input: the device does not do that. Kind device: it crashed, hung or
    // failed, or it did what no answer may do, see fault().
    Expected<Quantized> quantize(const CodeTensor& values, const Form& form = {});
    // Axis both: along rows, and down columns.
    Expected<std::array<Quantized, 2>> quantize_both(const CodeTensor& values);
    Expected<CodeTensor> dequantize(const Quantized& blocks, const Form& form = {});
    Expected<CodeTensor> encode_scale(const CodeTensor& values);
    Expected<CodeTensor> gemm(const Product& product);

    // The same subject for numbers of another type.
    Subject with_values(const std::string& type) const;
    // Quantizes and dequantizes under the same names.
    Subject with_operation(const std::string& operation) const;

    // The last answer left outputs unwritten, differed from its own repetition, or wrote beside its
    // tensors: a sentence, "" where it did not.
    const std::string& fault() const { return fault_; }

    CodeTensor scale_grid(const CodeTensor& like, const Form& form) const;

private:
    struct Side {
        std::vector<Buffer> buffers;
        std::vector<CodeTensor> tensors;
    };
    Expected<std::vector<CodeTensor>> ask(const Operation& operation, const Side& inputs,
                                          Side outputs);
    std::string read(const DeviceAnswer& answer, Side& outputs) const;
    Side blocks_side(const Quantized& blocks, const Form& form) const;
    Operation operation_of(const Form& form) const;
    std::int64_t block_of(const Form& form) const {
        return form.block == 0 ? setting_.block : form.block;
    }

    Client client_;
    Setting setting_;
    std::string fault_;
    std::uint64_t calls_ = 0;
};

}  // namespace mx::relation
