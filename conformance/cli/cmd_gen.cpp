// mxcheck gen: the requests of a plan as a file, for a device that is not here; or as vectors with
// the right answers, for a testbench.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/run_options.hpp"
#include "conformance/session/pack.hpp"
#include "conformance/session/shard.hpp"
#include "conformance/session/vectors.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

struct GenOptions {
    session::PlanOptions plan;
    std::string form = "hex";
    std::string out;
    bool expected = false;
    std::uint64_t bytes_max = std::uint64_t{1} << 32;

    session::RightAnswers answers() const {
        return expected ? session::RightAnswers::given : session::RightAnswers::left_out;
    }
};

struct Written {
    std::uint64_t cases = 0;
    std::uint64_t bytes = 0;
    std::uint64_t unanswered = 0;
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

Expected<Written> write_vectors(const std::vector<Case>& cases, Sources& sources,
                                const GenOptions& options) {
    const auto writer = session::VectorWriter::open(
        {options.out, *session::vector_form_named(options.form), version_text()});
    if (!writer) return writer.error();
    Written written;
    for (const Case& c : cases) {
        const auto source = sources.open(c);
        if (!source) return source.error();
        const session::VectorRequest request = session::vectors_of(
            c, make_inputs(c, *source.value()), {++written.cases, cases.size()}, options.answers());
        for (const session::VectorTensor& tensor : request.tensors)
            written.bytes += tensor.bytes.size();
        written.unanswered += request.unanswered.empty() ? 0 : 1;
        if (const Status added = writer.value()->add(request); !added) return added.error();
    }
    if (const Status finished = writer.value()->finish(); !finished) return finished.error();
    return written;
}

std::uint64_t size_of(const std::vector<Case>& cases, const GenOptions& options) {
    if (const auto form = session::vector_form_named(options.form))
        return session::vectors_size(cases, *form, options.answers());
    return session::pack_size(cases, *pipe::form_named(options.form));
}

// A level may ask for more than a disk holds, and nobody sees that from its name.
Status check_size(const std::vector<Case>& cases, const GenOptions& options) {
    const std::uint64_t bytes = size_of(cases, options);
    const std::string size = "the data of these " + counted(cases.size(), "request") + " are " +
                             grouped(bytes) + " bytes";
    if (bytes > options.bytes_max)
        return bad_input(size + ", more than --max-bytes " + std::to_string(options.bytes_max) +
                         "; --shard I/N writes a part, and binary and npz are the smallest forms");
    std::error_code unknown;
    const fs::path folder = fs::absolute(options.out, unknown).parent_path();
    const fs::space_info space = fs::space(folder, unknown);
    if (!unknown && bytes > space.available)
        return Error{ErrorKind::system, size + ", and " + folder.string() + " has room for " +
                                            grouped(space.available)};
    return success();
}

int gen(const GenOptions& options) {
    const Status form =
        check_name("form", options.form, {"hex", "binary", "readmemh", "csv", "json", "npz"});
    if (!form) return fail_with(form.error());
    const bool is_pack = !session::vector_form_named(options.form);
    if (is_pack && options.expected)
        return fail_with(
            bad_input("--expected goes with the forms readmemh, csv, json and npz; of "
                      "a pack, check knows the right answers"));
    Sources sources;
    const auto shard = session::shard_of(options.plan.shard, session::process_environment());
    if (!shard) return fail_with(shard.error());
    auto cases = session::planned(options.plan, sources);
    if (!cases) return fail_with(cases.error());
    const std::vector<Case> once =
        each_once(session::of_shard(std::move(cases).value(), shard.value()));
    if (const Status fits = check_size(once, options); !fits) return fail_with(fits.error());
    const auto written =
        is_pack ? write_pack(once, sources, options) : write_vectors(once, sources, options);
    if (!written) return fail_with(written.error());
    std::printf("wrote %s: %llu requests, %llu bytes%s\n", options.out.c_str(),
                static_cast<unsigned long long>(written.value().cases),
                static_cast<unsigned long long>(written.value().bytes),
                is_pack ? "" : " of tensors");
    if (written.value().unanswered > 0)
        std::printf("%s without right answers, each of which says why\n",
                    counted(written.value().unanswered, "request").c_str());
    return exit_conformant;
}

}  // namespace

Command gen_command() {
    auto o = std::make_shared<GenOptions>();
    std::vector<Option> options{
        {"--out", "the file to write; of readmemh a folder", &o->out, true},
        {"--form",
         "a pack for check, its data as hex (text) or binary; or vectors for a testbench: "
         "readmemh, "
         "csv, json, npz",
         &o->form},
        {"--expected", "the right answers, too, in the vectors", &o->expected},
        {"--max-bytes", "refuse to write files whose data are more", &o->bytes_max}};
    for (Option& option : options_of(o->plan)) options.push_back(std::move(option));
    return {"gen", "write the requests of a plan to a file, for a device elsewhere",
            "mxcheck gen --suite quantize --dialect ocp --level smoke --out ocp.pack\n"
            "  ./mydevice < ocp.pack > ocp.answers\n"
            "  mxcheck check ocp.pack ocp.answers\n"
            "  mxcheck gen --form readmemh --expected --suite quantize --dialect ocp --level smoke "
            "--out vectors",
            std::move(options), [o] { return gen(*o); }};
}

}  // namespace mx::cli
