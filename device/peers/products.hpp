// Products of a library in C or C++, or of a processor's instructions, as a device: a table of dot
// products, D = A * B^T without C. Used by the plug-ins beside it, which compute nothing.
//
//     c++ -std=c++20 -shared -fPIC -I. -I LIBRARY/include NAME_plugin.cpp -o NAME.so
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/peers/plugin.hpp"

namespace mx::peers {

using Codes = std::vector<std::uint32_t>;

// Of factors in these formats; `algorithm` "" is taken where a case names none.
struct DotProduct {
    std::string_view a, b, d, algorithm;
    std::uint32_t (*code)(const Codes& a, const Codes& b);  // of as many elements each
};

struct Products {
    const char *name, *vendor, *version;
    std::span<const DotProduct> dots;
    const char* (*missing)() = nullptr;  // why nothing can be asked here, or nullptr
};

inline Codes codes_of(const Strided& factor, std::int64_t row) {
    Codes codes;
    for (std::int64_t k = 0; k < factor.columns; ++k) codes.push_back(factor.read({row, k}));
    return codes;
}

template <const Products& products>
struct Multiplier {
    static constexpr mx_fact known_facts[] = {
        {"name", products.name}, {"vendor", products.vendor}, {"version", products.version}};

    std::span<const mx_fact> facts() { return known_facts; }
    void supports(const Arguments& arguments) { answer({arguments, Buffers::absent}, false); }
    void run(const Arguments& arguments) { answer({arguments, Buffers::present}, true); }

private:
    // Of the operation, the gemm's words and both factors' formats.
    static const DotProduct& dot_of(const mx_gemm& gemm, const Tensor& a, const Tensor& b,
                                    const Tensor& d) {
        for (const DotProduct& row : products.dots)
            if (a.type() == row.a && b.type() == row.b && d.type() == row.d &&
                text_of(gemm.algorithm) == row.algorithm)
                return row;
        not_supported(std::string(products.name) + " has no product of these factors by " +
                      in_double_quotes(gemm.algorithm));
    }

    static void refuse_more(const mx_gemm& gemm) {
        for (const char* absent :
             {gemm.scaling_a, gemm.scaling_b, gemm.scaling_out, gemm.epilogue, gemm.accumulation})
            if (absent != nullptr)
                not_supported("a plain product has no " + in_double_quotes(absent));
        if (gemm.alpha != 0x3F800000 || gemm.beta != 0 || gemm.batches != 1)
            not_supported("one product, without C and alpha");
    }

    static void answer(Call call, bool is_asked) {
        const mx_gemm& gemm = gemm_of(call);
        if (products.missing != nullptr && products.missing() != nullptr)
            not_supported(products.missing());
        refuse_more(gemm);
        const Tensor a = call.input("A"), b = call.input("B"), d = call.output("D");
        call.expect_no_more();
        const DotProduct& dot = dot_of(gemm, a, b, d);
        const Strided left = a.chosen(dot.a, a.shape()), right = b.chosen(dot.b, b.shape());
        const Strided out = d.chosen(dot.d, {a.shape().rows, b.shape().rows});
        if (left.columns != right.columns) invalid("A and B differ in K");
        if (!is_asked) return;
        const std::uint32_t minus_zero = dot.d == "f16" ? 0x8000 : 0x80000000;
        for_each_cell(out.shape(), [&](Cell cell) {
            const auto sum = dot.code(codes_of(left, cell.row), codes_of(right, cell.column));
            out.write(cell, sum == minus_zero ? 0 : sum);  // D is the sum plus 0
        });
    }
};

}  // namespace mx::peers

// The one exported function, for the products of that name.
#define MX_PEER_PRODUCTS(products) MX_KIT_PLUGIN(mx::peers::Multiplier<products>)
