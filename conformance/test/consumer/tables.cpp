// Uses the tables of the specification without an oracle. Built by consumer_test from the package
// alone; only has to compile.
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

static_assert(mx::find_block_format("mxfp8-e4m3")->block_columns == 32);
// g++ 12 and 13 cannot compare a pointer with nullptr here beside the sanitizers.
static_assert(mx::find_quantizer("ocp")->name == "ocp");
