// A product on the kit: D = alpha * A * B^T + beta * C of E4M3 factors with E8M0 scales for 32
// elements along K, D and C in float32, summed in double and rounded once.
#include <array>
#include <bit>
#include <cmath>

#include "device/kit/blocks.hpp"
#include "device/kit/plugin.hpp"

using namespace mx::kit;

static double e4m3(std::uint32_t code) {
    const int field = static_cast<int>(code >> 3 & 15), fraction = static_cast<int>(code & 7);
    const double sign = (code & 0x80) != 0 ? -1 : 1;
    if ((code & 0x7F) == 0x7F) return std::nan("");
    return sign * std::ldexp(field == 0 ? fraction : fraction + 8, std::max(field, 1) - 10);
}
static double e8m0(std::uint32_t code) {
    return code == 255 ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - 127);
}

struct Factor {
    Strided codes, scales;

    double at(Cell cell) const {
        return e4m3(codes.read(cell)) * e8m0(scales.read({cell.row, cell.column / 32}));
    }
};

struct Product {
    Factor a, b;
    Strided c, d;
    float alpha, beta;
    std::int64_t batch_rows, batch_columns;  // of D, of one batch
};

static float output(const Product& p, Cell cell) {
    const std::int64_t b_row = cell.row / p.batch_rows * p.batch_columns + cell.column;
    double sum = 0;
    for (std::int64_t k = 0; k < p.a.codes.columns; ++k)
        sum += p.a.at({cell.row, k}) * p.b.at({b_row, k});
    const double c = p.beta == 0 ? 0.0 : static_cast<double>(std::bit_cast<float>(p.c.read(cell)));
    return static_cast<float>(static_cast<double>(p.alpha) * sum + static_cast<double>(p.beta) * c);
}

class Device {
public:
    std::span<const mx_fact> facts() {
        static constexpr std::array known{mx_fact{"name", "kit GEMM"}, mx_fact{"version", "1"}};
        return known;
    }
    void supports(const Arguments& arguments) { read(Call(arguments, Buffers::absent)); }
    void run(const Arguments& arguments) {
        const Product p = read(Call(arguments, Buffers::present));
        for_each_cell(p.d.shape(), [&](Cell cell) {
            p.d.write(cell, std::bit_cast<std::uint32_t>(output(p, cell)));
        });
    }

private:
    static Factor read_factor(Call& call, const std::string& name) {
        const Tensor codes = call.input(name), scales = call.input("the scales of " + name);
        return {codes.chosen("e4m3", codes.shape()),
                scales.implied("e8m0", Blocks{Axis::row, 32}.grid(codes.shape()))};
    }

    static Product read(Call call) {
        call.expect_host();
        call.expect_strided();
        expect_name("operation", call.operation().name, "gemm");
        const mx_gemm& gemm = call.gemm();
        expect_name("scaling", gemm.scaling_a, "1x32");
        expect_name("scaling", gemm.scaling_b, "1x32");
        for (const char* absent :
             {gemm.scaling_out, gemm.epilogue, gemm.accumulation, gemm.algorithm})
            if (absent != nullptr)
                not_supported("a plain product has no " + in_double_quotes(absent));
        if (gemm.batches < 1) invalid("a gemm has at least one batch");
        Product p{read_factor(call, "A"),           read_factor(call, "B"),          {}, {},
                  std::bit_cast<float>(gemm.alpha), std::bit_cast<float>(gemm.beta), 0,  0};
        const Shape a = p.a.codes.shape(), b = p.b.codes.shape();
        if (a.columns != b.columns || a.rows % gemm.batches != 0 || b.rows % gemm.batches != 0)
            invalid("A is " + text_of(a) + " and B is " + text_of(b));
        p.batch_rows = a.rows / gemm.batches;
        p.batch_columns = b.rows / gemm.batches;
        const Shape d{a.rows, p.batch_columns};
        if (p.beta != 0) p.c = call.input("C").chosen("f32", d);
        p.d = call.output("D").chosen("f32", d);
        call.expect_no_more();
        return p;
    }
};

MX_KIT_PLUGIN(Device)
