// The fields of a GEMM as text. See field_row.hpp.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <vector>

#include "conformance/case/field_row.hpp"
#include "conformance/case/fields.hpp"

namespace mx {
namespace {

static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == 4);

bool multiplies(const Case& c) {
    return is_gemm(c);
}
bool is_grouped(const Case& c) {
    return is_gemm(c) && c.gemm.is_grouped();
}
bool makes_blocks(const Case& c) {
    return has_output_blocks(c);
}

template <auto member>
std::string name_of_gemm_member(const Case& c) {
    return std::string(name_of(c.gemm.*member));
}
std::string c_text(const Case& c) {
    return std::string(c.gemm.c ? c.gemm.c->name : "none");
}
std::string algorithm_text(const Case& c) {
    return c.gemm.algorithm;
}
Status set_algorithm(CaseWords& words, const std::string& value) {
    words.rest.gemm.algorithm = value;
    return success();
}

std::string shape_text(const Case& c) {
    return std::to_string(c.gemm.m) + "x" + std::to_string(c.gemm.n) + "x" +
           std::to_string(c.gemm.k);
}

Status set_gemm_shape(CaseWords& words, const std::string& value) {
    const Error malformed = bad_input("shape '" + value + "' is not of the form MxNxK");
    const std::size_t first = value.find('x');
    const std::size_t second = first == std::string::npos ? first : value.find('x', first + 1);
    if (second == std::string::npos) return malformed;
    const std::array texts{value.substr(0, first), value.substr(first + 1, second - first - 1),
                           value.substr(second + 1)};
    std::array<std::int64_t, 3> lengths{};
    // Lengths of up to 2^20 make no tensor that an address cannot count through.
    constexpr std::uint64_t limit = std::uint64_t{1} << 20;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const auto number = parse_number("shape", texts[i]);
        if (!number) return malformed;
        if (number.value() < 1 || number.value() > limit)
            return bad_input("shape '" + value + "' has a length that is not from 1 to 2^20");
        lengths[i] = static_cast<std::int64_t>(number.value());
    }
    words.rest.gemm.m = lengths[0];
    words.rest.gemm.n = lengths[1];
    words.rest.gemm.k = lengths[2];
    return success();
}

std::string batches_text(const Case& c) {
    return std::to_string(c.gemm.batches);
}
Status set_batches(CaseWords& words, const std::string& value) {
    const auto number = parse_number("batches", value);
    if (!number) return number.error();
    if (number.value() < 1 || number.value() > 65536)
        return bad_input("batches '" + value + "' is not from 1 to 65536");
    words.rest.gemm.batches = static_cast<std::int64_t>(number.value());
    return success();
}

std::string groups_text(const Case& c) {
    std::string text;
    for (const std::int64_t rows : c.gemm.groups)
        text += (text.empty() ? "" : "+") + std::to_string(rows);
    return text;
}
// "3+0+7": how many rows each group has.
Status set_groups(CaseWords& words, const std::string& value) {
    constexpr std::uint64_t rows_max = std::uint64_t{1} << 20;
    constexpr std::size_t groups_max = 4096;
    std::vector<std::int64_t>& groups = words.rest.gemm.groups;
    groups.clear();
    for (std::size_t first = 0; first <= value.size();) {
        const std::size_t end = std::min(value.find('+', first), value.size());
        const auto rows = parse_number("groups", value.substr(first, end - first));
        if (!rows || rows.value() > rows_max || groups.size() == groups_max)
            return bad_input("groups '" + value +
                             "' is not of the form 3+0+7, the rows of up to 4096 groups, each up "
                             "to 2^20");
        groups.push_back(static_cast<std::int64_t>(rows.value()));
        first = end + 1;
    }
    return success();
}

// The shortest decimal number that reads back to the same bits; other codes as their bits.
std::string f32_text(std::uint32_t bits) {
    std::array<char, 64> text;
    char* const end = text.data() + text.size();
    const bool is_finite = (bits & 0x7F800000u) != 0x7F800000u;
    const auto written = is_finite ? std::to_chars(text.data(), end, std::bit_cast<float>(bits))
                                   : std::to_chars(text.data(), end, bits, 16);
    const std::string digits(text.data(), static_cast<std::size_t>(written.ptr - text.data()));
    return is_finite ? digits : "0x" + digits;
}

Expected<std::uint32_t> parse_f32(std::string_view what, const std::string& text) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    if (text.starts_with("0x")) {
        std::uint32_t bits = 0;
        const auto [stop, error] = std::from_chars(begin + 2, end, bits, 16);
        if (error == std::errc{} && stop == end) return bits;
    } else {
        float value = 0;
        const auto [stop, error] = std::from_chars(begin, end, value);
        const auto bits = std::bit_cast<std::uint32_t>(value);
        if (error == std::errc{} && stop == end && (bits & 0x7F800000u) != 0x7F800000u) return bits;
    }
    return bad_input(std::string(what) + " '" + text +
                     "' is no finite number of binary32, nor the bits of one, such as 0x7f800000");
}

template <std::uint32_t GemmProblem::*member>
std::string f32_text_of(const Case& c) {
    return f32_text(c.gemm.*member);
}
template <std::uint32_t GemmProblem::*member>
Status set_f32(CaseWords& words, const std::string& value) {
    const auto bits = parse_f32(member == &GemmProblem::alpha ? "alpha" : "beta", value);
    if (!bits) return bits.error();
    words.rest.gemm.*member = bits.value();
    return success();
}

std::string output_text(const Case& c) {
    return type_name(c);
}
std::string dialect_text(const Case& c) {
    return dialect_name(c);
}

constexpr std::array rows{
    FieldRow{"a", multiplies, name_of_gemm_member<&GemmProblem::a>, set_word<&CaseWords::a>},
    FieldRow{"b", multiplies, name_of_gemm_member<&GemmProblem::b>, set_word<&CaseWords::b>},
    FieldRow{"output", multiplies, output_text, set_word<&CaseWords::type>},
    FieldRow{"dialect", makes_blocks, dialect_text, set_word<&CaseWords::dialect>},
    FieldRow{"shape", multiplies, shape_text, set_gemm_shape},
    FieldRow{"batches", multiplies, batches_text, set_batches},
    FieldRow{"groups", is_grouped, groups_text, set_groups},
    FieldRow{"alpha", multiplies, f32_text_of<&GemmProblem::alpha>, set_f32<&GemmProblem::alpha>},
    FieldRow{"beta", multiplies, f32_text_of<&GemmProblem::beta>, set_f32<&GemmProblem::beta>},
    FieldRow{"c", multiplies, c_text, set_word<&CaseWords::c>},
    FieldRow{"epilogue", multiplies, name_of_gemm_member<&GemmProblem::epilogue>,
             set_word<&CaseWords::epilogue>},
    FieldRow{"accumulation", multiplies, name_of_gemm_member<&GemmProblem::accumulation>,
             set_word<&CaseWords::accumulation>},
    FieldRow{"algorithm", multiplies, algorithm_text, set_algorithm},
    FieldRow{"model", multiplies, name_of_gemm_member<&GemmProblem::model>,
             set_word<&CaseWords::model>},
};

}  // namespace

std::span<const FieldRow> gemm_field_rows() {
    return rows;
}

}  // namespace mx
