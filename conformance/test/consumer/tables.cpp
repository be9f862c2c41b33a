// Uses the tables of the specification without an oracle. Built by consumer_test from the package
// alone; only has to compile.
#include "reference/spec/dialects.hpp"
#include "reference/spec/formats.hpp"

static_assert(mx::find_block_format("mxfp8-e4m3")->block_size == 32);
static_assert(mx::find_dialect("ocp") != nullptr);
