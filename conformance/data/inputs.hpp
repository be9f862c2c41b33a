// The inputs of a case: its family's blocks laid out over its tensors, or the user's own file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/data/family.hpp"
#include "reference/base/status.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

// Codes of one tensor, dense and row-major, each in the fewest whole bytes, little endian: codes of
// 4 or 6 bits travel one per byte.
struct CodeTensor {
    std::string type;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    int width = 1;  // bytes of a code
    std::vector<std::byte> bytes;

    std::uint32_t at(std::size_t element) const;
    void set(std::size_t element, std::uint32_t code);
    std::size_t count() const { return static_cast<std::size_t>(rows * columns); }
};
CodeTensor make_tensor(std::string_view type, std::int64_t rows, std::int64_t columns);
CodeTensor make_tensor(const PartShape& shape);

// Opens families and files once for all the cases that share them.
class Sources {
public:
    // The blocks of the case's data. Errors: unknown family, a family without data for the
    // operation, a file that cannot be read, holds another type or fewer values. A GEMM has no
    // blocks: what is opened for it has all tensors of its file, or says that its data have a name.
    // Of files the last one stays open.
    Expected<std::shared_ptr<const BlockSource>> open(const Case& c);

private:
    Expected<std::shared_ptr<const BlockSource>> source_of(const Case& c);

    // What the blocks of a case hang on.
    struct Key {
        OperationKind operation;
        const BlockFormat* format = nullptr;
        const Quantizer* dialect = nullptr;
        ElementFormat type;
        std::int64_t lanes = 0;
        BlockAxis axis = BlockAxis::row;  // of a file's blocks
        std::optional<ElementRules> rules = {};
        std::optional<std::uint32_t> tensor_number = {};
        std::uint64_t seed = 0;
        std::string data;
        bool operator==(const Key&) const = default;
    };
    static Key key_of(const Case& c);
    struct Opened {
        Key key;
        std::shared_ptr<const BlockSource> source;
    };
    std::vector<Opened> open_;
};

// The shape of a file's tensor as the case needs it: all but the last axis folded into rows. Of a
// captured call (captured_call.hpp) its values.
Expected<CodeTensor> read_input_tensor(const std::string& path);

inline constexpr std::string_view file_prefix = "file:";
inline bool is_file(const Case& c) {
    return c.data.starts_with(file_prefix);
}

// The random word that serves an element, and the bits of it that decide how convert rounds it.
// `words` is the tensor of random words.
std::uint32_t random_word_at(const Problem& p, const StochasticForm& form, const CodeTensor& words,
                             std::size_t element);
RandomBits random_bits_at(const Problem& p, const StochasticForm& form, const CodeTensor& words,
                          std::size_t element);

// One for each of inputs_of(c); for a GEMM, for each of its inputs in the order of the device ABI.
std::vector<CodeTensor> make_inputs(const Case& c, const BlockSource& source);

}  // namespace mx
