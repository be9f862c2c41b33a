// See subjects.hpp.
#include "conformance/selftest/subjects.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "conformance/mutants/gemm/gemm_mutants.hpp"
#include "conformance/mutants/gpu/gpu_mutants.hpp"
#include "conformance/mutants/mutants.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::selftest {

namespace {

bool is_there(const Subject& subject) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(subject.source.path, ignored);
}

Error missing(const Subject& subject, const std::string& folder) {
    return {ErrorKind::bad_input,
            "the planted bug " + subject.source.name + " is missing in '" + folder + "'"};
}

Status check_folder(const std::string& folder) {
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored)) return success();
    return Error{ErrorKind::bad_input, "there is no folder of planted bugs at '" + folder + "'"};
}

struct PlugIn {
    std::string name;
    std::string file;
};

Subject subject_of(const mutants::Mutant& mutant, const PlugIn& plug_in,
                   const std::string& folder) {
    return {
        plug_in.name,
        std::string(mutant.description),
        std::string(mutant.shows_on),
        {.name = plug_in.file, .path = (std::filesystem::path(folder) / plug_in.file).string()}};
}

// Of plug-ins that every build has, named as `plug_in` says.
Expected<GemmSubjects> cast_of(std::span<const mutants::Mutant> table, const std::string& folder,
                               PlugIn (*plug_in)(const std::string& name)) {
    GemmSubjects cast;
    for (const mutants::Mutant& mutant : table) {
        Subject subject = subject_of(mutant, plug_in(std::string(mutant.name)), folder);
        if (!is_there(subject)) return missing(subject, folder);
        if (mutant.name == "none")
            cast.base = std::move(subject);
        else if (mutant.name == "canary")
            cast.canary = std::move(subject);
        else
            cast.bugs.push_back(std::move(subject));
    }
    return cast;
}

Expected<GpuSubjects> find_those_of_a_gpu(const std::string& folder) {
    GpuSubjects subjects;
    for (const mutants::Mutant& mutant : mutants::gpu::table) {
        const std::string name = "gpu_" + std::string(mutant.name);
        Subject subject = subject_of(mutant, {name, name + ".so"}, folder);
        if (mutant.name == "none")
            subjects.base = std::move(subject);
        else
            subjects.bugs.push_back(std::move(subject));
    }
    const auto lost = std::ranges::find_if_not(subjects.bugs, is_there);
    const bool has_base = is_there(subjects.base);
    if (!has_base && std::ranges::none_of(subjects.bugs, is_there))
        subjects.absence = "they were not built, which takes an nvcc of CUDA 12.9 or later";
    else if (!has_base)
        return missing(subjects.base, folder);
    else if (lost != subjects.bugs.end())
        return missing(*lost, folder);
    return subjects;
}

}  // namespace

Expected<Subjects> find_subjects(const std::string& folder) {
    auto found = find_gpu_subjects(folder);
    if (!found) return found.error();
    Subjects subjects = std::move(found).value();
    auto cast = cast_of(mutants::table, folder, [](const std::string& name) {
        return PlugIn{name, "mutant_" + name + ".so"};
    });
    if (!cast) return cast.error();
    auto gemm = cast_of(mutants::gemm::table, folder, [](const std::string& name) {
        return PlugIn{"gemm_" + name, "gemm_" + name + ".so"};
    });
    if (!gemm) return gemm.error();
    subjects.base = std::move(cast.value().base);
    subjects.canary = std::move(cast.value().canary);
    subjects.bugs = std::move(cast.value().bugs);
    subjects.gemm = std::move(gemm).value();
    return subjects;
}

Expected<Subjects> find_gpu_subjects(const std::string& folder) {
    const Status status = check_folder(folder);
    if (!status) return status.error();
    auto gpu = find_those_of_a_gpu(folder);
    if (!gpu) return gpu.error();
    Subjects subjects;
    subjects.gpu = std::move(gpu).value();
    return subjects;
}

bool gpu_bugs_answer(const Case& c) {
    return c.operation == "quantize" && c.format == "mxfp8-e4m3" && c.axis == "row" &&
           c.block == block_size && c.scales == "linear" && c.packing == "bytes" &&
           (c.type == "f32" || c.type == "bf16");
}

std::vector<std::string> bug_dialects() {
    return {"ocp", "nv"};
}

std::vector<std::string> known_dialects() {
    std::vector<std::string> names;
    for (const Dialect& dialect : dialects)
        if (dialect.is_known()) names.emplace_back(dialect.name);
    return names;
}

// The table's own words: a bug of another place says so first.
bool concerns_mxfp8_blocks(const Subject& subject) {
    constexpr std::array<std::string_view, 13> other_places{
        "convert", "dequantize", "cast",      "fp6",  "fp4",       "int8",  "f16:",
        "strided", "tall",       "blocks of", "tile", "both axes", "layout"};
    return std::ranges::none_of(
        other_places, [&](std::string_view place) { return subject.shows_on.starts_with(place); });
}

}  // namespace mx::selftest
