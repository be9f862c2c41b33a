// mxcheck bench: the throughput of a device beside the roofs of the same run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "bench/gpu.hpp"
#include "bench/product_jobs.hpp"
#include "bench/throughput.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/session/results_folder.hpp"

namespace mx::cli {
namespace {

struct BenchOptions {
    DeviceChoice choice;
    std::vector<std::string> operations, formats, types, shapes, gemm_shapes;
    std::string dialect, data = "realistic", place = "auto", out = "out";
    std::uint64_t milliseconds = 500;
};

// The grids that are measured unless the user names another.
struct Grid {
    std::vector<std::string> shapes, gemm_shapes;
};
const Grid host_grid{{"64x4096", "4096x4096"}, {"256x256x256"}};
const Grid gpu_grid{{"1024x4096", "16384x16384"}, {"4096x4096x4096", "8192x8192x8192"}};
const std::vector<std::string> all_operations{"quantize", "dequantize", "gemm"};
const std::vector<std::string> usual_formats{"mxfp8-e4m3", "mxfp6-e3m2", "mxfp4-e2m1"};

struct NamedData {
    const char* name;
    bench::Data data;
};
constexpr NamedData data_kinds[] = {{"realistic", bench::Data::realistic},
                                    {"random_bits", bench::Data::random_bits},
                                    {"subnormals", bench::Data::subnormals}};

Expected<bench::Data> data_of(const std::string& name) {
    if (name == "zeros")
        return bad_input(
            "--data zeros is refused: zeros are faster to fetch and to compute than "
            "anything real, so no number measured on them is a headline");
    std::vector<std::string> names;
    for (const NamedData& kind : data_kinds) {
        if (name == kind.name) return kind.data;
        names.emplace_back(kind.name);
    }
    return check_name("data", name, names).error();
}

// Tensors of our own devices for NVIDIA's GPUs lie where these compute; of the one for AMD's they
// lie on the host, because there is no copy to measure it against.
Expected<bool> is_on_gpu(const BenchOptions& options) {
    if (const Status known = check_name("place", options.place, {"auto", "host", "cuda"}); !known)
        return known.error();
    const bool is_ours =
        options.choice.command.empty() && place_of_device(options.choice.device) == "cuda";
    if (options.place != "cuda" && !(options.place == "auto" && is_ours)) return false;
    const Status found = bench::gpu::find();
    if (!found) return found.error();
    return true;
}

// In this very process: calls are timed, and a GPU's tensors lie where it computes.
Expected<Device> opened(const DeviceChoice& choice) {
    const auto source = device_source(choice);
    if (!source) return source.error();
    return Device::open(source.value());
}

// Does the dialect that is named quantize any of them? Of one that it does not the device says so
// in its row. GEMMs ask for no dialect.
Status check_formats(const bench::Wish& wish) {
    if (wish.operations == std::vector<std::string>{"gemm"}) return success();
    std::string formats;
    for (const auto& [format, dialect] : wish.formats) {
        if (find_quantizer(dialect)->quantizes(*find_block_format(format))) return success();
        formats += (formats.empty() ? "" : ", ") + format;
    }
    return bad_input("dialect '" + wish.formats.front().dialect +
                     "' quantizes none of these formats: " + formats);
}

// Each under the dialect that is named, or the first that quantizes it.
Expected<std::vector<bench::CodedAs>> formats_of(const BenchOptions& options) {
    if (!options.dialect.empty())
        if (const Status known = check_name("dialect", options.dialect, quantizer_names()); !known)
            return known.error();
    std::vector<bench::CodedAs> formats;
    for (const std::string& name : options.formats.empty() ? usual_formats : options.formats) {
        if (const Status known = check_name("format", name, block_format_names()); !known)
            return known.error();
        formats.push_back({name, options.dialect.empty() ? usual_quantizer(*find_block_format(name))
                                                         : options.dialect});
    }
    return formats;
}

Expected<bench::Wish> wish_of(const BenchOptions& options) {
    const auto data = data_of(options.data);
    if (!data) return data.error();
    const auto on_gpu = is_on_gpu(options);
    if (!on_gpu) return on_gpu.error();
    const auto formats = formats_of(options);
    if (!formats) return formats.error();
    const Grid& grid = on_gpu.value() ? gpu_grid : host_grid;
    const auto or_usual = [](const std::vector<std::string>& given,
                             const std::vector<std::string>& usual) {
        return given.empty() ? usual : given;
    };
    bench::Wish wish{or_usual(options.operations, all_operations),
                     formats.value(),
                     or_usual(options.types, {"f32", "bf16"}),
                     or_usual(options.shapes, grid.shapes),
                     or_usual(options.gemm_shapes, grid.gemm_shapes),
                     data.value(),
                     on_gpu.value(),
                     1e-3 * static_cast<double>(options.milliseconds)};
    struct Check {
        const char* kind;
        const std::vector<std::string>& given;
        std::vector<std::string> known;
    };
    for (const Check& check : {Check{"operation", wish.operations, all_operations},
                               Check{"type", wish.types, {"f32", "bf16", "f16"}}})
        for (const std::string& name : check.given)
            if (const Status known = check_name(check.kind, name, check.known); !known)
                return known.error();
    if (const Status fits = check_formats(wish); !fits) return fits.error();
    for (const std::string& shape : wish.shapes)
        if (const auto sides = bench::shape_of(shape, 2); !sides) return sides.error();
    for (const std::string& shape : wish.gemm_shapes)
        if (const auto sides = bench::shape_of(shape, 3); !sides) return sides.error();
    return wish;
}

// Everything that decides the rows, what was left to be chosen too.
std::vector<std::string> argv_of(const BenchOptions& options, const bench::Wish& wish) {
    const std::string kind = options.choice.command.empty() ? "--device=" : "--device-cmd=";
    std::vector<std::string> argv{"mxcheck",
                                  "bench",
                                  kind + shown_name(options.choice),
                                  "--data=" + options.data,
                                  "--milliseconds=" + std::to_string(options.milliseconds),
                                  std::string("--place=") + (wish.on_gpu ? "cuda" : "host")};
    if (!options.dialect.empty()) argv.push_back("--dialect=" + options.dialect);
    struct List {
        const char* option;
        std::vector<std::string> values;
    };
    std::vector<std::string> formats;
    for (const bench::CodedAs& coded : wish.formats) formats.push_back(coded.format);
    for (const List& list : {List{"--operation=", wish.operations}, List{"--format=", formats},
                             List{"--type=", wish.types}, List{"--shape=", wish.shapes},
                             List{"--gemm-shape=", wish.gemm_shapes}})
        for (const std::string& value : list.values) argv.push_back(list.option + value);
    return argv;
}

results::BenchHeader header_of(const BenchOptions& options, const bench::Wish& wish,
                               const Device& device) {
    results::BenchHeader header;
    header.program_version = program_version();
    header.commit = this_build().commit;
    header.dirty = this_build().is_dirty;
    header.argv = argv_of(options, wish);
    header.started = session::utc_now();
    header.device = shown_name(options.choice);
    header.data = options.data;
    header.place = wish.on_gpu ? "cuda" : "host";
    header.clock = device.clock() == nullptr ? "host" : "device";
    for (const auto& [key, value] : device.facts()) header.device_facts.push_back({key, value});
    header.environment = session::environment_facts(this_build());
    return header;
}

void print_row(const results::BenchRow& row) {
    if (!row.reason.empty()) {
        std::printf("%-68s not measured: %s\n", row.name().c_str(), row.reason.c_str());
        return;
    }
    const bool is_product = row.operations != 0;
    const double amount = static_cast<double>(is_product ? row.operations : row.bytes);
    char share[16] = "     -";
    if (row.roof_share > 0) std::snprintf(share, sizeof share, "%4.0f %%", 100 * row.roof_share);
    std::printf("%-68s %11.1f us %9.1f %-7s %s  spread %.1f %%, noise %.2f %%\n",
                row.name().c_str(), 1e6 * row.seconds, 1e-9 * amount / row.seconds,
                is_product ? "GFLOP/s" : "GB/s", share, 100 * (row.high - row.low) / row.seconds,
                100 * row.noise());
}

Expected<Device> plain_gemm(const bench::Wish& wish) {
    if (!wish.on_gpu || std::ranges::find(wish.operations, "gemm") == wish.operations.end())
        return bad_input("not asked for");
    auto plain = opened({.device = "cublaslt"});
    if (!plain)
        std::fprintf(stderr, "mxcheck: GEMMs have no roof here, cublaslt does not open: %s\n",
                     plain.error().message.c_str());
    return plain;
}

int run_bench(const BenchOptions& options) {
    const auto wish = wish_of(options);
    if (!wish) return fail_with(wish.error());
    auto device = opened(options.choice);
    if (!device) return fail_with(device.error());
    // The best plain GEMM that this machine has; without a GPU there is none.
    Expected<Device> plain = plain_gemm(wish.value());
    // Two clocks cannot be compared: beside a device without its own, calls are timed of both.
    const bool has_clock = device.value().clock() != nullptr;
    const bench::Bench what{device.value(), device.value().clock(),
                            plain ? &plain.value() : nullptr,
                            plain && has_clock ? plain.value().clock() : nullptr};
    if (const Status made = session::prepare_folder(options.out); !made)
        return fail_with(made.error());
    const std::string path = (std::filesystem::path(options.out) / "bench.jsonl").string();
    if (const Status moved = session::move_aside(path, complain); !moved)
        return fail_with(moved.error());
    std::ofstream file(path, std::ios::trunc);
    file << results::line_of(header_of(options, wish.value(), device.value())) << std::flush;
    catch_interrupts();
    std::uint64_t measured = 0;
    const Status done = bench::measure(what, wish.value(), [&](const results::BenchRow& row) {
        file << results::line_of(row) << std::flush;
        print_row(row);
        const bool is_roof = row.what == "copy" || row.what == "plain gemm";
        measured += row.reason.empty() && !is_roof ? 1 : 0;
        return !interrupted() && file.good();
    });
    if (!done) return fail_with(done.error());
    if (!interrupted()) file << results::last_line_of_bench() << std::flush;
    if (!file) return fail_with({ErrorKind::system, path + " cannot be written"});
    std::printf(
        "wrote %s: %llu rows of the device; the percentage is of the roof, a copy or a "
        "plain GEMM of this run\n",
        path.c_str(), static_cast<unsigned long long>(measured));
    if (interrupted()) return exit_incomplete;
    return measured == 0 ? exit_nothing_tested : exit_conformant;
}

}  // namespace

Command bench_command() {
    auto o = std::make_shared<BenchOptions>();
    // The device runs in this very process: nothing can end a call of it.
    std::uint64_t no_timeout = 0;
    std::vector<Option> options = options_of(o->choice, no_timeout);
    std::erase_if(options, [](const Option& option) { return option.name == "--timeout"; });
    for (Option& option : std::vector<Option>{
             {"--operation", "quantize, dequantize, gemm (default all)", &o->operations},
             {"--format", "formats of blocks (default MXFP8 E4M3, MXFP6 E3M2, MXFP4)", &o->formats},
             {"--type", "f32, bf16, f16 (default f32 and bf16)", &o->types},
             {"--dialect", "of quantize and dequantize (default ocp, or of each format its first)",
              &o->dialect},
             {"--shape", "ROWSxCOLUMNS of quantize and dequantize", &o->shapes},
             {"--gemm-shape", "MxNxK", &o->gemm_shapes},
             {"--data", "realistic, random_bits or subnormals; zeros are refused", &o->data},
             {"--place", "where tensors lie: host, cuda, or auto", &o->place},
             {"--milliseconds", "that the samples of one row may take", &o->milliseconds},
             {"--out", "folder for bench.jsonl", &o->out}})
        options.push_back(std::move(option));
    return {"bench", "the throughput of a device beside the limits of this machine",
            "mxcheck bench --device cuda --out now\n  mxcheck report before now",
            std::move(options), [o] { return run_bench(*o); }};
}

}  // namespace mx::cli
