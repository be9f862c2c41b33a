// See product_jobs.hpp.
#include "bench/product_jobs.hpp"

#include <charconv>
#include <cstring>

#include "bench/sampling.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/host/client.hpp"
#include "reference/spec/formats.hpp"

namespace mx::bench {
namespace {

using results::BenchRow;

struct Product {
    std::int64_t m, n, k;
};

TensorSpecs specs_of(const TensorBuffers& buffers) {
    TensorSpecs specs;
    for (const TensorBuffer& buffer : buffers.inputs) specs.inputs.push_back(buffer.spec);
    for (const TensorBuffer& buffer : buffers.outputs) specs.outputs.push_back(buffer.spec);
    return specs;
}

// What is multiplied, how the factors are scaled, and what it becomes.
struct Kind {
    const char* factor;
    const char* scaling;  // "" for none
    const char* out;
    bool is_plain;
};
constexpr Kind kinds[] = {
    {"bf16", "", "bf16", true},
    {"e4m3", "tensor", "bf16", true},
    {"e4m3", "1x32", "bf16", false},
    {"e4m3", "1x32", "f32", false},
};
constexpr const char* scale_layouts[] = {"strided", "128x4"};

std::string types_of(const Kind& kind) {
    const std::string scaling = kind.scaling;
    return std::string(kind.factor) + " x " + kind.factor + " to " + kind.out +
           (scaling.empty() ? "" : ", scaled " + scaling);
}

struct Factor {
    Placed codes;
    std::vector<Placed> scales;  // one or none
};

// MX blocks of data like a network's, made by the embedded device, which every build has. With one
// scale for the tensor the same codes are used and the scale is 1.
Status quantize_on_host(const Placed& values, const Placed& codes, const Placed& scales) {
    static auto device =
        Device::open({.name = "cpu", .get_api = [](std::uint32_t) { return mx_cpu_device_api(); }});
    if (!device) return device.error();
    const Operation operation{.name = "quantize",
                              .format = "mxfp8-e4m3",
                              .dialect = "ocp",
                              .axis = "row",
                              .block_size = 32};
    const CallResult result =
        device.value().run(operation, {{values.buffer()}, {codes.buffer(), scales.buffer()}});
    if (result.status == MX_OK) return success();
    return Error{ErrorKind::system, answer_of(result, "run").reason};
}

Expected<Placed> placed_as(const Placed& host, const TensorSpec& spec, bool on_gpu) {
    const auto bytes = host.bytes();
    if (!bytes) return bytes.error();
    auto placed = Placed::make(spec, on_gpu);
    if (!placed) return placed.error();
    const Status filled = placed.value().fill_with(bytes.value());
    if (!filled) return filled.error();
    return placed;
}

Expected<Factor> quantized_factor(const Kind& kind, Shape shape, const char* layout,
                                  const Wish& wish) {
    const TensorSpec value_spec = dense("f32", shape), code_spec = dense(kind.factor, shape);
    TensorSpec scale_spec = dense("e8m0", shape.rows, (shape.columns + 31) / 32);
    if (std::string_view(layout) != "strided")
        scale_spec = {"e8m0", scale_spec.rows, scale_spec.columns, 0, 0, layout};
    auto values = Placed::make(value_spec, false);
    auto codes = Placed::make(code_spec, false);
    auto scales = Placed::make(scale_spec, false);
    for (const auto* made : {&values, &codes, &scales})
        if (!*made) return made->error();
    std::memset(scales.value().data(), 0, scales.value().size());  // pads
    if (const Status filled = values.value().fill_with(values_of(value_spec, wish.data)); !filled)
        return filled.error();
    if (const Status quantized = quantize_on_host(values.value(), codes.value(), scales.value());
        !quantized)
        return quantized.error();
    auto factor = placed_as(codes.value(), code_spec, wish.on_gpu);
    if (!factor) return factor.error();
    Factor result{std::move(factor).value(), {}};
    if (std::string_view(kind.scaling) == "tensor") {
        scale_spec = dense("f32", 1, 1);
        scales = Placed::make(scale_spec, false);
        const float one = 1;
        std::memcpy(scales.value().data(), &one, sizeof one);
    }
    auto placed = placed_as(scales.value(), scale_spec, wish.on_gpu);
    if (!placed) return placed.error();
    result.scales.push_back(std::move(placed).value());
    return result;
}

Expected<Factor> factor_of(const Kind& kind, Shape shape, const char* layout, const Wish& wish) {
    if (*kind.scaling != '\0') return quantized_factor(kind, shape, layout, wish);
    const TensorSpec spec = dense(kind.factor, shape);
    auto placed = Placed::make(spec, wish.on_gpu);
    if (!placed) return placed.error();
    const Status filled = placed.value().fill_with(values_of(spec, wish.data));
    if (!filled) return filled.error();
    return Factor{std::move(placed).value(), {}};
}

struct Tensors {
    Factor a, b;
    Placed d;
};

TensorBuffers buffers_of(const Tensors& tensors) {
    TensorBuffers buffers;
    for (const Factor* factor : {&tensors.a, &tensors.b}) {
        buffers.inputs.push_back(factor->codes.buffer());
        for (const Placed& scales : factor->scales) buffers.inputs.push_back(scales.buffer());
    }
    buffers.outputs = {tensors.d.buffer()};
    return buffers;
}

struct Runner {
    Device& device;
    double (*last_seconds)();
};

// The quickest of the device's algorithms, each tried once after a warm-up. Its own choice stands
// for those that do not run.
Expected<std::string> quickest(const Runner& runner, Operation operation,
                               const TensorBuffers& buffers) {
    const auto names = runner.device.algorithms(operation, specs_of(buffers));
    if (!names) return names.error();
    std::string best;
    double best_seconds = 0;
    for (const std::string& name : names.value()) {
        operation.gemm->algorithm = name;
        const auto run = call_of(runner.device, runner.last_seconds, operation, buffers);
        if (!run()) continue;
        const auto seconds = run();
        if (!seconds || seconds.value() < 0) continue;
        if (best_seconds > 0 && seconds.value() >= best_seconds) continue;
        best = name;
        best_seconds = seconds.value();
    }
    return best;
}

BenchRow row_of(const Kind& kind, const Product& size, bool is_roof) {
    BenchRow row;
    row.what = is_roof ? "plain gemm" : "gemm";
    row.shape =
        std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k);
    row.types = types_of(kind);
    row.operations = 2 * static_cast<std::uint64_t>(size.m) * static_cast<std::uint64_t>(size.n) *
                     static_cast<std::uint64_t>(size.k);
    return row;
}

// The job, or why the device does not do it, as the row's reason.
Expected<Job> product_job(const Runner& runner, const Kind& kind, const Product& size,
                          const Wish& wish, bool is_roof) {
    Job job;
    job.row = row_of(kind, size, is_roof);
    Operation operation{.name = "gemm", .gemm = GemmOperation{}};
    operation.gemm->scaling_a = operation.gemm->scaling_b = kind.scaling;
    for (const char* layout : scale_layouts) {
        auto a = factor_of(kind, {size.m, size.k}, layout, wish);
        auto b = factor_of(kind, {size.n, size.k}, layout, wish);
        auto d = Placed::make(dense(kind.out, size.m, size.n), wish.on_gpu);
        if (!a) return a.error();
        if (!b) return b.error();
        if (!d) return d.error();
        const auto tensors = std::make_shared<Tensors>(
            Tensors{std::move(a).value(), std::move(b).value(), std::move(d).value()});
        const TensorBuffers buffers = buffers_of(*tensors);
        for (const Factor* factor : {&tensors->a, &tensors->b}) {
            job.row.bytes += factor->codes.size();
            for (const Placed& scales : factor->scales) job.row.bytes += scales.size();
        }
        job.row.bytes += tensors->d.size();
        if (is_roof) {
            const auto best = quickest(runner, operation, buffers);
            operation.gemm->algorithm = best ? best.value() : "";
        }
        auto run = call_of(runner.device, runner.last_seconds, operation, buffers);
        job.run = [tensors, run = std::move(run)] { return run(); };
        const auto tried = first_run(runner.device, operation, buffers, job);
        if (tried) return job;
        if (tried.error().kind == ErrorKind::device) return tried.error();
        job.row = row_of(kind, size, is_roof);
        job.row.reason = tried.error().message;
        if (std::string_view(kind.scaling) != "1x32") break;
    }
    return job;
}

double operations_per_second(const BenchRow& row) {
    return static_cast<double>(row.operations) / row.seconds;
}

// Of the roof with the same factors, else of any.
double roof_share(const std::vector<Job>& jobs, const BenchRow& row) {
    const BenchRow* roof = nullptr;
    for (const Job& job : jobs) {
        if (job.row.what != "plain gemm") continue;
        const bool is_alike = job.row.types.substr(0, 4) == row.types.substr(0, 4);
        if (roof == nullptr || is_alike) roof = &job.row;
    }
    return roof == nullptr ? 0 : operations_per_second(row) / operations_per_second(*roof);
}

Expected<bool> measure_product(const Bench& bench, const Wish& wish, const Product& size,
                               const std::function<bool(const BenchRow&)>& done) {
    std::vector<Job> jobs;
    const auto add = [&](const Runner& runner, const Kind& kind, bool is_roof) -> Expected<bool> {
        auto job = product_job(runner, kind, size, wish, is_roof);
        if (!job) return job.error();
        if (job.value().row.reason.empty()) {
            jobs.push_back(std::move(job).value());
            return true;
        }
        BenchRow row = job.value().row;
        row.cache = "cold";
        row.bytes = row.operations = 0;
        return done(row);
    };
    for (const Kind& kind : kinds) {
        if (kind.is_plain && bench.plain_gemm != nullptr)
            if (const auto went = add({*bench.plain_gemm, bench.plain_last_seconds}, kind, true);
                !went || !went.value())
                return went;
        if (const auto went = add({bench.device, bench.last_seconds}, kind, false);
            !went || !went.value())
            return went;
    }
    if (jobs.empty()) return true;
    for (const bool is_cold : {true, false}) {
        const Status sampled = sample(jobs, {is_cold, wish.on_gpu, wish.seconds_per_row});
        if (!sampled) return sampled.error();
        for (Job& job : jobs) {
            job.row.roof_share = roof_share(jobs, job.row);
            if (!done(job.row)) return false;
        }
    }
    return true;
}

}  // namespace

Expected<double> first_run(Device& device, const Operation& operation, const TensorBuffers& buffers,
                           const Job& job) {
    const CallResult answer = device.supports(operation, specs_of(buffers));
    if (answer.status == MX_OK) return job.run();
    return refusal_of(answer_of(answer, "supports"));
}

Expected<std::vector<std::int64_t>> shape_of(const std::string& text, std::size_t count) {
    std::vector<std::int64_t> numbers;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    const Error bad{ErrorKind::bad_input,
                    "shape '" + text + "' is not " + (count == 2 ? "ROWSxCOLUMNS" : "MxNxK") +
                        ", such as " + (count == 2 ? "4096x4096" : "4096x4096x4096")};
    constexpr std::int64_t side_max = std::int64_t{1} << 20;
    while (true) {
        std::int64_t number = 0;
        const auto [stop, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || number < 1 || number > side_max) return bad;
        numbers.push_back(number);
        if (stop == end) break;
        if (*stop != 'x') return bad;
        at = stop + 1;
    }
    if (numbers.size() != count) return bad;
    return numbers;
}

Status measure_gemms(const Bench& bench, const Wish& wish,
                     const std::function<bool(const BenchRow&)>& done) {
    for (const std::string& text : wish.gemm_shapes) {
        const auto shape = shape_of(text, 3);
        if (!shape) return shape.error();
        const auto& numbers = shape.value();
        const auto went_on =
            measure_product(bench, wish, {numbers[0], numbers[1], numbers[2]}, done);
        if (!went_on) return went_on.error();
        if (!went_on.value()) return success();
    }
    return success();
}

}  // namespace mx::bench
