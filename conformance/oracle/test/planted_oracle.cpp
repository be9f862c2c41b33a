// Prints what the check finds in the oracle that this program was linked with.
#include <cstdio>

#include "conformance/oracle/isolated_check.hpp"

int main() {
    std::puts(mx::isolated_oracle_fault().c_str());
    return 0;
}
