// The fields of a GEMM as text. See field_row.hpp.
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "conformance/case/field_row.hpp"
#include "conformance/case/fields.hpp"
#include "conformance/case/gemm_case.hpp"
#include "conformance/case/operations.hpp"

namespace mx {
namespace {

static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == 4);

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

template <std::string GemmFields::*member>
std::string text_of(const Case& c) {
    return c.gemm.*member;
}
template <std::string GemmFields::*member>
Status set_text(Case& c, const std::string& value) {
    c.gemm.*member = value;
    return success();
}

std::string shape_text(const Case& c) {
    return std::to_string(c.gemm.m) + "x" + std::to_string(c.gemm.n) + "x" +
           std::to_string(c.gemm.k);
}

Status set_shape(Case& c, const std::string& value) {
    const Error malformed = bad("shape '" + value + "' is not of the form MxNxK");
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
            return bad("shape '" + value + "' has a length that is not from 1 to 2^20");
        lengths[i] = static_cast<std::int64_t>(number.value());
    }
    c.gemm.m = lengths[0];
    c.gemm.n = lengths[1];
    c.gemm.k = lengths[2];
    return success();
}

std::string batches_text(const Case& c) {
    return std::to_string(c.gemm.batches);
}
Status set_batches(Case& c, const std::string& value) {
    const auto number = parse_number("batches", value);
    if (!number) return number.error();
    if (number.value() < 1 || number.value() > 65536)
        return bad("batches '" + value + "' is not from 1 to 65536");
    c.gemm.batches = static_cast<std::int64_t>(number.value());
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
    return bad(std::string(what) + " '" + text +
               "' is no finite number of binary32, nor the bits of one, such as 0x7f800000");
}

template <std::uint32_t GemmFields::*member>
std::string f32_text_of(const Case& c) {
    return f32_text(c.gemm.*member);
}
template <std::uint32_t GemmFields::*member>
Status set_f32(Case& c, const std::string& value) {
    const auto bits = parse_f32(member == &GemmFields::alpha ? "alpha" : "beta", value);
    if (!bits) return bits.error();
    c.gemm.*member = bits.value();
    return success();
}

std::string output_text(const Case& c) {
    return c.type;
}
Status set_output(Case& c, const std::string& value) {
    c.type = value;
    return success();
}

std::string dialect_text(const Case& c) {
    return c.dialect;
}
Status set_dialect(Case& c, const std::string& value) {
    c.dialect = value;
    return success();
}

constexpr std::array rows{
    FieldRow{"a", is_gemm, text_of<&GemmFields::a>, set_text<&GemmFields::a>},
    FieldRow{"b", is_gemm, text_of<&GemmFields::b>, set_text<&GemmFields::b>},
    FieldRow{"output", is_gemm, output_text, set_output},
    FieldRow{"dialect", has_output_blocks, dialect_text, set_dialect},
    FieldRow{"shape", is_gemm, shape_text, set_shape},
    FieldRow{"batches", is_gemm, batches_text, set_batches},
    FieldRow{"alpha", is_gemm, f32_text_of<&GemmFields::alpha>, set_f32<&GemmFields::alpha>},
    FieldRow{"beta", is_gemm, f32_text_of<&GemmFields::beta>, set_f32<&GemmFields::beta>},
    FieldRow{"c", is_gemm, text_of<&GemmFields::c>, set_text<&GemmFields::c>},
    FieldRow{"epilogue", is_gemm, text_of<&GemmFields::epilogue>, set_text<&GemmFields::epilogue>},
    FieldRow{"accumulation", is_gemm, text_of<&GemmFields::accumulation>,
             set_text<&GemmFields::accumulation>},
    FieldRow{"algorithm", is_gemm, text_of<&GemmFields::algorithm>,
             set_text<&GemmFields::algorithm>},
    FieldRow{"model", is_gemm, text_of<&GemmFields::model>, set_text<&GemmFields::model>},
};

}  // namespace

std::span<const FieldRow> gemm_field_rows() {
    return rows;
}

}  // namespace mx
