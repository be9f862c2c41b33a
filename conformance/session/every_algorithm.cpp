// See every_algorithm.hpp.
#include "conformance/session/every_algorithm.hpp"

#include <utility>

#include "conformance/run/evidence.hpp"
#include "reference/problem/problem.hpp"

namespace mx::session {

std::vector<PlannedCase> by_every_algorithm(std::vector<PlannedCase> cases, const Client& client) {
    std::vector<PlannedCase> all;
    for (PlannedCase& planned : cases) {
        const bool has_choice = is_gemm(planned.c) && planned.c.gemm.algorithm == "default";
        const auto names = has_choice
                               ? client.algorithms(question_without_data(planned.c))
                               : Expected<std::vector<std::string>>(std::vector{std::string()});
        const bool is_one = !names || names.value().empty() || names.value().front().empty();
        if (is_one) {
            all.push_back(std::move(planned));
            continue;
        }
        for (const std::string& name : names.value()) {
            all.push_back(planned);
            all.back().c.gemm.algorithm = name;
        }
    }
    return all;
}

}  // namespace mx::session
