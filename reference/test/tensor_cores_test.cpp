// The rows of tensor cores against what those machines answered: dot products that Khattak and
// Mikaitis recorded (conformance/vectors/tensor_cores.vectors), by both engines and by the one for
// processors. A row that claims to be verified by others must have such answers, and these must
// refute its neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>

#include "reference/exact/dot_model.hpp"
#include "reference/gemm/model_sum.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

struct Answer {
    CodeRow a, b;
    Code c, d;
    std::string place;  // in the source
};

// What one machine answered to factors of one format.
struct Column {
    std::string machine, row;
    ElementFormat factors, d;
    std::size_t depth = 0;
    std::vector<Answer> answers;
};

std::vector<std::uint32_t> codes_of(const std::string& digits, const ElementFormat& format,
                                    std::size_t depth) {
    const std::size_t width = static_cast<std::size_t>(format.code_bits() + 3) / 4;
    EXPECT_GE(digits.size(), depth * width);
    std::vector<std::uint32_t> codes;
    for (std::size_t k = 0; k < depth; ++k)
        codes.push_back(
            static_cast<std::uint32_t>(std::stoul(digits.substr(k * width, width), nullptr, 16)));
    return codes;
}

Column column_of(std::istream& words, const ElementFormat& factors) {
    Column column;
    std::string d;
    words >> column.machine >> d >> column.row >> column.depth;
    column.factors = factors;
    column.d = *find_element_format(d);
    return column;
}

void add_answers(const std::string& line, std::vector<Column>& columns, std::size_t first) {
    std::istringstream words(line);
    std::string place, a, b, pair;
    words >> place >> a >> b;
    for (std::size_t i = first; i < columns.size(); ++i) {
        Column& column = columns[i];
        words >> pair;
        const auto colon = pair.find(':');
        const auto code = [](const std::string& digits) {
            return Code{static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16))};
        };
        column.answers.push_back(
            {{column.factors, codes_of(a, column.factors, column.depth)},
             {column.factors, codes_of(b, column.factors, column.depth)},
             code(pair.substr(0, colon)),
             code(pair.substr(colon + 1)),
             column.machine + " " + std::string(column.factors.name) + " " + place});
    }
    EXPECT_TRUE(words && !(words >> pair)) << line;
}

std::vector<Column> read_columns() {
    std::ifstream file(MX_TENSOR_CORES);
    EXPECT_TRUE(file) << MX_TENSOR_CORES;
    std::vector<Column> columns;
    ElementFormat factors = formats::f16;
    std::size_t first = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "format") {
            words >> word;
            factors = *find_element_format(word);
            first = columns.size();
        } else if (word == "column") {
            columns.push_back(column_of(words, factors));
        } else {
            add_answers(line, columns, first);
        }
    }
    return columns;
}

const std::vector<Column>& columns() {
    static const std::vector<Column> all = read_columns();
    return all;
}

std::uint32_t by_fast(const GemmModel& model, const ElementFormat& d, const Answer& answer) {
    const fast::Unpacked sum = fast::accumulate(model, answer.a.row(), answer.b.row(),
                                                answer.a.depth(), fast::unpack(d, answer.c));
    return fast::round(d, Rounding::nearest_even, Overflow::overflow, sum).bits;
}
std::uint32_t by_processor(const GemmModel& model, const ElementFormat& d, const Answer& answer) {
    const fast::Unpacked sum = gemm::accumulate(model, answer.a.row(), answer.b.row(),
                                                answer.a.depth(), fast::unpack(d, answer.c));
    return fast::round(d, Rounding::nearest_even, Overflow::overflow, sum).bits;
}
std::uint32_t by_exact(const GemmModel& model, const ElementFormat& d, const Answer& answer) {
    const exact::Value sum = exact::accumulate(model, answer.a.row(), answer.b.row(),
                                               answer.a.depth(), exact::decode(d, answer.c));
    return exact::round(d, Rounding::nearest_even, Overflow::overflow, sum).bits;
}

std::size_t refuted(const Column& column, const GemmModel& model) {
    std::size_t count = 0;
    for (const Answer& answer : column.answers)
        count += by_processor(model, column.d, answer) != answer.d.bits;
    return count;
}

TEST(TensorCores, EveryRecordedAnswerIsThatOfItsRow) {
    std::size_t count = 0;
    for (const Column& column : columns()) {
        const GemmModel* row = find_gemm_model(column.row);
        ASSERT_NE(row, nullptr) << column.row;
        ASSERT_TRUE(lists(row->operands, column.factors.name)) << column.row;
        for (const Answer& answer : column.answers) {
            ASSERT_EQ(by_fast(*row, column.d, answer), answer.d.bits) << answer.place;
            ASSERT_EQ(by_processor(*row, column.d, answer), answer.d.bits) << answer.place;
            ASSERT_EQ(by_exact(*row, column.d, answer), answer.d.bits) << answer.place;
            ++count;
        }
        EXPECT_GE(column.answers.size(), 200u) << column.machine;
    }
    EXPECT_EQ(columns().size(), 48u);
    EXPECT_GE(count, 9600u);
}

// Another number of bits, of products, another last rounding, another order.
struct WrongModel {
    const char* what;
    void (*change)(GemmModel& model);
};
constexpr WrongModel wrong_models[] = {
    {"one bit less", [](GemmModel& m) { --m.fraction_bits; }},
    {"one bit more", [](GemmModel& m) { ++m.fraction_bits; }},
    {"many bits more", [](GemmModel& m) { m.fraction_bits = 40; }},
    {"half the products", [](GemmModel& m) { m.products /= 2; }},
    {"another rounding",
     [](GemmModel& m) {
         m.rounding =
             m.rounding == Rounding::nearest_even ? Rounding::toward_zero : Rounding::nearest_even;
     }},
    {"C in the sum", [](GemmModel& m) { m.promotion = 0; }},
    {"neighbours", [](GemmModel& m) { m.order = ProductOrder::along_k; }},
};

// What no recorded answer decides, of all 5,000 of a machine: the rows have it among what is open,
// but for the bits of the sums of FP8 in binary16 tensor cores, where those of hopper-half hold.
bool is_undecided(const Column& column, std::string_view what) {
    const bool is_of_bits = what.ends_with("less") || what.ends_with("more");
    if (column.row == "mma-sync-fp8" && column.factors == formats::e4m3)
        return what != "C in the sum";
    if (column.row.starts_with("mma-sync-fp8")) return is_of_bits || column.d == formats::f32;
    if (column.row == "hopper-tf32") return what == "half the products";
    return is_of_bits && column.factors == formats::f16 && column.d == formats::f16;
}

TEST(TensorCores, TheNeighboursOfEveryRowAreRefuted) {
    for (const Column& column : columns())
        for (const WrongModel& wrong : wrong_models) {
            const GemmModel& row = *find_gemm_model(column.row);
            GemmModel model = row;
            wrong.change(model);
            const bool is_changed = model.fraction_bits != row.fraction_bits ||
                                    model.products != row.products ||
                                    model.rounding != row.rounding ||
                                    model.promotion != row.promotion || model.order != row.order;
            if (!is_changed || is_undecided(column, wrong.what)) continue;
            EXPECT_GE(refuted(column, model), 2u) << column.machine << " " << column.row << " "
                                                  << column.factors.name << " with " << wrong.what;
        }
}

// The rows, with an element format each, that say so without an answer of a machine.
std::vector<std::string> claims_without_answers(std::span<const GemmModel> rows) {
    std::vector<std::string> claims;
    for (const GemmModel& row : rows)
        for (const ElementFormat& format : element_formats) {
            const bool is_held = std::ranges::any_of(columns(), [&](const Column& column) {
                return column.row == row.name && column.factors.name == format.name;
            });
            if (row.standing == Standing::verified_by_others && !is_held &&
                lists(row.operands, format.name))
                claims.push_back(std::string(row.name) + " " + std::string(format.name));
        }
    return claims;
}

TEST(TensorCores, NoRowIsVerifiedByOthersWithoutAnswers) {
    EXPECT_EQ(claims_without_answers(gemm_models), std::vector<std::string>{});
    GemmModel planted = *find_gemm_model("ampere-half");
    planted.operands = "f16 bf16 e4m3";
    EXPECT_EQ(claims_without_answers(std::span(&planted, 1)),
              std::vector<std::string>{"ampere-half e4m3"});
    planted.name = "planted";
    EXPECT_EQ(claims_without_answers(std::span(&planted, 1)).size(), 3u);
}

TEST(TensorCores, EveryRowHasMachinesAndASource) {
    for (const GemmModel& row : gemm_models) {
        EXPECT_FALSE(row.machines.empty()) << row.name;
        EXPECT_FALSE(row.source.empty()) << row.name;
    }
}

}  // namespace
}  // namespace mx
