// mxcheck gen: the requests of a plan as a file, for a device that is not here.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/session/pack.hpp"
#include "conformance/session/shard.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

struct GenOptions {
    session::PlanOptions plan;
    std::string form = "hex";
    std::string out;
    std::uint64_t bytes_max = std::uint64_t{1} << 32;
};

struct Written {
    std::uint64_t cases = 0;
    std::uint64_t bytes = 0;
};

namespace fs = std::filesystem;

// A plan may hold a case twice, a file of answers may not.
std::vector<Case> each_once(const std::vector<PlannedCase>& cases) {
    std::set<std::string> seen;
    std::vector<Case> once;
    for (const PlannedCase& each : cases)
        if (seen.insert(print(each.c)).second) once.push_back(each.c);
    return once;
}

Expected<Written> write_requests(const std::vector<Case>& cases, Sources& sources,
                                 const GenOptions& options, const fs::path& path) {
    const pipe::Form form = *pipe::form_named(options.form);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    Written written;
    for (const Case& c : cases) {
        const auto source = sources.open(c);
        if (!source) return source.error();
        const std::vector<CodeTensor> inputs = make_inputs(c, *source.value());
        std::vector<std::vector<std::byte>> storage;
        const Question question = make_question(c, inputs, storage);
        const session::PackPlace place{++written.cases, cases.size()};
        const std::string text = session::pack_text({c, question, place}, form);
        file << text;
        written.bytes += text.size();
    }
    file.close();
    if (!file)
        return Error{ErrorKind::system, options.out + " cannot be written, or not to its end"};
    return written;
}

// Whole or not at all: beside the file that is meant, which changes when the last request is there.
// What is no regular file, such as a pipe, is written to as it is.
Expected<Written> write_pack(const std::vector<Case>& cases, Sources& sources,
                             const GenOptions& options) {
    std::error_code failed, ignored;
    if (fs::exists(options.out, ignored) && !fs::is_regular_file(options.out, ignored))
        return write_requests(cases, sources, options, options.out);
    const fs::path target = fs::weakly_canonical(options.out, ignored);
    fs::path partial = target;
    partial += ".partial";
    const auto written = write_requests(cases, sources, options, partial);
    if (written) fs::rename(partial, target, failed);
    if (!written || failed) fs::remove(partial, ignored);
    if (!failed) return written;
    return Error{ErrorKind::system, options.out + " cannot be written: " + failed.message()};
}

// A level may ask for more than a disk holds, and nobody sees that from its name.
Status check_size(const std::vector<Case>& cases, const GenOptions& options) {
    const std::uint64_t bytes = session::pack_size(cases, *pipe::form_named(options.form));
    const std::string size = "the data of these " + counted(cases.size(), "request") + " are " +
                             grouped(bytes) + " bytes";
    if (bytes > options.bytes_max)
        return bad_input(size + ", more than --max-bytes " + std::to_string(options.bytes_max) +
                         "; --shard I/N writes a part, --form binary half as many");
    std::error_code unknown;
    const fs::path folder = fs::absolute(options.out, unknown).parent_path();
    const fs::space_info space = fs::space(folder, unknown);
    if (!unknown && bytes > space.available)
        return Error{ErrorKind::system, size + ", and " + folder.string() + " has room for " +
                                            grouped(space.available)};
    return success();
}

int gen(const GenOptions& options) {
    const Status form = check_name("form", options.form, {"hex", "binary"});
    if (!form) return fail_with(form.error());
    Sources sources;
    const auto shard = session::shard_of(options.plan.shard, session::process_environment());
    if (!shard) return fail_with(shard.error());
    auto cases = session::planned(options.plan, sources);
    if (!cases) return fail_with(cases.error());
    const std::vector<Case> once =
        each_once(session::of_shard(std::move(cases).value(), shard.value()));
    if (const Status fits = check_size(once, options); !fits) return fail_with(fits.error());
    const auto written = write_pack(once, sources, options);
    if (!written) return fail_with(written.error());
    std::printf("wrote %s: %llu requests, %llu bytes\n", options.out.c_str(),
                static_cast<unsigned long long>(written.value().cases),
                static_cast<unsigned long long>(written.value().bytes));
    return exit_conformant;
}

}  // namespace

Command gen_command() {
    auto o = std::make_shared<GenOptions>();
    std::vector<Option> options{
        {"--out", "the file to write", &o->out, true},
        {"--form", "data as hex (text) or binary", &o->form},
        {"--max-bytes", "refuse to write a pack whose data are more", &o->bytes_max}};
    for (Option& option : options_of(o->plan)) options.push_back(std::move(option));
    return {"gen", "write the requests of a plan to a file, for a device elsewhere",
            "mxcheck gen --suite quantize --dialect ocp --level smoke --out ocp.pack\n"
            "  ./mydevice < ocp.pack > ocp.answers\n"
            "  mxcheck check ocp.pack ocp.answers",
            std::move(options), [o] { return gen(*o); }};
}

}  // namespace mx::cli
