// See throughput.hpp.
#include "bench/throughput.hpp"

#include <cstring>

#include "bench/limits.hpp"
#include "bench/product_jobs.hpp"
#include "bench/sampling.hpp"
#include "device/host/client.hpp"
#include "reference/spec/gemm.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::bench {
namespace {

using results::BenchRow;

using Shared = std::shared_ptr<Placed>;

// Blocks of one shape: the values, what they become, and what they are made of again.
struct BlockTensors {
    Shared values, codes = {}, scales = {}, values_again;
    Shared number = {},
           kept = {};    // of the tensor: given to quantize, and what it keeps; where there is one
    Shared random = {};  // where the dialect rounds with random bits
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

// Blocks along rows, or of the shape that the format has.
Operation operation_of(const char* name, const BlockFormat& format, const std::string& dialect) {
    return {.name = name,
            .format = std::string(format.name),
            .dialect = dialect,
            .axis = format.is_whole_tensor() ? "tensor"
                    : format.block_rows > 1  ? "tile"
                                             : "row",
            .block_size = format.block_columns};
}

Shape scale_shape(const BlockFormat& format, Shape shape) {
    if (format.is_whole_tensor()) return {1, 1};
    return {(shape.rows + format.block_rows - 1) / format.block_rows,
            (shape.columns + format.block_columns - 1) / format.block_columns};
}

std::string scale_type(const BlockFormat& format) {
    return std::string(scale_in_tensors(format).name);
}

BenchRow unmeasured(BenchRow row, std::string reason) {
    row.cache = "cold";
    row.reason = std::move(reason);
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
    std::vector<TensorBuffer> coded{tensors.codes->buffer(), tensors.scales->buffer()};
    if (tensors.kept) coded.push_back(tensors.kept->buffer());
    if (operation.name != "quantize") return {coded, {tensors.values_again->buffer()}};
    std::vector<TensorBuffer> inputs{tensors.values->buffer()};
    if (operation.tensor_scale == "given") inputs.push_back(tensors.number->buffer());
    if (tensors.random) inputs.push_back(tensors.random->buffer());
    return {inputs, coded};
}

Job block_job(const Plan& plan, const Operation& operation, const BlockTensors& tensors) {
    const bool quantizes = operation.name == "quantize";
    const std::string number =
        quantizes && !operation.tensor_scale.empty() ? ", number " + operation.tensor_scale : "";
    const std::string coded = operation.format + " " + operation.dialect + number;
    Job job;
    job.row.what = operation.name;
    job.row.shape = text_of(plan.shape);
    job.row.types = quantizes ? plan.type + " to " + coded : coded + " to " + plan.type;
    job.row.bytes = tensors.values->size() + tensors.codes->size() + tensors.scales->size();
    if (quantizes && tensors.random) job.row.bytes += tensors.random->size();
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

// The tensors that quantize fills, and those that its dialect takes beside the values.
Status place_blocks(const Plan& plan, const BlockFormat& format, const Quantizer* row,
                    BlockTensors& tensors) {
    const auto place = [&](const TensorSpec& spec, Shared& to) -> Status {
        auto tensor = placed(spec, plan.wish.on_gpu);
        if (!tensor) return tensor.error();
        to = tensor.value();
        return success();
    };
    std::vector<std::pair<TensorSpec, Shared*>> wanted{
        {dense(format.element().name, plan.shape), &tensors.codes},
        {dense(scale_type(format), scale_shape(format, plan.shape)), &tensors.scales}};
    const bool has_number = row != nullptr && row->tensor_scale != TensorScale::none;
    if (has_number) wanted.push_back({dense("f32", 1, 1), &tensors.number});
    if (has_number) wanted.push_back({dense("f32", 1, 1), &tensors.kept});
    if (row != nullptr && row->element_rounding == Rounding::stochastic)
        wanted.push_back({dense("u32", plan.shape), &tensors.random});
    for (const auto& [spec, tensor] : wanted)
        if (const Status done = place(spec, *tensor); !done) return done;
    const std::vector<std::uint8_t> one{0x00, 0x00, 0x80, 0x3F};
    if (has_number)
        if (const Status filled = tensors.number->fill_with(one); !filled) return filled;
    if (!tensors.random) return success();
    return tensors.random->fill_with(values_of(dense("f32", plan.shape), Data::random_bits));
}

// Quantizing with each number of the tensor that the dialect takes, and the way back. That reads
// what quantizing wrote, so it comes last.
std::vector<Operation> operations_of(const BlockFormat& format, const std::string& dialect) {
    std::vector<Operation> operations{operation_of("quantize", format, dialect)};
    const Quantizer* row = find_quantizer(dialect);
    const bool has_number = row != nullptr && row->tensor_scale != TensorScale::none;
    if (has_number) {
        operations.front().tensor_scale = "given";
        if (row->tensor_scale != TensorScale::history) {
            operations.push_back(operations.front());
            operations.back().tensor_scale = "derived";
        }
    }
    operations.push_back(operation_of("dequantize", format, dialect));
    if (has_number) operations.back().tensor_scale = "given";
    return operations;
}

// Both directions of one format.
Status add_format(const Plan& plan, const CodedAs& coded, BlockTensors tensors,
                  std::vector<Job>& jobs, std::vector<BenchRow>& refused) {
    // What crosses beside the values hangs on the row; of MX formats a device may have dialects of
    // its own.
    const BlockFormat& format = *find_block_format(coded.format);
    const Quantizer* row = find_quantizer(coded.dialect);
    if (const Status made = place_blocks(plan, format, row, tensors); !made) return made;
    bool is_quantized = false;
    for (const Operation& operation : operations_of(format, coded.dialect)) {
        Job job = block_job(plan, operation, tensors);
        const bool quantizes = operation.name == "quantize";
        std::string reason =
            quantizes || is_quantized ? "" : "the device does not quantize its input";
        if (reason.empty())
            if (const auto tried =
                    first_run(plan.bench.device, operation, buffers_of(operation, tensors), job);
                !tried) {
                if (tried.error().kind == ErrorKind::device) return tried.error();
                reason = tried.error().message;
            }
        if (quantizes) is_quantized = is_quantized || reason.empty();
        if (!is_wished(plan.wish, operation.name.c_str())) continue;
        if (reason.empty())
            jobs.push_back(std::move(job));
        else
            refused.push_back(unmeasured(job.row, reason));
    }
    return success();
}

double bytes_per_second(const BenchRow& row) {
    return static_cast<double>(row.bytes) / row.seconds;
}

// Cold, then warm; the first job is the roof.
Expected<bool> measure_blocks(std::vector<Job>& jobs, const Wish& wish,
                              const std::function<bool(const BenchRow&)>& done) {
    for (const bool is_cold : {true, false}) {
        const Status sampled = sample(jobs, {is_cold, wish.on_gpu, wish.seconds_per_row});
        if (!sampled) return sampled.error();
        for (Job& job : jobs) {
            job.row.roof_share = bytes_per_second(job.row) / bytes_per_second(jobs.front().row);
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
    for (const CodedAs& coded : plan.wish.formats) {
        if (find_block_format(coded.format) == nullptr)
            return bad_input("'" + coded.format + "' is no format of blocks");
        const Status added =
            add_format(plan, coded, {.values = values.value(), .values_again = again.value()},
                       made.jobs, made.refused);
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
        return refusal_of(answer_of(result, "run"));
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
