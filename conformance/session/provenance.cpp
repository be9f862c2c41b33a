// See provenance.hpp.
#include "conformance/session/provenance.hpp"

#include <sys/utsname.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

#include "conformance/data/suite.hpp"
#include "reference/base/files.hpp"
#include "reference/proof/sha256.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"
#include "reference/spec/verification.hpp"

namespace mx::session {
namespace {

// The value after "key" and a separator in a file of lines, "unknown" without one.
std::string value_in_file(const char* path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        std::string value = line.substr(key.size());
        const std::size_t start = value.find_first_not_of(" \t:=\"");
        const std::size_t end = value.find_last_not_of(" \t\"");
        return start == std::string::npos ? "unknown" : value.substr(start, end - start + 1);
    }
    return "unknown";
}

std::string kernel_text() {
    utsname name{};
    if (uname(&name) != 0) return "unknown";
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string format_row(const ElementFormat& f) {
    return std::string(f.name) + " " + std::to_string(f.sign_bits) + " " +
           std::to_string(f.exponent_bits) + " " + std::to_string(f.mantissa_bits) + " " +
           std::to_string(f.exponent_bias) + " " +
           std::to_string(static_cast<int>(f.zero_exponent)) + " " +
           std::to_string(static_cast<int>(f.specials)) + "\n";
}

std::string format_rows() {
    std::string text;
    for (const ElementFormat& f : element_formats) text += format_row(f);
    for (const BlockFormat& f : block_formats)
        text += std::string(f.name) + " " + std::string(f.element().name) + " " +
                std::string(f.scale().name) + " " + std::to_string(f.block_rows) + "x" +
                std::to_string(f.block_columns) + "\n";
    return text;
}

template <typename... Numbers>
std::string numbers_text(Numbers... numbers) {
    return ((" " + std::to_string(static_cast<std::uint32_t>(numbers))) + ...);
}

std::string row_text(const ScaleCast& cast) {
    const auto& [rounding, underflow, byte_min, byte_max, overflow, infinity, nan, zero, negative] =
        cast;
    return numbers_text(rounding, underflow, byte_min, byte_max, overflow, infinity, nan, zero,
                        negative);
}

// Every field that decides bits. A field that is added to the row does not compile here until it
// is hashed, too.
std::string row_text(const Quantizer& row) {
    [[maybe_unused]] const auto& [name, title, source, waits, scale_type, formats, inputs,
                                  transform, subnormals, nan_in_block, infinity_in_block,
                                  amax_rounding, amax_min, zero_block, tensor_scale, scale_max,
                                  scale_ratio, ratio_min, useless_amax, encode_overflow, scale_rule,
                                  scale_cast, candidate_error, inverse, quotient, element_rounding,
                                  element_overflow, nan_code, sign_of_zero, way_back, nan_value,
                                  open] = row;
    return std::string(name) + (waits.empty() ? "" : " waits") +
           numbers_text(scale_type, formats, inputs, transform, subnormals, nan_in_block,
                        infinity_in_block, amax_rounding, amax_min, zero_block, tensor_scale,
                        scale_max, scale_ratio, ratio_min, useless_amax, encode_overflow,
                        scale_rule) +
           row_text(scale_cast) +
           numbers_text(candidate_error, inverse, quotient, element_rounding, element_overflow,
                        nan_code, sign_of_zero, way_back, nan_value, open) +
           "\n";
}

std::string dialect_rows() {
    std::string text;
    for (const Quantizer& row : quantizers) text += row_text(row);
    return text;
}

// How each row is known: another run of a library makes other tables, though no bit differs.
std::string verification_rows() {
    std::string text;
    for (const Verification& entry : verifications)
        text += std::string(entry.rows) + ": " + text_of(entry) + "\n";
    return text;
}

std::string suite_texts() {
    std::string text;
    for (const Suite& suite : built_in_suites()) text += suite.name + "\n" + suite.text;
    return text;
}

// SHA-256 of the format table, the dialect table, how its rows are known, and the suites, as text.
std::vector<results::Field> table_hashes() {
    return {{"formats", sha256(format_rows())},
            {"dialects", sha256(dialect_rows())},
            {"verification", sha256(verification_rows())},
            {"suites", sha256(suite_texts())}};
}

}  // namespace

results::RunHeader new_header(const Build& build) {
    results::RunHeader header;
    header.program_version = build.version;
    header.commit = build.commit;
    header.dirty = build.is_dirty;
    header.started = utc_now();
    header.environment = environment_facts(build);
    header.table_hashes = table_hashes();
    return header;
}

std::vector<results::Field> environment_facts(const Build& build) {
    const unsigned cores = std::thread::hardware_concurrency();
    return {
        {"cpu", value_in_file("/proc/cpuinfo", "model name")},
            {"cores", cores == 0 ? "unknown" : std::to_string(cores)},
            {"os", value_in_file("/etc/os-release", "PRETTY_NAME")}, {"kernel", kernel_text()},
#if defined(__clang__)
            {"compiler", "clang " __clang_version__},
#else
            {"compiler", "g++ " __VERSION__},
#endif
            {"build", build.type},
    };
}

std::string file_hash(const std::string& path) {
    const auto bytes = text_of_file(path);
    return bytes ? sha256(bytes.value()) : "unknown";
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace mx::session
