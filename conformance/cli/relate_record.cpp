// See relate_record.hpp.
#include "conformance/cli/relate_record.hpp"

#include "conformance/cli/conclusion.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/session/results_folder.hpp"

namespace mx::cli {

Status prepare_record(const std::string& out) {
    return out.empty() ? success() : session::prepare_folder(out);
}

int write_record(results::Run run, const std::string& out, int exit_code) {
    auto writer = session::FolderRecord::begin(results_folder(out), run.header, complain);
    if (!writer) return fail_with(writer.error());
    for (const results::CaseResult& result : run.cases)
        if (const Status written = writer.value().append(result); !written)
            return fail_with(written.error());
    run.complete = run.cases.size() == run.header.case_count;
    if (run.complete) {
        run.footer = results::count_cases(run.cases);
        run.footer.exit_code = exit_code;
        if (const Status written = writer.value().finish(run.footer); !written)
            return fail_with(written.error());
    }
    return conclude(run, {out, "", std::to_string(run.cases.size()) + " relations", exit_code});
}

}  // namespace mx::cli
