// See conclusion.hpp.
#include "conformance/cli/conclusion.hpp"

#include <algorithm>
#include <cstdio>

#include "conformance/case/fields.hpp"
#include "conformance/cli/arguments.hpp"
#include "conformance/cli/report_files.hpp"
#include "reference/base/text.hpp"
#include "reports/model/summary.hpp"

namespace mx::cli {
namespace {

void print_deviations(const reports::Summary& summary, const std::string& device_argument) {
    for (const reports::OpenDecision& open : summary.deviations)
        std::printf("deviation: %s, %llu places in %llu cases; mxcheck replay %s%s\n",
                    open.decision.c_str(), static_cast<unsigned long long>(open.count),
                    static_cast<unsigned long long>(open.cases),
                    shell_quoted(open.example->case_text).c_str(), device_argument.c_str());
}

void print_waivers(const reports::Summary& summary) {
    for (const reports::WaiverUse& use : summary.waivers)
        if (use.cases != 0)
            std::printf("waived: %llu cases, %s, until %s, %s: %s (%s)\n",
                        static_cast<unsigned long long>(use.cases),
                        results::mismatches_of(*use.waiver).c_str(), use.waiver->expires.c_str(),
                        use.waiver->owner.c_str(), use.waiver->reason.c_str(),
                        use.waiver->link.c_str());
}

// Why, where a headline that says nothing was tested is all there is.
void print_not_run(const reports::Summary& summary) {
    constexpr std::size_t printed_max = 4;
    if (summary.outcome != reports::Outcome::nothing_tested) return;
    for (std::size_t i = 0; i < std::min(summary.not_run.size(), printed_max); ++i) {
        const reports::NotRun& group = summary.not_run[i];
        std::printf("%s: %s, %s: %s\n", std::string(results::name_of(group.verdict)).c_str(),
                    group.operation.c_str(), counted(group.cases, "case").c_str(),
                    printable(group.reason).c_str());
    }
    if (summary.not_run.size() > printed_max)
        std::printf("and %zu more reasons\n", summary.not_run.size() - printed_max);
}

}  // namespace

int conclude(const results::Run& run, const Ending& ending) {
    int code = ending.code;
    const auto files = write_report_files(run, ending.out);
    if (!files) {
        complain(files.error().message);
        code = exit_usage;
    } else {
        for (const std::string& path : files.value()) std::printf("wrote %s\n", path.c_str());
    }
    const reports::Summary summary = reports::summarize(run);
    print_deviations(summary, ending.device_argument);
    print_waivers(summary);
    print_not_run(summary);
    if (!summary.cause.empty()) std::printf("cause: %s\n", summary.cause.c_str());
    std::printf("%s (%s)\n", summary.headline.c_str(), ending.duration.c_str());
    return code;
}

}  // namespace mx::cli
