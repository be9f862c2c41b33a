// The bug fast_math: the same kernel, which the build compiles with --use_fast_math here.
#define MX_GPU_KERNEL_NAME fast_math_kernel
#include "conformance/mutants/gpu/gpu_launch.cu"
