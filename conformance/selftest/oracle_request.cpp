// See oracle_request.hpp.
#include "conformance/selftest/oracle_request.hpp"

#include <string>

#include "device/host/operation.hpp"

namespace mx::selftest {
namespace {

constexpr kit::Named<Action> actions[] = {
    {"convert", Action::convert},
    {"encode_scale", Action::encode_scale},
    {"quantize", Action::quantize},
    {"dequantize", Action::dequantize},
};
constexpr kit::Named<RandomWords> random_words[] = {
    {"stochastic8", {8, 1}},
    {"stochastic16", {16, 1}},
    {"stochastic32", {32, 1}},
    {"stochastic-x4", {16, 4}},
};

[[noreturn]] void unknown(std::string_view kind, const char* name) {
    kit::not_supported("the oracle knows no " + std::string(kind) + " " +
                       kit::in_double_quotes(name));
}

// From a table of reference/spec.
template <typename Table>
auto chosen(const Table& table, const char* name, std::string_view kind) {
    for (const auto& [known, value] : table)
        if (known == kit::text_of(name)) return value;
    unknown(kind, name);
}

class Reader {
public:
    Reader(const kit::Arguments& arguments, kit::Buffers buffers) : call_(arguments, buffers) {}

    Request read() {
        call_.expect_host();
        read_names();
        if (request_.action == Action::dequantize)
            read_dequantize();
        else
            read_others();
        call_.expect_no_more();
        return request_;
    }

private:
    void read_names() {
        const mx_operation& asked = call_.operation();
        request_.action = kit::choose(actions, asked.name, "operation");
        read_format(asked.format);
        const Quantizer* dialect = find_quantizer(kit::text_of(asked.dialect));
        if (dialect == nullptr || !dialect->has_e8m0_scales()) unknown("dialect", asked.dialect);
        request_.rules = *dialect;
        if (request_.action == Action::quantize || request_.action == Action::dequantize)
            request_.blocks = kit::blocks_of(asked);
        if (request_.action == Action::convert && !request_.casts_to_scale())
            read_element_rules(asked);
    }

    void read_format(const char* name) {
        const bool converts = request_.action == Action::convert;
        if (converts && kit::text_of(name) == formats::e8m0.name) {
            request_.element = formats::e8m0;
            return;
        }
        for (const BlockFormat& format : mx_block_formats) {
            if ((converts ? format.element().name : format.name) != kit::text_of(name)) continue;
            request_.format = format;
            request_.element = format.element();
            return;
        }
        unknown("format", name);
    }

    void read_element_rules(const mx_operation& asked) {
        if (const RandomWords* words = kit::find(random_words, kit::text_of(asked.rounding))) {
            request_.random = *words;
            request_.rules.element_rounding = Rounding::stochastic;
        } else {
            request_.rules.element_rounding = chosen(roundings, asked.rounding, "rounding");
        }
        request_.rules.element_overflow = chosen(overflows, asked.overflow, "overflow");
        if (asked.subnormals != nullptr)
            request_.rules.subnormals =
                chosen(subnormal_rules, asked.subnormals, "rule for subnormals");
    }

    void read_dequantize() {
        const kit::Tensor codes = call_.input("the codes");
        const kit::Shape whole = codes.shape();
        request_.inputs[0] = view(codes, request_.element.name, whole);
        request_.inputs[1] =
            view(call_.input("the scales"), formats::e8m0.name, request_.blocks.grid(whole));
        request_.outputs[0] = values(call_.output("the values"), whole);
    }

    void read_others() {
        const kit::Tensor input = call_.input("the values");
        const kit::Shape whole = input.shape();
        request_.inputs[0] = values(input, whole);
        if (request_.random.bits > 0) {
            const std::int64_t shared = request_.random.values_per_word;
            request_.inputs[1] = view(call_.input("the random bits"), "u32",
                                      {whole.rows, (whole.columns + shared - 1) / shared});
        }
        const bool only_scales = request_.action == Action::encode_scale;
        request_.outputs[0] = view(call_.output("the first output"),
                                   only_scales ? formats::e8m0.name : request_.element.name, whole);
        if (request_.action == Action::quantize)
            request_.outputs[1] =
                view(call_.output("the scales"), formats::e8m0.name, request_.blocks.grid(whole));
    }

    // The type of the value tensor names the format of the values.
    View values(const kit::Tensor& tensor, kit::Shape shape) {
        for (const std::string_view type : input_types)
            if (type == tensor.type()) request_.values = *find_element_format(type);
        if (request_.values.name != tensor.type()) unknown("value type", tensor.raw().type);
        return view(tensor, request_.values.name, shape);
    }

    static View view(const kit::Tensor& tensor, std::string_view type, kit::Shape shape) {
        const View strided = tensor.strided(static_cast<std::int64_t>(element_width(type)));
        tensor.expect_type(type);
        tensor.expect_shape(shape);
        return strided;
    }

    kit::Call call_;
    Request request_;
};

}  // namespace

std::vector<Request> read_requests(const kit::Arguments& call, kit::Buffers buffers) {
    std::vector<Request> requests;
    for (const kit::Arguments& side : kit::Sides(call))
        requests.push_back(Reader(side, buffers).read());
    return requests;
}

}  // namespace mx::selftest
