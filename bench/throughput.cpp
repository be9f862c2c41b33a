// See throughput.hpp.
#include "bench/throughput.hpp"

#include <cstring>

#include "bench/limits.hpp"
#include "bench/product_jobs.hpp"
#include "bench/sampling.hpp"
#include "reference/spec/formats.hpp"

namespace mx::bench {
namespace {

using results::BenchRow;

using Shared = std::shared_ptr<Placed>;

// Blocks of one shape: the values, what they become, and what they are made of again.
struct BlockTensors {
    Shared values, codes, scales, values_again;
};

struct Plan {
    const Bench& bench;
    const Wish& wish;
    Shape shape;
    std::string type;
};

Expected<Shared> placed(const TensorSpec& spec, bool on_gpu) {
    auto tensor = Placed::make(spec, on_gpu);
    if (!tensor) return tensor.error();
    return std::make_shared<Placed>(std::move(tensor).value());
}

std::string text_of(Shape shape) {
    return std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
}

Operation operation_of(const char* name, const BlockFormat& format, const std::string& dialect) {
    return {.name = name,
            .format = std::string(format.name),
            .dialect = dialect,
            .axis = "row",
            .block_size = format.block_columns};
}

BenchRow unmeasured(BenchRow row, std::string reason) {
    row.cache = "cold";
    row.reason = reason.empty() ? "no reason given" : std::move(reason);
    row.bytes = row.operations = 0;
    return row;
}

// The quicker of two ways: what does not stay in the caches anyway is stored past them.
void copy_on_host(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
    constexpr std::size_t large = std::size_t{8} << 20, whole_steps = 256;
    if (bytes >= large && bytes % whole_steps == 0)
        copy_streaming({from, to, bytes / 4});
    else
        std::memcpy(to, from, bytes);
}

Job copy_job(const Plan& plan, const Shared& from, const Shared& to) {
    Job job;
    job.row.what = "copy";
    job.row.shape = text_of(plan.shape);
    job.row.types = plan.type;
    job.row.bytes = 2 * from->size();
    job.run = [from, to, on_gpu = plan.wish.on_gpu]() -> Expected<double> {
        if (on_gpu) return gpu::seconds_of({to->data(), from->data(), from->size()});
        copy_on_host(to->data(), from->data(), from->size());
        return -1.0;
    };
    return job;
}

TensorBuffers buffers_of(const Operation& operation, const BlockTensors& tensors) {
    const std::vector<TensorBuffer> coded{tensors.codes->buffer(), tensors.scales->buffer()};
    if (operation.name == "quantize") return {{tensors.values->buffer()}, coded};
    return {coded, {tensors.values_again->buffer()}};
}

Job block_job(const Plan& plan, const Operation& operation, const BlockTensors& tensors) {
    const bool quantizes = operation.name == "quantize";
    const std::string coded = operation.format + " " + operation.dialect;
    Job job;
    job.row.what = operation.name;
    job.row.shape = text_of(plan.shape);
    job.row.types = quantizes ? plan.type + " to " + coded : coded + " to " + plan.type;
    job.row.bytes = tensors.values->size() + tensors.codes->size() + tensors.scales->size();
    job.run = call_of(plan.bench.device, plan.bench.last_seconds, operation,
                      buffers_of(operation, tensors));
    // The lambda that keeps the memory alive as long as the job.
    job.run = [tensors, run = std::move(job.run)] { return run(); };
    return job;
}

bool is_wished(const Wish& wish, const char* operation) {
    for (const std::string& wished : wish.operations)
        if (wished == operation) return true;
    return false;
}

// The two directions of one format. Dequantizing reads what quantizing wrote, so that comes first.
Status add_format(const Plan& plan, const BlockFormat& format, BlockTensors tensors,
                  std::vector<Job>& jobs, std::vector<BenchRow>& refused) {
    const std::int64_t blocks =
        (plan.shape.columns + format.block_columns - 1) / format.block_columns;
    auto codes = placed(dense(format.element().name, plan.shape), plan.wish.on_gpu);
    auto scales = placed(dense(format.scale().name, plan.shape.rows, blocks), plan.wish.on_gpu);
    if (!codes) return codes.error();
    if (!scales) return scales.error();
    tensors.codes = codes.value();
    tensors.scales = scales.value();
    bool is_quantized = false;
    for (const char* name : {"quantize", "dequantize"}) {
        const Operation operation = operation_of(name, format, plan.wish.dialect);
        Job job = block_job(plan, operation, tensors);
        const bool quantizes = std::string_view(name) == "quantize";
        std::string reason =
            quantizes || is_quantized ? "" : "the device does not quantize its input";
        if (reason.empty())
            if (const auto tried =
                    first_run(plan.bench.device, operation, buffers_of(operation, tensors), job);
                !tried) {
                if (tried.error().kind == ErrorKind::device) return tried.error();
                reason = tried.error().message;
            }
        if (quantizes) is_quantized = reason.empty();
        if (!is_wished(plan.wish, name)) continue;
        if (reason.empty())
            jobs.push_back(std::move(job));
        else
            refused.push_back(unmeasured(job.row, reason));
    }
    return success();
}

double rate(const BenchRow& row) {
    return static_cast<double>(row.bytes) / row.seconds;
}

// Cold, then warm; the first job is the roof.
Expected<bool> measure_blocks(std::vector<Job>& jobs, const Wish& wish,
                              const std::function<bool(const BenchRow&)>& done) {
    for (const bool is_cold : {true, false}) {
        const Status sampled = sample(jobs, {is_cold, wish.on_gpu, wish.seconds_per_row});
        if (!sampled) return sampled.error();
        for (Job& job : jobs) {
            job.row.roof_share = rate(job.row) / rate(jobs.front().row);
            if (!done(job.row)) return false;
        }
    }
    return true;
}

struct Prepared {
    std::vector<Job> jobs;          // the first is the roof
    std::vector<BenchRow> refused;  // with the reasons
};

Expected<Prepared> prepared(const Plan& plan, const std::vector<std::uint8_t>& bytes) {
    const TensorSpec spec = dense(plan.type, plan.shape);
    auto values = placed(spec, plan.wish.on_gpu);
    auto again = placed(spec, plan.wish.on_gpu);
    if (!values) return values.error();
    if (!again) return again.error();
    if (const Status filled = values.value()->fill_with(bytes); !filled) return filled.error();
    Prepared made{{copy_job(plan, values.value(), again.value())}, {}};
    for (const std::string& name : plan.wish.formats) {
        const BlockFormat* format = find_block_format(name);
        if (format == nullptr || !format->has_e8m0_scales())
            return Error{ErrorKind::bad_input, "'" + name + "' is no format of blocks"};
        const Status added =
            add_format(plan, *format, {values.value(), nullptr, nullptr, again.value()}, made.jobs,
                       made.refused);
        if (!added) return added.error();
    }
    return made;
}

// Everything twice, on tensors that lie elsewhere.
Expected<bool> measure_type(const Plan& plan, const std::function<bool(const BenchRow&)>& done) {
    const auto bytes = values_of(dense(plan.type, plan.shape), plan.wish.data);
    auto made = prepared(plan, bytes);
    if (!made) return made.error();
    auto twins = prepared(plan, bytes);
    if (!twins) return twins.error();
    std::vector<Job>& jobs = made.value().jobs;
    for (const BenchRow& row : made.value().refused)
        if (!done(row)) return false;
    if (jobs.size() == 1) return true;
    // What was refused once alone would leave twins of other rows.
    const bool are_twins = twins.value().jobs.size() == jobs.size();
    for (std::size_t i = 0; are_twins && i < jobs.size(); ++i)
        jobs[i].twin = std::move(twins.value().jobs[i].run);
    return measure_blocks(jobs, plan.wish, done);
}

}  // namespace

std::function<Expected<double>()> call_of(Device& device, double (*last_seconds)(),
                                          Operation operation, TensorBuffers buffers) {
    return [&device, last_seconds, operation = std::move(operation),
            buffers = std::move(buffers)]() -> Expected<double> {
        const CallResult result = device.run(operation, buffers);
        if (result.status == MX_OK) return last_seconds == nullptr ? -1.0 : last_seconds();
        const ErrorKind kind =
            result.status == MX_NOT_SUPPORTED ? ErrorKind::bad_input : ErrorKind::device;
        return Error{kind, result.message.empty() ? name_of(result.status) : result.message};
    };
}

Status measure(const Bench& bench, const Wish& wish,
               const std::function<bool(const BenchRow&)>& done) {
    if (is_wished(wish, "quantize") || is_wished(wish, "dequantize"))
        for (const std::string& text : wish.shapes)
            for (const std::string& type : wish.types) {
                const auto shape = shape_of(text, 2);
                if (!shape) return shape.error();
                const Plan plan{bench, wish, {shape.value()[0], shape.value()[1]}, type};
                const auto went_on = measure_type(plan, done);
                if (!went_on) return went_on.error();
                if (!went_on.value()) return success();
            }
    if (is_wished(wish, "gemm")) return measure_gemms(bench, wish, done);
    return success();
}

}  // namespace mx::bench
