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
#include "conformance/mutants/planted_causes.hpp"
#include "conformance/mutants/real_scale/real_scale_mutants.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::selftest {

namespace {

// A library of planted bugs, and what its subjects are called before the name of the bug.
struct Library {
    std::span<const mutants::Mutant> table;
    std::string file;
    std::string prefix;
};

std::string path_of(const Library& library, const std::string& folder) {
    return (std::filesystem::path(folder) / library.file).string();
}

bool is_there(const Library& library, const std::string& folder) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path_of(library, folder), ignored);
}

Status check_folder(const std::string& folder) {
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored)) return success();
    return bad_input("there is no folder of planted bugs at '" + folder + "'");
}

Subject subject_of(const mutants::Mutant& mutant, const Library& library,
                   const std::string& folder) {
    const std::string configuration = "bug=" + std::string(mutant.name);
    return {library.prefix + std::string(mutant.name), std::string(mutant.description),
            std::string(mutant.shows_on),
            DeviceSource{.name = library.file + ":" + configuration,
                         .path = path_of(library, folder),
                         .configuration = configuration},
            std::string(mutants::planted_cause(library.prefix, mutant.name))};
}

// Those of a GPU have no canary.
Cast cast_of(const Library& library, const std::string& folder) {
    Cast cast;
    for (const mutants::Mutant& mutant : library.table) {
        Subject subject = subject_of(mutant, library, folder);
        if (mutant.name == "none")
            cast.base = std::move(subject);
        else if (mutant.name == "canary")
            cast.canary = std::move(subject);
        else
            cast.bugs.push_back(std::move(subject));
    }
    return cast;
}

// Of a library that every build has.
Expected<Cast> found_cast(const Library& library, const std::string& folder) {
    if (is_there(library, folder)) return cast_of(library, folder);
    return bad_input("the planted bugs of " + library.file + " are missing in '" + folder + "'");
}

}  // namespace

Expected<Subjects> find_subjects(const std::string& folder) {
    auto found = find_gpu_subjects(folder);
    if (!found) return found.error();
    Subjects subjects = std::move(found).value();
    auto cast = found_cast({mutants::table, "mutants.so", ""}, folder);
    if (!cast) return cast.error();
    auto gemm = found_cast({mutants::gemm::table, "gemm_mutants.so", "gemm_"}, folder);
    if (!gemm) return gemm.error();
    auto real_scales =
        found_cast({mutants::real_scale::table, "real_scale_mutants.so", "real_scale_"}, folder);
    if (!real_scales) return real_scales.error();
    subjects.base = std::move(cast.value().base);
    subjects.canary = std::move(cast.value().canary);
    subjects.bugs = std::move(cast.value().bugs);
    subjects.gemm = std::move(gemm).value();
    subjects.real_scales = std::move(real_scales).value();
    return subjects;
}

Expected<Subjects> find_gpu_subjects(const std::string& folder) {
    const Status status = check_folder(folder);
    if (!status) return status.error();
    const Library library{mutants::gpu::table, "gpu_mutants.so", "gpu_"};
    Cast cast = cast_of(library, folder);
    Subjects subjects;
    subjects.gpu.base = std::move(cast.base);
    subjects.gpu.bugs = std::move(cast.bugs);
    if (!is_there(library, folder))
        subjects.gpu.absence = "they were not built, which takes an nvcc of CUDA 12.9 or later";
    return subjects;
}

bool gpu_bugs_answer(const Case& c) {
    return c.operation == OperationKind::quantize && element_format_of(c) == formats::e4m3 &&
           c.axis == BlockAxis::row && c.block == block_size && c.scales == ScaleStorage::linear &&
           c.packing == &packing_rows::bytes && (c.type == formats::f32 || c.type == formats::bf16);
}

std::vector<std::string> bug_dialects() {
    return {"ocp", "nv"};
}

std::vector<std::string> real_scale_bug_dialects() {
    return {"te-nvfp4",      "te-nvfp4-sr",          "te-nvfp4-4over6-mae", "te-nvfp4-rht",
            "torchao-nvfp4", "torchao-nvfp4-single", "te-fp8-block",        "te-fp8-block-pow2",
            "deepgemm-fp8",  "te-fp8-current",       "te-fp8-delayed"};
}

std::vector<std::string> known_dialects() {
    std::vector<std::string> names;
    for (const Quantizer& dialect : quantizers)
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
