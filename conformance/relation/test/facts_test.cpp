// The table of facts against the oracle: in every dialect, format and type a claimed relation holds
// of the oracle, and one that is not claimed is broken by it.
#include <gtest/gtest.h>

#include <map>

#include "conformance/relation/facts.hpp"
#include "conformance/relation/suite.hpp"
#include "conformance/selftest/oracle_device.hpp"
#include "device/host/client.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::relation {
namespace {

const Client& oracle() {
    static const auto client = open_client(
        {.name = "oracle", .get_api = [](std::uint32_t) { return selftest::oracle_device_api(); }});
    return client.value();
}

Setting setting_of(const std::string& operation, const Quantizer& dialect,
                   const BlockFormat& format, std::string_view type) {
    return {.operation = operation,
            .format = std::string(format.name),
            .dialect = std::string(dialect.name),
            .values = std::string(type),
            .elements = std::string(format.element().name)};
}

// What a relation was not claimed for, by its reason, and whether anything broke it there.
using Witnesses = std::map<std::pair<std::string, std::string>, bool>;

constexpr std::uint64_t samples_for_a_witness = 12;

void hold_to_facts(const Setting& setting, std::uint64_t samples, Witnesses& witnesses) {
    Subject subject(oracle(), setting);
    for (const Relation& relation : relations()) {
        if (relation.operation != setting.operation) continue;
        const std::string where = std::string(relation.name) + " " + setting.operation + " " +
                                  setting.format + " " + setting.dialect + " " + setting.values;
        const std::string reason = relation.not_claimed(setting);
        bool is_seen = false;
        for (std::uint64_t seed = 0; seed < (reason.empty() ? samples : samples_for_a_witness);
             ++seed) {
            const Result result =
                relate_once(subject, relation, make_sample(relation, setting, seed));
            if (result.standing == Standing::unasked) break;
            EXPECT_TRUE(result.standing != Standing::broken && result.standing != Standing::faulty)
                << where << ": " << result.finding.broken << result.reason << "\n"
                << result.finding.first << "\n"
                << result.finding.second;
            is_seen = is_seen || result.standing == Standing::unlike;
            if (result.standing != Standing::held && result.standing != Standing::seen) break;
        }
        if (!reason.empty()) witnesses[{where, reason}] = is_seen;
    }
}

void expect_all_seen(const Witnesses& witnesses) {
    for (const auto& [what, seen] : witnesses)
        EXPECT_TRUE(seen) << what.first << " is not claimed (" << what.second
                          << "), and nothing broke it";
}

TEST(Facts, OfEveryDialectAreThoseOfTheOracle) {
    Witnesses witnesses;
    for (const Quantizer& dialect : e8m0_quantizers)
        for (const BlockFormat& format : mx_block_formats)
            for (const std::string_view type : input_types)
                if (dialect.is_known() && dialect.quantizes(format) && dialect.reads(type))
                    hold_to_facts(setting_of("quantize", dialect, format, type), 2, witnesses);
    expect_all_seen(witnesses);
}

TEST(Facts, OfDequantizeAreThoseOfTheOracle) {
    Witnesses witnesses;
    for (const BlockFormat& format : mx_block_formats)
        for (const std::string_view type : input_types)
            hold_to_facts(setting_of("dequantize", *find_quantizer("ocp"), format, type), 2,
                          witnesses);
    expect_all_seen(witnesses);
}

}  // namespace
}  // namespace mx::relation
