// fast/block.hpp and fast/quantize.hpp in blocks of full length: that every element counts for the
// amax, wherever it stands, and that every place of a block is given its own element. What one
// element becomes under one scale is the business of prove_block.cpp.
#include <algorithm>
#include <array>

#include "reference/exact/quantize.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/proof/exact_runs.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

constexpr std::array lengths{16, 32, 64};
constexpr std::size_t length_max = 128;

using Codes = std::vector<std::uint32_t>;  // of binary32

std::vector<exact::Value> exact_values(const Quantizer& row, const Codes& codes) {
    std::vector<exact::Value> values;
    for (const std::uint32_t bits : codes)
        values.push_back(exact::read_input(row.subnormals, formats::f32, Code{bits}));
    return values;
}

// The amax of codes, and that of values, side by side.
std::uint64_t exact_amax(const Quantizer& row, const Codes& codes) {
    const std::vector<exact::Value> values = exact_values(row, codes);
    const Code amax = exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                                   exact::amax_of(row, values));
    return both(amax, amax);
}

std::uint64_t fast_amax(const Quantizer& row, const Codes& codes) {
    const auto code_of = [](const fast::Unpacked& value) {
        return fast::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
    };
    std::array<fast::Unpacked, length_max> values;
    for (std::size_t i = 0; i < codes.size(); ++i)
        values[i] = fast::read_input(row.subnormals, formats::f32, Code{codes[i]});
    const int count = static_cast<int>(codes.size());
    return both(code_of(fast::amax_of(row, formats::f32, codes.data(), count)),
                code_of(fast::amax_of_values(row, values.data(), count)));
}

// What one element of a block is, among others that are alike.
constexpr std::array<std::uint32_t, 16> of_one{
    0x00000000, 0x80000000, 0x00000001, 0x80000002, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800001,
    0x43E00000, 0xC3F00000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800001};
constexpr std::array<std::uint32_t, 3> of_others{0x80000000, 0x3F800000, 0xFFC00000};

// What two elements of a block are, among others of 2^-20.
constexpr std::array<std::uint32_t, 6> of_two{0x80000001, 0x3F800000, 0xBF800001,
                                              0x7F7FFFFF, 0xFF800000, 0x7FC00001};
constexpr std::uint32_t beside_two = 0x35800000;

// Every place with every code among every kind of others; then every two places with every two
// codes. The longest block first is cut to `length`, the rest are all of it.
std::vector<Codes> blocks_for_amax(int length) {
    const std::size_t count = static_cast<std::size_t>(length);
    std::vector<Codes> blocks;
    for (std::size_t place = 0; place < count; ++place)
        for (const std::uint32_t others : of_others)
            for (const std::uint32_t code : of_one) {
                blocks.emplace_back(count, others);
                blocks.back()[place] = code;
            }
    for (std::size_t first = 0; first < count; ++first)
        for (std::size_t second = first + 1; second < count; ++second)
            for (const std::uint32_t a : of_two)
                for (const std::uint32_t b : of_two) {
                    blocks.emplace_back(count, beside_two);
                    blocks.back()[first] = a;
                    blocks.back()[second] = b;
                }
    return blocks;
}

// The largest element in every place of all shorter blocks, as the end of a row leaves them.
std::vector<Codes> shorter_blocks_for_amax() {
    std::vector<Codes> blocks;
    for (std::size_t count = 1; count < 64; ++count)
        for (std::size_t place = 0; place < count; ++place) {
            blocks.emplace_back(count, beside_two);
            blocks.back()[place] = 0xBF800001;
        }
    return blocks;
}

Report compare_amax(const Quantizer& row, const std::vector<Codes>& blocks, int threads) {
    return compare_everywhere(
        static_cast<std::uint32_t>(blocks.size()), threads,
        [&](std::uint32_t i) { return exact_amax(row, blocks[i]); },
        [&](std::uint32_t i) { return fast_amax(row, blocks[i]); });
}

// What the search for an amax reads of a row.
bool same_for_amax(const Quantizer& a, const Quantizer& b) {
    const auto flushes = [](const Quantizer& row) {
        return row.subnormals == Subnormals::inputs_flushed;
    };
    return a.nan_in_block == b.nan_in_block && a.infinity_in_block == b.infinity_in_block &&
           flushes(a) == flushes(b);
}

void add_amax_proofs(std::vector<Proof>& proofs) {
    for (const Quantizer& row : quantizers) {
        const auto first = std::find_if(quantizers.begin(), quantizers.end(),
                                        [&](const auto& q) { return same_for_amax(q, row); });
        if (&*first != &row) continue;
        const std::string name(row.name);
        for (const int length : lengths)
            proofs.push_back({"amax of " + std::to_string(length) + " " + name,
                              "every place with 16 codes among 3 kinds of others, every two places "
                              "with 6 x 6 codes",
                              [&row, length](int threads) {
                                  return compare_amax(row, blocks_for_amax(length), threads);
                              }});
        proofs.push_back({"amax of shorter blocks " + name,
                          "the largest element in every place of all blocks up to 63",
                          [&row](int threads) {
                              return compare_amax(row, shorter_blocks_for_amax(), threads);
                          }});
    }
}

// The block in which one place has a part of its own, and no two other elements are alike.
enum class Part { largest, smallest, nan, infinity, only_one, only_number };
constexpr std::array parts{Part::largest,  Part::smallest, Part::nan,
                           Part::infinity, Part::only_one, Part::only_number};

// Magnitudes from 1 to 2^8, of either sign, with mantissas that no two places of a block share.
std::uint32_t code_at(std::size_t place) {
    const std::uint32_t i = static_cast<std::uint32_t>(place);
    return (i % 2) << 31 | ((127 + i % 8) << 23) | (i * 0x3A7B1D & 0x7FFFFF);
}

Codes block_with(Part part, std::size_t length, std::size_t place) {
    Codes codes(length);
    for (std::size_t i = 0; i < length; ++i) {
        codes[i] = code_at(i);
        if (part == Part::only_one) codes[i] = i % 2 == 0 ? 0x00000000 : 0x80000000;
        if (part == Part::only_number) codes[i] = 0x7FC00000;
    }
    switch (part) {
        case Part::largest:
            codes[place] = 0xC3F00000 + static_cast<std::uint32_t>(place);
            break;
        case Part::smallest:
            codes[place] = 0x3A800001;
            break;
        case Part::nan:
            codes[place] = 0xFFC00000;
            break;
        case Part::infinity:
            codes[place] = 0xFF800000;
            break;
        case Part::only_one:
        case Part::only_number:
            codes[place] = code_at(place);
            break;
    }
    return codes;
}

std::vector<Codes> whole_blocks(std::size_t length) {
    std::vector<Codes> blocks;
    for (const Part part : parts)
        for (std::size_t place = 0; place < length; ++place)
            blocks.push_back(block_with(part, length, place));
    return blocks;
}

std::uint64_t hashed_64(std::uint64_t left, std::uint64_t right) {
    return (left ^ right) * 0x100000001B3u;
}

// Bits for each place where the row wants them.
std::array<RandomBits, length_max> random_bits() {
    std::array<RandomBits, length_max> bits;
    for (std::size_t i = 0; i < length_max; ++i)
        bits[i] = {static_cast<std::uint32_t>(i * 151 % 256), 8};
    return bits;
}

std::uint64_t exact_block(const Quantizer& row, const BlockFormat& format, const Codes& codes) {
    const std::vector<exact::Value> values = exact_values(row, codes);
    exact::TensorNumbers tensor;
    if (!row.has_e8m0_scales())
        tensor = exact::tensor_numbers(
            row, format, exact::amax_of(rules_of_tensor_amax(row), values), exact::number(3));
    const auto random = random_bits();
    const exact::Block block = exact::quantize({row, format, formats::f32, tensor}, values,
                                               std::span(random).first(codes.size()));
    std::uint64_t hash = block.scale.bits;
    for (const Code element : block.elements) hash = hashed_64(hash, element.bits);
    return hash;
}

std::uint64_t fast_block(const Quantizer& row, const BlockFormat& format, const Codes& codes) {
    const int count = static_cast<int>(codes.size());
    fast::BlockQuestion question{row, format, formats::f32, {}};
    if (!row.has_e8m0_scales())
        question.tensor = fast::tensor_numbers(
            row, format,
            fast::amax_of(rules_of_tensor_amax(row), formats::f32, codes.data(), count),
            fast::whole(3));
    std::array<std::uint8_t, length_max> elements{};
    const auto random = random_bits();
    std::uint64_t hash =
        fast::quantize(question, codes.data(), count, elements.data(), random.data()).bits;
    for (std::size_t i = 0; i < codes.size(); ++i) hash = hashed_64(hash, elements[i]);
    return hash;
}

Report compare_blocks(const Quantizer& row, const BlockFormat& format, std::size_t length,
                      int threads) {
    const std::vector<Codes> blocks = whole_blocks(length);
    return compare_everywhere(
        static_cast<std::uint32_t>(blocks.size()), threads,
        [&](std::uint32_t i) { return exact_block(row, format, blocks[i]); },
        [&](std::uint32_t i) { return fast_block(row, format, blocks[i]); });
}

Proof block_proof(const Quantizer& row, const BlockFormat& format, const std::vector<int>& sizes) {
    std::string name = "whole blocks " + std::string(format.name) + " " + std::string(row.name);
    std::string domain = "blocks of";
    for (const int size : sizes) domain += " " + std::to_string(size);
    return {name,
            domain +
                ", each place in turn the largest, the smallest, NaN, Inf, the only one that "
                "is not 0, the only number",
            [&row, &format, sizes](int threads) {
                std::vector<Report> reports;
                for (const int size : sizes)
                    reports.push_back(
                        compare_blocks(row, format, static_cast<std::size_t>(size), threads));
                return joined(reports);
            }};
}

}  // namespace

std::vector<Proof> whole_block_proofs() {
    std::vector<Proof> proofs;
    add_amax_proofs(proofs);
    for (const BlockFormat& format : mx_block_formats)
        for (std::size_t row = 0; row < e8m0_quantizers.size(); ++row)
            if (is_first_with(without_description, row, format))
                proofs.push_back(
                    block_proof(e8m0_quantizers[row], format, {lengths.begin(), lengths.end()}));
    for (const BlockFormat& format : real_scale_formats)
        for (const Quantizer& row : real_scale_quantizers)
            if (row.quantizes(format))
                proofs.push_back(block_proof(row, format, {std::max(format.block_columns, 16)}));
    return proofs;
}

}  // namespace mx::proof
