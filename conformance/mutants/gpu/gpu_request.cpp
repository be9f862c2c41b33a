// See gpu_request.hpp. The names are read as all mutants read them; most are then refused.
#include "conformance/mutants/gpu/gpu_request.hpp"

namespace mx::mutants::gpu {
namespace {

Plane plane_of(const Tensor& tensor) {
    return {tensor.data, tensor.row_stride, tensor.column_stride, tensor.bits / 8};
}

bool counts_up(const Plane& plane) {
    return plane.row_stride >= 0 && plane.column_stride >= 0;
}

}  // namespace

Job read_job(const kit::Arguments& arguments, kit::Buffers buffers) {
    const Request request = read_request(arguments, buffers);
    const Tensor& values = request.inputs[0];
    const bool is_known_type = values.format == f32 || values.format == bf16;
    if (request.action != Action::quantize || request.element != e4m3 || !is_known_type ||
        request.axis != Axis::row || request.block != 32 ||
        request.outputs[0].layout != Layout::strided ||
        request.outputs[1].layout != Layout::strided)
        kit::not_supported(
            "the planted bugs of a GPU quantize f32 and bf16 to mxfp8-e4m3 in strided blocks of 32 "
            "along rows, and nothing else");
    const Job job{Bug::none,
                  values.format == f32 ? Values::f32 : Values::bf16,
                  request.dialect,
                  values.rows,
                  values.columns,
                  plane_of(values),
                  plane_of(request.outputs[0]),
                  plane_of(request.outputs[1])};
    if (!counts_up(job.values) || !counts_up(job.codes) || !counts_up(job.scales))
        kit::not_supported("the planted bugs of a GPU do not know strides below 0");
    return job;
}

}  // namespace mx::mutants::gpu
