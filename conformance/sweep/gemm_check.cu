// See gemm_check.hpp: making the inputs, the kernel that computes every output by the model, the
// calls of the device, and the kernel that compares.
#include <cuda_runtime.h>

#include <memory>
#include <utility>

#include "conformance/sweep/gemm_check.hpp"
#include "conformance/sweep/gpu_calls.cuh"
#include "reference/fast/dot_factor.hpp"
#include "reference/fast/gemm_epilogue.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::sweep {
namespace {

constexpr unsigned threads_per_block = 128;

// A tensor in GPU memory, as a kernel sees it.
struct View {
    std::uint8_t* bytes = nullptr;
    int width = 1;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 1;

    __device__ Code at(std::int64_t row, std::int64_t column) const {
        return CodeView{bytes, width, 1}.at(row * row_stride + column * column_stride);
    }
    // Along k.
    __device__ CodeView row(std::int64_t index) const {
        return {bytes + index * row_stride * width, width, column_stride};
    }
};

struct Fill {
    View view;
    ElementFormat format;
    GemmContent content;
    GemmData data;
    std::int64_t rows, columns;
    std::uint64_t seed;
    std::uint32_t tensor, binades;
};

__global__ void fill(Fill job) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (index >= job.rows * job.columns) return;
    const std::int64_t row = index / job.columns, column = index % job.columns;
    const GemmPlace place{job.seed, job.tensor, static_cast<std::uint64_t>(row),
                          static_cast<std::uint64_t>(column)};
    const Code code = job.content == GemmContent::elements
                          ? gemm_code(job.data, job.format, place)
                          : gemm_number(job.data, job.format, place, job.binades);
    std::uint8_t* word =
        job.view.bytes +
        (row * job.view.row_stride + column * job.view.column_stride) * job.view.width;
    for (int i = 0; i < job.view.width; ++i)
        word[i] = static_cast<std::uint8_t>(code.bits >> (8 * i));
}

// What the model's kernel reads.
struct GpuGemm {
    GemmModel model;
    ElementFormat a_format, b_format;
    View a, b, scales_a, scales_b, c, bias, scale_out;
    // Those of a row, or of a column, beside those of the next, so that threads side by side read
    // neighbours; null where the model has none.
    fast::Factor *factors_a, *factors_b;
    std::int64_t m, n, k, batches;
    std::int64_t rows_a_per_scale, rows_b_per_scale;  // rows that share scales along k
    ElementFormat scale_format;
    std::int64_t block;  // of k, that shares a scale
    std::int64_t part;   // of k; 0: all in one
    GemmEpilogue epilogue;
    std::uint32_t alpha, beta;
};

// How many outputs were compared, how many differ, and one of them.
struct Found {
    unsigned long long asked;
    unsigned long long count;
    long long row, column;
    std::uint32_t actual, expected;
};

__device__ ScaledRow row_of(const GpuGemm& p, const ElementFormat& format, const View& codes,
                            const View& scales, std::int64_t row, std::int64_t rows_per_scale) {
    ScaledRow result{format, codes.row(row), p.scale_format, {}, 0};
    if (rows_per_scale == 0) return result;
    result.scales = scales.row(row / rows_per_scale);
    result.block = p.block;
    return result;
}

__device__ EpilogueOperands operands_of(const GpuGemm& p, std::int64_t row, std::int64_t b_row,
                                        std::int64_t column) {
    EpilogueOperands operands;
    operands.alpha = Code{p.alpha};
    operands.beta = Code{p.beta};
    const bool by_row = p.epilogue.scales == FactorScales::on_accumulator;
    if (p.epilogue.has_scales()) {
        operands.scale_a = p.scales_a.at(by_row ? row : 0, 0);
        operands.scale_b = p.scales_b.at(by_row ? b_row : 0, 0);
    }
    if (p.c.bytes != nullptr) operands.c = p.c.at(row, column);
    if (p.bias.bytes != nullptr) operands.bias = p.bias.at(0, column);
    if (p.scale_out.bytes != nullptr) operands.scale_out = p.scale_out.at(0, 0);
    return operands;
}

__device__ ScaledRow row_of_a(const GpuGemm& p, std::int64_t row) {
    return row_of(p, p.a_format, p.a, p.scales_a, row, p.rows_a_per_scale);
}
__device__ ScaledRow row_of_b(const GpuGemm& p, std::int64_t row) {
    return row_of(p, p.b_format, p.b, p.scales_b, row, p.rows_b_per_scale);
}

// Each code of A and B is read once as a factor, a thread for each.
__global__ void __launch_bounds__(threads_per_block)
    make_factors(const __grid_constant__ GpuGemm p) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t rows_a = p.batches * p.m, rows_b = p.batches * p.n;
    if (index >= (rows_a + rows_b) * p.k) return;
    const std::int64_t row = index / p.k, k = index % p.k;
    if (row < rows_a)
        p.factors_a[k * rows_a + row] = fast::factor_at(p.model, row_of_a(p, row), k);
    else
        p.factors_b[k * rows_b + row - rows_a] =
            fast::factor_at(p.model, row_of_b(p, row - rows_a), k);
}

// An output, and the rows of A and of B that it is the product of.
struct Output {
    std::int64_t row, column, b_row;
};
__device__ Output output_at(const GpuGemm& p, std::int64_t index) {
    const std::int64_t row = index / p.n, column = index % p.n;
    return {row, column, row / p.m * p.n + column};
}

// The sums of every output, from factors.
__global__ void __launch_bounds__(threads_per_block)
    accumulate_factors(const __grid_constant__ GpuGemm p, fast::Unpacked* sums) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (index >= p.batches * p.m * p.n) return;
    const Output output = output_at(p, index);
    sums[index] = fast::accumulate_factors_in_parts(
        p.model, {row_of_a(p, output.row), {p.factors_a + output.row, p.batches * p.m}},
        {row_of_b(p, output.b_row), {p.factors_b + output.b_row, p.batches * p.n}}, p.k, p.part);
}

// The same from codes, of any model.
__global__ void __launch_bounds__(threads_per_block)
    accumulate_codes(const __grid_constant__ GpuGemm p, fast::Unpacked* sums) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (index >= p.batches * p.m * p.n) return;
    const Output output = output_at(p, index);
    const ScaledRow a = row_of_a(p, output.row), b = row_of_b(p, output.b_row);
    sums[index] = fast::accumulate_in_parts(p.model, a, b, p.k, p.part);
}

// What the model says of every output; the algorithms that it says the same of share it.
__global__ void __launch_bounds__(threads_per_block)
    predict(const __grid_constant__ GpuGemm p, const fast::Unpacked* sums, std::uint32_t* predicted,
            unsigned long long* asked) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const bool is_inside = index < p.batches * p.m * p.n;
    if (is_inside) {
        const Output output = output_at(p, index);
        const EpilogueOperands operands = operands_of(p, output.row, output.b_row, output.column);
        predicted[index] = fast::finish(p.epilogue, operands, sums[index]).bits;
    }
    count_asked(asked, is_inside ? 1 : 0);
}

__global__ void __launch_bounds__(threads_per_block)
    compare(View d, std::int64_t outputs, std::int64_t columns, const std::uint32_t* predicted,
            Found* found) {
    const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const bool is_inside = index < outputs;
    if (is_inside) {
        const std::int64_t row = index / columns, column = index % columns;
        const std::uint32_t actual = d.at(row, column).bits;
        if (actual != predicted[index] && atomicAdd(&found->count, 1ull) == 0) {
            found->row = row;
            found->column = column;
            found->actual = actual;
            found->expected = predicted[index];
        }
    }
    count_asked(&found->asked, is_inside ? 1 : 0);
}

unsigned blocks_for(std::int64_t threads) {
    return static_cast<unsigned>((threads + threads_per_block - 1) / threads_per_block);
}

// A tensor in memory of its own.
class OnGpu {
public:
    OnGpu(GpuCalls& calls, const GemmTensor& tensor)
        : tensor_(tensor), memory_(calls, static_cast<std::size_t>(tensor.bytes())) {
        const int width = tensor.type.code_bytes();
        view_ = {memory_.at(), width, tensor.spec.row_stride, tensor.spec.column_stride};
    }
    const GemmTensor& tensor() const { return tensor_; }
    const View& view() const { return view_; }
    TensorBuffer buffer() const { return {tensor_.spec, memory_.at(), "cuda"}; }

    void fill_with(GpuCalls& calls, const GemmDraw& draw) const {
        const std::int64_t count = tensor_.spec.rows * tensor_.spec.columns;
        if (!calls.ok() || count == 0) return;
        fill<<<blocks_for(count), threads_per_block>>>(
            {view_, tensor_.type, tensor_.content, draw.data, tensor_.spec.rows,
             tensor_.spec.columns, draw.seed, static_cast<std::uint32_t>(tensor_.part),
             binades_in(draw)});
        calls.note("making the inputs", cudaGetLastError());
    }

private:
    std::uint32_t binades_in(const GemmDraw& draw) const {
        const bool is_of_factor =
            tensor_.part == GemmPart::scales_a || tensor_.part == GemmPart::scales_b;
        return is_of_factor ? draw.scale_binades : binades_of(tensor_.part);
    }

    GemmTensor tensor_;
    GpuValue<std::uint8_t> memory_;
    View view_;
};

View view_in(const std::vector<std::unique_ptr<OnGpu>>& tensors, GemmPart part) {
    for (const auto& tensor : tensors)
        if (tensor->tensor().part == part) return tensor->view();
    return {};
}

GpuGemm gemm_on_gpu(const GemmProblem& gemm, const GemmModelled& modelled,
                    const std::vector<std::unique_ptr<OnGpu>>& tensors) {
    const FactorScalingRow &scales_a = row_of(gemm.a.scaling), &scales_b = row_of(gemm.b.scaling);
    const auto rows_per_scale = [](const FactorScalingRow& row) {
        return row.block == 0 ? 0 : row.rows;
    };
    GpuGemm problem{};
    problem.model = gemm_models[modelled.model];
    problem.a_format = gemm.a.element;
    problem.b_format = gemm.b.element;
    problem.a = view_in(tensors, GemmPart::a);
    problem.b = view_in(tensors, GemmPart::b);
    problem.scales_a = view_in(tensors, GemmPart::scales_a);
    problem.scales_b = view_in(tensors, GemmPart::scales_b);
    problem.c = view_in(tensors, GemmPart::c);
    problem.bias = view_in(tensors, GemmPart::bias);
    problem.scale_out = view_in(tensors, GemmPart::scale_out);
    problem.m = gemm.m;
    problem.n = gemm.n;
    problem.k = gemm.k;
    problem.batches = gemm.batches;
    problem.rows_a_per_scale = rows_per_scale(scales_a);
    problem.rows_b_per_scale = rows_per_scale(scales_b);
    problem.scale_format = scales_a.scale;
    problem.block = scales_a.block;
    problem.part = part_length(gemm, modelled.parts);
    problem.epilogue = modelled.epilogue;
    problem.alpha = gemm.alpha;
    problem.beta = gemm.beta;
    return problem;
}

// One GEMM: its tensors in GPU memory, and what models say of it.
class Check {
public:
    Check(Device& device, const DrawnGemm& drawn) : device_(device), gemm_(drawn.gemm) {
        for (const GemmTensor& tensor : tensors_of(problem_of(gemm_))) {
            tensors_.push_back(std::make_unique<OnGpu>(calls_, tensor));
            const bool is_output = tensor.part == GemmPart::d;
            if (!is_output) tensors_.back()->fill_with(calls_, drawn.draw);
            (is_output ? buffers_.outputs : buffers_.inputs).push_back(tensors_.back()->buffer());
        }
        calls_.note("making the inputs", cudaDeviceSynchronize());
    }

    Expected<GemmDifferences> ask(const AskedAlgorithm& asked) {
        GemmDifferences differing;
        const std::uint32_t* predicted = predicted_by(asked.modelled, differing.seconds);
        // What the device does not write must not look right: all ones are a NaN.
        const OnGpu& output = *tensors_.back();
        const auto bytes = static_cast<std::size_t>(output.tensor().bytes());
        if (calls_.ok()) calls_.note("poisoning D", cudaMemset(output.view().bytes, 0xFF, bytes));
        calls_.note("the model", cudaDeviceSynchronize());
        if (!calls_.ok()) return calls_.error();
        Problem problem = problem_of(gemm_);
        problem.gemm.algorithm = asked.name;
        const CallResult ran = device_.run(operation_of(problem), buffers_);
        if (ran.status == MX_NOT_SUPPORTED) {
            differing.refusal = ran.message;
            return differing;
        }
        if (ran.status != MX_OK)
            return Error{ErrorKind::device, name_of(ran.status) + ": " + ran.message};
        return compared(predicted, differing);
    }

private:
    struct Predicted {
        GemmModelled modelled;
        std::unique_ptr<GpuValue<std::uint32_t>> codes;
    };

    std::int64_t outputs() const { return gemm_.batches * gemm_.m * gemm_.n; }

    // Worked out before the device runs for the first time, from inputs that it has not seen.
    const std::uint32_t* predicted_by(const GemmModelled& modelled, double& seconds) {
        for (const Predicted& known : predicted_)
            if (known.modelled.model == modelled.model && known.modelled.parts == modelled.parts)
                return known.codes->at();
        const auto count = static_cast<std::size_t>(outputs());
        predicted_.push_back({modelled, std::make_unique<GpuValue<std::uint32_t>>(calls_, count)});
        std::uint32_t* codes = predicted_.back().codes->at();
        const GpuValue<unsigned long long> asked(calls_);
        GpuGemm problem = gemm_on_gpu(gemm_, modelled, tensors_);
        const GpuValue<fast::Unpacked> sums(calls_, count);
        GpuTimer timer(calls_);
        add_factors(problem);
        if (calls_.ok()) {
            const auto accumulate =
                problem.factors_a == nullptr ? accumulate_codes : accumulate_factors;
            accumulate<<<blocks_for(outputs()), threads_per_block>>>(problem, sums.at());
            predict<<<blocks_for(outputs()), threads_per_block>>>(problem, sums.at(), codes,
                                                                  asked.at());
        }
        calls_.note("the model", cudaGetLastError());
        seconds = timer.seconds();
        unsigned long long number = 0;
        asked.read(&number);
        if (calls_.ok() && number != count)
            calls_.note("not every output was predicted", cudaErrorUnknown);
        return codes;
    }

    // The same for every number of parts.
    void add_factors(GpuGemm& problem) {
        if (!fast::has_factors(problem.model)) return;
        const std::int64_t rows = gemm_.batches * (gemm_.m + gemm_.n);
        const bool is_made = factors_ && factors_model_ == problem.model.name;
        if (!is_made)
            factors_ = std::make_unique<GpuValue<fast::Factor>>(
                calls_, static_cast<std::size_t>(rows * gemm_.k));
        problem.factors_a = factors_->at();
        problem.factors_b = factors_->at() + gemm_.batches * gemm_.m * gemm_.k;
        if (is_made || !calls_.ok()) return;
        factors_model_ = problem.model.name;
        make_factors<<<blocks_for(rows * gemm_.k), threads_per_block>>>(problem);
        calls_.note("the factors", cudaGetLastError());
    }

    Expected<GemmDifferences> compared(const std::uint32_t* predicted, GemmDifferences differing) {
        const GpuValue<Found> found(calls_);
        if (calls_.ok())
            compare<<<blocks_for(outputs()), threads_per_block>>>(
                tensors_.back()->view(), outputs(), gemm_.n, predicted, found.at());
        calls_.note("the comparison", cudaGetLastError());
        Found answer{};
        found.read(&answer);
        if (!calls_.ok()) return calls_.error();
        differing.outputs = static_cast<std::uint64_t>(outputs());
        if (answer.asked != differing.outputs) return unasked(answer.asked, differing.outputs);
        differing.differing = answer.count;
        differing.row = answer.row;
        differing.column = answer.column;
        differing.actual = answer.actual;
        differing.expected = answer.expected;
        return differing;
    }

    Device& device_;
    const GemmProblem& gemm_;
    GpuCalls calls_;
    std::vector<std::unique_ptr<OnGpu>> tensors_;
    TensorBuffers buffers_;
    std::vector<Predicted> predicted_;
    std::unique_ptr<GpuValue<fast::Factor>> factors_;
    std::string_view factors_model_;
};

}  // namespace

Expected<std::vector<GemmDifferences>> check_gemm(Device& device, const DrawnGemm& drawn,
                                                  const std::vector<AskedAlgorithm>& algorithms) {
    std::vector<GemmDifferences> all;
    Check check(device, drawn);
    for (const AskedAlgorithm& algorithm : algorithms) {
        auto differing = check.ask(algorithm);
        if (!differing) return differing.error();
        all.push_back(std::move(differing).value());
    }
    return all;
}

}  // namespace mx::sweep
