// The device of the plug-in: facts, copies, and the way from a call to the kernels. UNVERIFIED: it
// never ran on a GPU.
#include <hip/hip_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "device/cuda/request.hpp"
#include "device/hip/kernels.hpp"
#include "device/kit/plugin.hpp"

namespace mx::hip {
namespace {

constexpr std::string_view memory_name = "hip";
constexpr std::string_view architectures = MX_HIP_ARCHITECTURES;  // "gfx90a gfx1030"

std::string text_of(hipError_t error) {
    const std::string name = hipGetErrorName(error), text = hipGetErrorString(error);
    return name == text ? name : name + ", " + text;
}

// Whether the GPU outlives an error, later calls show.
void check(hipError_t error, const std::string& doing) {
    if (error == hipSuccess) return;
    const bool is_lost = hipDeviceSynchronize() != hipSuccess;
    (void)hipGetLastError();
    const mx_status status = error == hipErrorOutOfMemory ? MX_OUT_OF_MEMORY : MX_FAILED;
    throw kit::Refusal{is_lost ? MX_DEVICE_LOST : status, doing + ": " + text_of(error)};
}

class GpuMemory {
public:
    explicit GpuMemory(std::size_t bytes) { check(hipMalloc(&data_, bytes), "allocating memory"); }
    GpuMemory(GpuMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    ~GpuMemory() { (void)hipFree(data_); }

    void* data() const { return data_; }

private:
    void* data_ = nullptr;
};

// The tensors of one call with those of the host replaced by copies on the GPU. Outputs are copied
// in as well: what the kernels leave alone must come back as it was.
class Staging {
public:
    explicit Staging(const kit::Arguments& call) : call_(call) {
        stage(call.inputs, call.input_count, inputs_);
        stage(call.outputs, call.output_count, outputs_);
    }

    kit::Arguments on_gpu() const {
        return {call_.operation, inputs_.data(), inputs_.size(), outputs_.data(), outputs_.size()};
    }

    void copy_out() const {
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const mx_tensor& to = kit::tensor_at(call_.outputs, i);
            const std::size_t bytes = copied_bytes(to);
            if (bytes == 0) continue;
            check(hipMemcpy(to.data, outputs_[i].data, bytes, hipMemcpyDeviceToHost),
                  "copying from the GPU");
        }
    }

private:
    static std::size_t copied_bytes(const mx_tensor& tensor) {
        return cuda::is_on_gpu(tensor) ? 0 : static_cast<std::size_t>(cuda::byte_extent(tensor));
    }

    void stage(const mx_tensor* tensors, std::size_t count, std::vector<mx_tensor>& staged) {
        for (std::size_t i = 0; i < count; ++i) {
            mx_tensor tensor = kit::tensor_at(tensors, i);
            tensor.struct_size = sizeof(mx_tensor);
            if (const std::size_t bytes = copied_bytes(tensor); bytes != 0) {
                memory_.emplace_back(bytes);
                check(hipMemcpy(memory_.back().data(), tensor.data, bytes, hipMemcpyHostToDevice),
                      "copying to the GPU");
                tensor.data = memory_.back().data();
            }
            tensor.place = memory_name.data();
            staged.push_back(tensor);
        }
    }

    kit::Arguments call_;
    std::vector<mx_tensor> inputs_, outputs_;
    std::vector<GpuMemory> memory_;
};

struct Launcher {
    std::uint32_t* amax;

    hipError_t operator()(const cuda::QuantizeJob& job) const { return quantize(job.blocks); }
    hipError_t operator()(const cuda::BothJob& job) const {
        const hipError_t error = quantize(job.rows);
        return error == hipSuccess ? quantize(columns_of(job)) : error;
    }
    hipError_t operator()(const cuda::DequantizeJob& job) const { return dequantize(job.blocks); }
    hipError_t operator()(const cuda::QuantizeRealScalesJob& job) const {
        const hipError_t error = quantize(job.blocks, amax);
        return error == hipSuccess && job.columns ? quantize(*job.columns, amax) : error;
    }
    hipError_t operator()(const cuda::DequantizeRealScalesJob& job) const {
        return dequantize(job.blocks);
    }
    hipError_t operator()(const cuda::ConvertJob&) const { return hipErrorNotSupported; }
    hipError_t operator()(const cuda::EncodeScaleJob&) const { return hipErrorNotSupported; }
};

cuda::Job served_job_of(const kit::Arguments& call, kit::Buffers buffers) {
    const cuda::Job job = cuda::job_of(call, buffers, memory_name);
    if (std::holds_alternative<cuda::ConvertJob>(job) ||
        std::holds_alternative<cuda::EncodeScaleJob>(job))
        kit::not_supported("no operation " + kit::in_double_quotes(call.operation->name) +
                           "; this device knows quantize and dequantize");
    return job;
}

// "gfx90a" of "gfx90a:sramecc+:xnack-"
std::string architecture_of(const hipDeviceProp_t& properties) {
    const std::string_view name = properties.gcnArchName;
    return std::string(name.substr(0, name.find(':')));
}

bool has_code_for(std::string_view architecture) {
    const std::string padded = " " + std::string(architectures) + " ";
    return padded.find(" " + std::string(architecture) + " ") != std::string::npos;
}

struct OpenGpu {
    int ordinal = 0;  // of the GPU that open found; a later caller's thread may have another
    std::string name, version, driver, isa;

    OpenGpu() {
        int count = 0;
        hipError_t error = hipGetDeviceCount(&count);
        if (error == hipSuccess && count == 0) error = hipErrorNoDevice;
        if (error != hipSuccess)
            kit::not_supported("no AMD GPU can be used here: " + text_of(error));
        hipDeviceProp_t properties{};
        int runtime = 0, driver_version = 0;
        check(hipGetDevice(&ordinal), "choosing the GPU");
        check(hipGetDeviceProperties(&properties, ordinal), "asking for the GPU's properties");
        check(hipRuntimeGetVersion(&runtime), "asking for the runtime's version");
        check(hipDriverGetVersion(&driver_version), "asking for the driver's version");
        name = properties.name;
        version = "HIP runtime " + std::to_string(runtime);
        driver = "HIP " + std::to_string(driver_version);
        isa = architecture_of(properties);
        if (!has_code_for(isa))
            kit::not_supported("this library has code for " + std::string(architectures) +
                               " alone, and the GPU here, " + name + ", is " + isa);
    }
};

class Hip {
public:
    Hip()
        : facts_{{{"name", gpu_.name.c_str()},
                  {"vendor", "AMD"},
                  {"version", gpu_.version.c_str()},
                  {"driver", gpu_.driver.c_str()},
                  {"isa", gpu_.isa.c_str()},
                  {"notes", "UNVERIFIED: compiled, and never seen to run on an AMD GPU"}}},
          word_(sizeof(std::uint32_t)) {}

    std::span<const mx_fact> facts() const { return facts_; }

    // Needs no GPU, and no open device.
    static void supports(Hip*, const kit::Arguments& call) {
        served_job_of(call, kit::Buffers::absent);
    }

    void run(const kit::Arguments& call) const {
        served_job_of(call, kit::Buffers::present);
        check(hipSetDevice(gpu_.ordinal), "choosing the GPU");
        // What other streams still write is an input.
        check(hipDeviceSynchronize(), "waiting for the inputs");
        const Staging staging(call);
        const cuda::Job job = served_job_of(staging.on_gpu(), kit::Buffers::absent);
        auto* const amax = static_cast<std::uint32_t*>(word_.data());
        const hipError_t started = std::visit(Launcher{amax}, job);
        const hipError_t done = hipDeviceSynchronize();
        check(started, "starting a kernel");
        check(done, "running a kernel");
        staging.copy_out();
    }

private:
    OpenGpu gpu_;
    std::array<mx_fact, 6> facts_;
    GpuMemory word_;
};

}  // namespace
}  // namespace mx::hip

MX_KIT_PLUGIN(mx::hip::Hip)
