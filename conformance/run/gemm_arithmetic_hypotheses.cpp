// See gemm_hypotheses.hpp: another accumulator, other addends, another last rounding.
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "conformance/run/gemm_hypotheses.hpp"
#include "reference/fast/f32_arithmetic.hpp"
#include "reference/gemm/oracle.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

constexpr ElementFormat f32 = formats::f32;

GemmHypothesis under(std::string what, const gemm::ProblemView& changed) {
    return {std::move(what), [changed](const gemm::OutputPlace& place) {
                return expected_result(changed, changed.output(place));
            }};
}

GemmHypothesis summed_as(const gemm::ProblemView& problem, std::string what,
                         const GemmModel& model) {
    // The problem looks at the row, which lives as long as the hypothesis.
    auto row = std::make_shared<const GemmModel>(model);
    gemm::ProblemView changed = problem;
    changed.model = row.get();
    if (row->alpha != problem.model->alpha)
        changed.epilogue.kernel = kernel_of(row.get(), problem.parts);
    return {std::move(what), [row, changed](const gemm::OutputPlace& place) {
                return expected_result(changed, changed.output(place));
            }};
}

// One decision of the row taken otherwise.
struct ModelChange {
    const char* what;
    bool (*change)(GemmModel& model);  // false: there is nothing to change
};
template <auto field, auto value>
bool becomes(GemmModel& model) {
    return std::exchange(model.*field, value) != value;
}
template <const ElementFormat& format>
bool accumulates_in(GemmModel& model) {
    return std::exchange(model.accumulator, format).name != format.name;
}
constexpr std::array model_changes{
    ModelChange{"one bit less is kept of each product",
                [](GemmModel& m) { return m.fraction_bits != all_bits && m.fraction_bits-- > 1; }},
    ModelChange{"one bit more is kept of each product",
                [](GemmModel& m) { return m.fraction_bits != all_bits && m.fraction_bits++ > 0; }},
    ModelChange{"a step takes half as many products",
                [](GemmModel& m) { return m.products > 1 && (m.products /= 2) > 0; }},
    ModelChange{"a step takes twice as many products",
                [](GemmModel& m) { return (m.products *= 2) > 0; }},
    ModelChange{
        "the accumulator is promoted twice as often",
        [](GemmModel& m) { return m.promotion >= 2 * m.products && (m.promotion /= 2) > 0; }},
    ModelChange{"the accumulator is promoted half as often",
                [](GemmModel& m) { return m.promotion != 0 && (m.promotion *= 2) > 0; }},
    ModelChange{"the accumulator is never promoted",
                [](GemmModel& m) {
                    if (m.promotion == 0 || scales_at_promotion(m.scaling)) return false;
                    m.promotion = 0;
                    return true;
                }},
    ModelChange{"the sum of a step is rounded to nearest even",
                becomes<&GemmModel::rounding, Rounding::nearest_even>},
    ModelChange{"the sum of a step is rounded toward zero",
                becomes<&GemmModel::rounding, Rounding::toward_zero>},
    ModelChange{"products are cut downward, not toward zero",
                [](GemmModel& m) {
                    return m.sum == StepSum::aligned &&
                           becomes<&GemmModel::cut, Rounding::toward_negative>(m);
                }},
    ModelChange{"the accumulator is binary32 between steps", accumulates_in<formats::f32>},
    ModelChange{
        "the accumulator keeps 13 bits of mantissa between steps",
        [](GemmModel& m) { return m.accumulator.name == f32.name && accumulates_in<e8m13>(m); }},
    ModelChange{"the accumulator is binary16", accumulates_in<formats::f16>},
    ModelChange{"products are aligned by the exponents of their normal numbers",
                becomes<&GemmModel::exponents, FactorExponents::f16>},
    ModelChange{"a product that is zero has an exponent",
                becomes<&GemmModel::zero_products, ZeroProducts::counted>},
    ModelChange{"a product that is zero has no exponent",
                becomes<&GemmModel::zero_products, ZeroProducts::left_out>},
};

// Chunks of another length. Half and twice as long have names of their own.
void add_other_chunks(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    constexpr int unit = 32, longest = 512;
    const GemmModel& asked = *problem.model;
    if (asked.promotion == 0 || scales_at_promotion(asked.scaling)) return;
    for (int length = unit; length <= longest && length < problem.depth; length += unit) {
        const bool is_named = length == asked.promotion || 2 * length == asked.promotion ||
                              length == 2 * asked.promotion;
        GemmModel model = asked;
        model.promotion = length;
        if (is_named || !fault_of(model).empty()) continue;
        hypotheses.push_back(summed_as(
            problem, "the accumulator is promoted every " + std::to_string(length) + " k", model));
    }
}

GemmHypothesis moved(const gemm::ProblemView& problem, std::string what,
                     AlteredOutput::Places places) {
    return altered_outputs(
        problem, std::move(what),
        [places = std::move(places)](AlteredOutput& output, const gemm::OutputPlace&) {
            output.move_to(places);
        });
}

// Other k in a step together, where no scales of blocks hang on them.
void add_other_orders(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const bool has_blocks =
        problem.a.scaling == gemm::Scaling::blocks || problem.b.scaling == gemm::Scaling::blocks;
    if (has_blocks) return;
    const GemmModel& model = *problem.model;
    const auto depth = static_cast<std::size_t>(problem.depth);
    const auto step = static_cast<std::size_t>(model.products);
    for (const std::size_t unit : {step, static_cast<std::size_t>(model.promotion)}) {
        if (unit < 2 || depth < unit || depth % unit == 0) continue;
        AlteredOutput::Places places{{}, (depth + unit - 1) / unit * unit};
        for (std::size_t k = 0; k < depth; ++k) places.of_k.push_back(places.count - depth + k);
        hypotheses.push_back(
            moved(problem, "what is left of K after whole " + std::to_string(unit) + " comes first",
                  std::move(places)));
    }
    if (model.sum == StepSum::pairs_flushed && step == 4 && depth % step == 3) {
        AlteredOutput::Places places{{}, depth + 1};
        for (std::size_t k = 0; k < depth; ++k) places.of_k.push_back(k + 2 < depth ? k : k + 1);
        hypotheses.push_back(moved(problem,
                                   "of the last three products two are added before the first",
                                   std::move(places)));
    }
    if (model.sum != StepSum::even_and_odd) return;
    AlteredOutput::Places places{{}, (depth + step - 1) / step * step};
    for (std::size_t k = 0; k < depth; ++k) {
        const std::size_t in_step = k % step, half = step / 2;
        places.of_k.push_back(k - in_step + in_step % half * 2 + in_step / half);
    }
    hypotheses.push_back(moved(problem, "the halves of a step are summed apart, not even and odd k",
                               std::move(places)));
}

Code rounded(const ElementFormat& format, const fast::Unpacked& value) {
    return fast::round(format, Rounding::nearest_even, Overflow::overflow, value);
}
Code through(const ElementFormat& format, Code number) {
    return rounded(f32, fast::unpack(format, rounded(format, fast::unpack(f32, number))));
}
Code product_of(Code a, Code b) {
    return rounded(f32, fast::product(fast::unpack(f32, a), fast::unpack(f32, b)));
}

// C as binary32, whatever its type, so that any number can stand in its place.
class AddendsInF32 {
public:
    explicit AddendsInF32(const gemm::ProblemView& problem) : problem_(problem) {
        problem_.epilogue.addend = f32;
        problem_.epilogue.bias = f32;
    }

    using Change = std::function<void(EpilogueOperands& operands, const gemm::OutputPlace& place)>;
    GemmHypothesis hypothesis(std::string what, const gemm::ProblemView& right,
                              Change change) const {
        return {std::move(what), [changed = problem_, &right,
                                  change = std::move(change)](const gemm::OutputPlace& place) {
                    gemm::Output output = changed.output(place);
                    output.operands.c = number(right.epilogue.addend, output.operands.c);
                    output.operands.bias = number(right.epilogue.bias, output.operands.bias);
                    change(output.operands, place);
                    return expected_result(changed, output);
                }};
    }

    static Code number(const ElementFormat& format, Code code) {
        return format.name == f32.name ? code : rounded(f32, fast::unpack(format, code));
    }

private:
    gemm::ProblemView problem_;
};

Code c_at(const gemm::ProblemView& problem, std::int64_t index) {
    return AddendsInF32::number(problem.epilogue.addend, problem.c.at(index));
}
Code bias_at(const gemm::ProblemView& problem, std::int64_t index) {
    return AddendsInF32::number(problem.epilogue.bias, problem.bias.at(index));
}

void add_other_cs(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const AddendsInF32 addends(problem);
    const auto add = [&](std::string what, AddendsInF32::Change change) {
        hypotheses.push_back(addends.hypothesis(std::move(what), problem, std::move(change)));
    };
    const std::int64_t m = problem.m, n = problem.n;
    add("alpha multiplies C too", [](EpilogueOperands& o, const gemm::OutputPlace&) {
        o.beta = product_of(o.alpha, o.beta);
    });
    add("C is subtracted",
        [](EpilogueOperands& o, const gemm::OutputPlace&) { o.beta.bits ^= 0x80000000; });
    add("a NaN in C counts as 0", [](EpilogueOperands& o, const gemm::OutputPlace&) {
        if (f32.is_nan(o.c)) o.c = Code{0};
    });
    for (const ElementFormat* via : {&formats::bf16, &formats::f16}) {
        add("C is rounded to " + std::string(via->name),
            [via](EpilogueOperands& o, const gemm::OutputPlace&) { o.c = through(*via, o.c); });
        add("beta times C is rounded to " + std::string(via->name) + " before it is added",
            [via](EpilogueOperands& o, const gemm::OutputPlace&) {
                o.c = through(*via, product_of(o.beta, o.c));
                o.beta = Code{one_of_f32};
            });
    }
    if (m > 1)
        add("C is that of the row before", [&problem, m](EpilogueOperands& o, const auto& place) {
            const std::int64_t row = place.row % m == 0 ? place.row : place.row - 1;
            o.c = c_at(problem, problem.index({row, place.column}));
        });
    if (n > 1)
        add("C is that of the column before", [&problem](EpilogueOperands& o, const auto& place) {
            const std::int64_t column = place.column == 0 ? 0 : place.column - 1;
            o.c = c_at(problem, problem.index({place.row, column}));
        });
    if (n > 1 && problem.epilogue.addend == problem.epilogue.output)
        add("C of odd columns is the D of the column before", [&problem](EpilogueOperands& o,
                                                                         const auto& place) {
            if (place.column % 2 == 0) return;
            const gemm::Output before = problem.output({place.row, place.column - 1});
            o.c = AddendsInF32::number(problem.epilogue.output, expected_result(problem, before));
        });
    if (m > 1 && n > 1)
        add("C is read down its columns", [&problem, m, n](EpilogueOperands& o, const auto& place) {
            const std::int64_t first = place.row / m * m * n;
            o.c = c_at(problem, first + place.column * m + place.row % m);
        });
}

void add_other_biases(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const AddendsInF32 addends(problem);
    const auto add = [&](std::string what, AddendsInF32::Change change) {
        hypotheses.push_back(addends.hypothesis(std::move(what), problem, std::move(change)));
    };
    const std::int64_t n = problem.n;
    add("alpha multiplies the bias too", [](EpilogueOperands& o, const gemm::OutputPlace&) {
        o.bias = product_of(o.alpha, o.bias);
    });
    add("the bias goes down the columns", [&problem, n](EpilogueOperands& o, const auto& place) {
        o.bias = bias_at(problem, place.row % problem.m % n);
    });
    add("the bias goes down the rows of all batches",
        [&problem, n](EpilogueOperands& o, const auto& place) {
            o.bias = bias_at(problem, place.row % n);
        });
    add("the bias is that of the first column",
        [&problem](EpilogueOperands& o, const auto&) { o.bias = bias_at(problem, 0); });
    for (const std::int64_t unit : {2, 4, 8, 16, 32, 64})
        if (n % unit != 0)
            add("columns after the last whole " + std::to_string(unit) + " get no bias",
                [n, unit](EpilogueOperands& o, const auto& place) {
                    if (place.column >= n / unit * unit) o.bias = Code{0};
                });
}

// What is rounded to an output.
fast::Unpacked number_at(const gemm::ProblemView& problem, const gemm::OutputPlace& place) {
    fast::Unpacked found{};
    if (problem.is_exact()) {
        const std::int64_t index = problem.index(place);
        for_each_number(problem, {index, index + 1},
                        [&](std::int64_t, const fast::Unpacked& number) { found = number; });
        return found;
    }
    gemm::ProblemView wide = problem;
    wide.epilogue.output = f32;
    return fast::unpack(f32, expected_result(wide, wide.output(place)));
}

using RoundNumber = std::function<Code(const fast::Unpacked& number)>;
GemmHypothesis rounded_by(const gemm::ProblemView& problem, std::string what, RoundNumber round) {
    return {std::move(what), [&problem, round = std::move(round)](const gemm::OutputPlace& place) {
                return round(number_at(problem, place));
            }};
}

struct Direction {
    Rounding rounding;
    const char* what;
};
constexpr std::array directions{
    Direction{Rounding::toward_zero, "D is rounded toward zero"},
    Direction{Rounding::nearest_away, "ties of D are rounded away from zero"},
    Direction{Rounding::toward_positive, "D is rounded up"},
    Direction{Rounding::toward_negative, "D is rounded down"},
    Direction{Rounding::away_from_zero, "D is rounded away from zero"},
};

bool is_wider(const ElementFormat& via, const ElementFormat& d) {
    return via.mantissa_bits > d.mantissa_bits;
}

}  // namespace

void add_other_sums(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (problem.is_exact()) return;
    for (const ModelChange& change : model_changes) {
        GemmModel model = *problem.model;
        if (change.change(model) && fault_of(model).empty())
            hypotheses.push_back(summed_as(problem, change.what, model));
    }
    add_other_chunks(problem, hypotheses);
    add_other_orders(problem, hypotheses);
    gemm::ProblemView exact = problem;
    exact.model = nullptr;
    if (problem.epilogue.activation != Activation::gelu)
        hypotheses.push_back(under("the sum is exact and rounded once", exact));
    for (const GemmModel& model : gemm_models)
        if (model.name != problem.model->name && takes(model, problem.a, problem.b))
            hypotheses.push_back(
                summed_as(problem, "the sum is that of " + std::string(model.name), model));
    gemm::ProblemView other = problem;
    const bool is_whole = problem.epilogue.kernel == GemmKernel::one;
    other.epilogue.kernel = is_whole ? GemmKernel::adds_parts : GemmKernel::one;
    // Without C the two differ in the sign of a zero.
    const char* without_c =
        is_whole ? "no +0 is added to alpha times the sum" : "+0 is added to alpha times the sum";
    const char* with_c = is_whole ? "alpha times the sum is rounded, and beta times C is fused"
                                  : "beta times C is rounded, and alpha times the sum is fused";
    hypotheses.push_back(under(problem.adds_c() ? with_c : without_c, other));
}

void add_other_addends(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    for (const ElementFormat* via : {&formats::bf16, &formats::f16}) {
        const Code alpha = through(*via, problem.alpha);
        if (alpha == problem.alpha) continue;
        gemm::ProblemView other = problem;
        other.alpha = alpha;
        hypotheses.push_back(under("alpha is rounded to " + std::string(via->name), other));
    }
    if (problem.adds_c()) add_other_cs(problem, hypotheses);
    if (problem.epilogue.adds_bias) add_other_biases(problem, hypotheses);
    if (problem.epilogue.activation != Activation::none) {
        gemm::ProblemView other = problem;
        other.epilogue.activation = Activation::none;
        hypotheses.push_back(under("the activation is left out", other));
    }
    if (problem.epilogue.scales_output)
        hypotheses.push_back(altered_outputs(problem, "D is multiplied by its scale twice",
                                             [](AlteredOutput& output, const gemm::OutputPlace&) {
                                                 Code& scale = output.operands().scale_out;
                                                 scale = product_of(scale, scale);
                                             }));
}

void add_other_roundings(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const ElementFormat d = problem.epilogue.output;
    const Overflow overflow = problem.epilogue.overflow();
    // Exact numbers are rounded once; a binary32 number needs no more to be one.
    if (problem.is_exact() || d.name != f32.name)
        for (const Direction& direction : directions)
            hypotheses.push_back(rounded_by(
                problem, direction.what, [d, overflow, direction](const fast::Unpacked& number) {
                    return fast::round(d, direction.rounding, overflow, number);
                }));
    for (const ElementFormat* via : {&f32, &e8m13, &formats::f16, &formats::bf16}) {
        const bool is_other = via->name != d.name && (d.name == f32.name || is_wider(*via, d));
        if (!is_other) continue;
        hypotheses.push_back(rounded_by(
            problem, "D is rounded to " + std::string(via->name) + " before it is rounded",
            [d, overflow, via](const fast::Unpacked& number) {
                return fast::round(d, Rounding::nearest_even, overflow,
                                   fast::unpack(*via, rounded(*via, number)));
            }));
    }
    hypotheses.push_back(
        rounded_by(problem, "subnormal results are 0", [d, overflow](const fast::Unpacked& number) {
            const Code code = fast::round(d, Rounding::nearest_even, overflow, number);
            return d.is_subnormal(code) ? Code{code.bits & d.code_sign_mask()} : code;
        }));
    const bool saturates = overflow == Overflow::saturate;
    hypotheses.push_back(rounded_by(
        problem,
        saturates ? "what is too large for D does not become its largest number"
                  : "what is too large for D becomes its largest number",
        [d, saturates](const fast::Unpacked& number) {
            return fast::round(d, Rounding::nearest_even,
                               saturates ? Overflow::overflow : Overflow::saturate, number);
        }));
}

}  // namespace mx
