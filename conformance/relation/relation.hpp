// A relation: a sentence about a device's answers to two related inputs, which holds or does not
// hold without anybody knowing the right answer. The list of all of them, and where each holds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/relation/random.hpp"
#include "conformance/relation/subject.hpp"

namespace mx::relation {

// What a relation needs its inputs to be.
enum class Data {
    any,       // every bit pattern
    numbers,   // finite ones, within a few binades of each other
    ordinary,  // numbers far from both ends of the range, none of them zero
};

// Extents of a GEMM.
struct Extents {
    std::int64_t m = 24, n = 20, k = 160;
    bool operator==(const Extents&) const = default;
};
inline constexpr Extents whole_tiles{64, 64, 192};

// What is asked first; what is asked second follows from it and the seed.
struct Sample {
    std::uint64_t seed = 0;
    CodeTensor values = {};  // quantize; the element codes of dequantize
    CodeTensor scales = {};  // dequantize
    Extents extents = {};    // gemm
};

// What came of one sample. Where the relation broke: what was seen, and both inputs.
struct Finding {
    std::uint64_t compared = 0;
    std::string broken = {};
    std::string first = {}, second = {};
};

struct Relation {
    std::string_view name;
    std::string_view operation;
    std::string_view sentence;
    Data data;
    // "" where every device that follows the setting's dialect must satisfy it; else the reason why
    // one need not. A dialect that no table holds has no arithmetic to go by.
    std::string (*not_claimed)(const Setting& setting);
    // As error: what the device said instead of an answer.
    Expected<Finding> (*check)(Subject& subject, const Sample& sample);
};

std::span<const Relation> relations();
const Relation* find_relation(std::string_view operation, std::string_view name);

// The parts of that list.
std::span<const Relation> quantize_place_relations();
std::span<const Relation> quantize_number_relations();
std::span<const Relation> dequantize_relations();
std::span<const Relation> gemm_place_relations();
std::span<const Relation> gemm_number_relations();

// The sample of this seed: of `data`, as the setting's types have it.
Sample make_sample(const Relation& relation, const Setting& setting, std::uint64_t seed);

}  // namespace mx::relation
