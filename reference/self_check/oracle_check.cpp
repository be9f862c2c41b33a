// See oracle_check.hpp.
#include "reference/self_check/oracle_check.hpp"

#include <array>
#include <exception>

#include "reference/exact/self_check.hpp"
#include "reference/fast/self_check.hpp"

namespace mx {
namespace {

template <known::Part part>
std::string fast_part() {
    return fast::self_check(part);
}
template <known::Part part>
std::string exact_part() {
    return exact::self_check(part);
}

}  // namespace

std::span<const OracleCheck> oracle_checks() {
    using enum known::Part;
    static const std::array checks{
        OracleCheck{"fast decode", fast_part<decode>},
        OracleCheck{"fast round", fast_part<round>},
        OracleCheck{"fast scale", fast_part<scale>},
        OracleCheck{"fast block", fast_part<block>},
        OracleCheck{"fast dot", fast_part<dot>},
        OracleCheck{"exact decode", exact_part<decode>},
        OracleCheck{"exact round", exact_part<round>},
        OracleCheck{"exact scale", exact_part<scale>},
        OracleCheck{"exact block", exact_part<block>},
        OracleCheck{"exact dot", exact_part<dot>},
    };
    static_assert(checks.size() == 2 * known::parts.size());
    return checks;
}

int oracle_answer_count() {
    return known::answer_count();
}

std::string outcome_of(const OracleCheck& check) {
    try {
        return check.run();
    } catch (const std::exception& error) {
        return std::string("threw ") + error.what();
    } catch (...) {
        return "threw what is no exception";
    }
}

std::string broken_oracle(const std::string& what_is_wrong) {
    return "this build's oracle is broken: " + what_is_wrong + "; built by " + oracle_built_by +
           "; nothing was judged";
}

std::string fault_of_oracle(std::span<const OracleCheck> checks) {
    for (const OracleCheck& check : checks)
        if (const std::string wrong = outcome_of(check); !wrong.empty())
            return broken_oracle(check.name + ": " + wrong);
    return "";
}

const std::string& oracle_fault(FaultFinder find) {
    static const std::string fault = find(oracle_checks());
    return fault;
}

}  // namespace mx
