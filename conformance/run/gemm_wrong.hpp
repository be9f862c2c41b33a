// GEMMs gone wrong on purpose, one output at a time: what the data of a case must tell from the
// right one, and what a difference may be explained by. Compares nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/gemm/oracle.hpp"

namespace mx {

inline constexpr std::uint32_t one_of_f32 = 0x3F800000;

// One output with copies of its rows, so that they can be altered.
class AlteredOutput {
public:
    explicit AlteredOutput(const gemm::Output& output);
    AlteredOutput(const AlteredOutput&) = delete;
    AlteredOutput& operator=(const AlteredOutput&) = delete;

    // The views are into this object.
    const gemm::Output& output() const { return output_; }

    struct Row {
        ElementFormat element;
        std::vector<std::uint32_t> codes, scales;
        ElementFormat scale_format;
        std::int64_t block = 0;
    };
    Row a, b;
    EpilogueOperands& operands() { return output_.operands; }

    // The scales of whole rows and tensors, which stand in two places.
    void set_scales(Row& row, std::span<const std::uint32_t> scales);

    // The codes of the row are read in another format.
    void read_as(Row& row, const ElementFormat& element);

    // The elements at k stand at places[k], of so many, with zeros between them. Only where no
    // blocks have scales.
    struct Places {
        std::vector<std::size_t> of_k;
        std::size_t count;
    };
    void move_to(const Places& places);

    // After codes, scales or blocks of the rows have become more or fewer.
    void look_at_rows();

    // One more product, of the elements at k with their scales.
    void count_again(std::size_t k);

private:
    gemm::Output output_;
};

// The place of an output, and the others around it.
struct GemmScene {
    const gemm::ProblemView& problem;
    gemm::OutputPlace place;
};

struct WrongGemm {
    std::string_view what;  // "C is not added"
    bool is_gross = true;   // more than a bound of rounding errors hides
    // Can it go wrong so, in this case at all?
    bool (*applies)(const gemm::ProblemView& problem);
    // The code of the output; nothing where this output would be right.
    std::optional<Code> (*result)(const GemmScene& scene);
};
std::span<const WrongGemm> wrong_gemms();

}  // namespace mx
