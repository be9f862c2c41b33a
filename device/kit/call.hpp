// One call of `supports` or `run`, checked for all that does not depend on the device: structs,
// pointers, sizes. A device takes the tensors one after the other, each by its role.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "device/kit/names.hpp"
#include "device/kit/refusal.hpp"
#include "device/kit/tensor.hpp"

namespace mx::kit {

// The arguments of `supports` and `run` as they came.
struct Arguments {
    const mx_operation* operation = nullptr;
    const mx_tensor* inputs = nullptr;
    std::size_t input_count = 0;
    const mx_tensor* outputs = nullptr;
    std::size_t output_count = 0;
};

enum class Buffers {
    absent,   // supports: every data pointer may be NULL
    present,  // run
};

// A newer host's tensors may be larger: their own size says where the next one begins.
inline const mx_tensor& tensor_at(const mx_tensor* first, std::size_t index) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(first);
    return *reinterpret_cast<const mx_tensor*>(bytes + index * first->struct_size);
}

// Whether the offset in bytes of every element, and their number, fit 64 bits.
inline bool is_addressable(const mx_tensor& tensor) {
    constexpr std::int64_t widest = 4;
    std::int64_t down = 0, across = 0, offset = 0, count = 0;
    return !__builtin_mul_overflow(tensor.rows, tensor.row_stride, &down) &&
           !__builtin_mul_overflow(tensor.columns, tensor.column_stride, &across) &&
           !__builtin_add_overflow(down, across, &offset) &&
           !__builtin_mul_overflow(offset, widest, &offset) &&
           !__builtin_mul_overflow(down, widest, &down) &&
           !__builtin_mul_overflow(across, widest, &across) &&
           !__builtin_mul_overflow(tensor.rows, tensor.columns, &count) &&
           !__builtin_mul_overflow(count, widest, &count);
}

class Call {
public:
    // Checks everything but names and what belongs where.
    Call(const Arguments& arguments, Buffers buffers) : arguments_(arguments), buffers_(buffers) {
        check_operation();
        check_array("input", arguments.inputs, arguments.input_count);
        check_array("output", arguments.outputs, arguments.output_count);
        for_each_tensor([this](const std::string& what, const mx_tensor& tensor) {
            check_tensor(what, tensor);
        });
    }

    const Arguments& arguments() const { return arguments_; }
    const mx_operation& operation() const { return *arguments_.operation; }
    Buffers buffers() const { return buffers_; }
    bool has_data() const { return buffers_ == Buffers::present; }

    // Of a device that has no grouped products.
    const mx_gemm& gemm() const {
        const mx_gemm& gemm = maybe_grouped_gemm();
        if (gemm.groups != 0)
            not_supported("this device has no grouped gemm, of " + std::to_string(gemm.groups) +
                          " groups");
        return gemm;
    }
    // Of one that does: groups.hpp.
    const mx_gemm& maybe_grouped_gemm() const {
        if (operation().gemm == nullptr) invalid("mx_operation.gemm is NULL");
        const mx_gemm& gemm = *operation().gemm;
        if (gemm.groups < 0) invalid(std::to_string(gemm.groups) + " groups");
        if (gemm.groups != 0 && gemm.batches != 1)
            invalid("a grouped gemm of " + std::to_string(gemm.batches) + " batches");
        return gemm;
    }

    // Of a device that does a single thing.
    void expect_names(std::string_view name, std::string_view format,
                      std::string_view dialect) const {
        expect_name("operation", operation().name, name);
        expect_name("format", operation().format, format);
        expect_name("dialect", operation().dialect, dialect);
    }

    // The next tensor. Refuses the call where there is none left.
    Tensor input(std::string_view role) {
        return take(role, "input", arguments_.inputs, arguments_.input_count, inputs_taken_);
    }
    Tensor output(std::string_view role) {
        return take(role, "output", arguments_.outputs, arguments_.output_count, outputs_taken_);
    }
    // What the others are read by; it is still to be taken.
    Tensor last_input(std::string_view role) const {
        std::size_t at = arguments_.input_count == 0 ? 0 : arguments_.input_count - 1;
        return take(role, "input", arguments_.inputs, arguments_.input_count, at);
    }
    // Once all have been taken.
    void expect_no_more() const {
        if (inputs_taken_ == arguments_.input_count && outputs_taken_ == arguments_.output_count)
            return;
        invalid("operation " + in_double_quotes(operation().name) + " takes " +
                std::to_string(inputs_taken_) + " inputs and " + std::to_string(outputs_taken_) +
                " outputs, not " + std::to_string(arguments_.input_count) + " and " +
                std::to_string(arguments_.output_count));
    }

    // Calls action("input 0", tensor) for each tensor.
    template <typename Action>
    void for_each_tensor(Action&& action) const {
        for (std::size_t i = 0; i < arguments_.input_count; ++i)
            action("input " + std::to_string(i), tensor_at(arguments_.inputs, i));
        for (std::size_t i = 0; i < arguments_.output_count; ++i)
            action("output " + std::to_string(i), tensor_at(arguments_.outputs, i));
    }

    // The places where this device reads and writes: refuses tensors elsewhere.
    template <std::size_t count>
    void expect_places(const std::string_view (&known)[count]) const {
        for_each_tensor([&](const std::string& what, const mx_tensor& tensor) {
            std::string names;
            for (const std::string_view place : known) {
                if (text_of(tensor.place) == place) return;
                names += (names.empty() ? "" : " and ") + in_double_quotes(place);
            }
            not_supported(what + " lies in " + in_double_quotes(tensor.place) +
                          ", and this device takes " + names);
        });
    }
    // Of a device that knows no other layout. Before the tensors are taken, because a layout may
    // change how many there are.
    void expect_strided() const {
        for_each_tensor([](const std::string& what, const mx_tensor& tensor) {
            Tensor(what, tensor).expect_strided();
        });
    }
    void expect_host() const {
        constexpr std::string_view host[] = {"host"};
        expect_places(host);
    }

private:
    void check_operation() const {
        if (arguments_.operation == nullptr) invalid("the operation is NULL");
        if (arguments_.operation->struct_size < sizeof(mx_operation))
            invalid("mx_operation.struct_size is smaller than this ABI's struct");
        const mx_gemm* gemm = arguments_.operation->gemm;
        if (gemm != nullptr && gemm->struct_size < sizeof(mx_gemm))
            invalid("mx_gemm.struct_size is smaller than this ABI's struct");
    }

    static void check_array(const std::string& what, const mx_tensor* tensors, std::size_t count) {
        if (count == 0) return;
        if (tensors == nullptr) invalid("the " + what + " tensors are NULL");
        if (tensors->struct_size < sizeof(mx_tensor) ||
            tensors->struct_size % alignof(mx_tensor) != 0)
            invalid("mx_tensor.struct_size of the first " + what +
                    " is not that of this ABI's struct");
    }

    void check_tensor(const std::string& what, const mx_tensor& tensor) const {
        const Shape shape{tensor.rows, tensor.columns};
        if (tensor.rows < 0 || tensor.columns < 0)
            invalid(what + " has a negative shape, " + text_of(shape));
        if (shape.is_empty()) return;
        if (!is_addressable(tensor))
            invalid(what + " of " + text_of(shape) + " with strides " +
                    std::to_string(tensor.row_stride) + " and " +
                    std::to_string(tensor.column_stride) + " is larger than an address space");
        if (has_data() && tensor.data == nullptr) invalid(what + " has no data");
    }

    Tensor take(std::string_view role, std::string_view what, const mx_tensor* tensors,
                std::size_t count, std::size_t& taken) const {
        if (taken >= count)
            invalid("operation " + in_double_quotes(operation().name) + " has no " +
                    std::string(what) + " " + std::to_string(taken) + ", " + std::string(role));
        return {role, tensor_at(tensors, taken++)};
    }

    Arguments arguments_;
    Buffers buffers_;
    std::size_t inputs_taken_ = 0, outputs_taken_ = 0;
};

}  // namespace mx::kit
