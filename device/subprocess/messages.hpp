// The messages of protocol.md as text and bytes. Used by the device that talks to a command, and by
// `mxcheck gen` and `mxcheck check`, which write and read the same in files. Starts no process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/host/device.hpp"
#include "device/host/operation.hpp"
#include "reference/base/status.hpp"

namespace mx::pipe {

inline constexpr int protocol_version = 1;
// A line of JSON may be this long.
inline constexpr std::size_t line_size_max = 64 * 1024;

enum class Form { hex, binary };
std::optional<Form> form_named(std::string_view name);

// `supports` is the same question without data.
enum class Ask { supports, run };

// A tensor on its way: `bytes` are as it travels, strided ones row by row without gaps.
struct Cargo {
    TensorSpec spec = {};
    std::span<const std::byte> bytes = {};
};

struct PipeRequest {
    std::string id = {};
    Ask ask = Ask::run;
    Form form = Form::hex;
    Operation operation = {};
    std::vector<Cargo> inputs = {};
    std::vector<TensorSpec> outputs = {};
};

// Strided tensors travel row by row without gaps, all others as they lie. The functions below are
// for specs that byte_extent accepts.
std::size_t travelling_size(const TensorSpec& spec);
// `tensor` is byte_extent(spec) bytes; the result is those, or a copy in `scratch`.
std::span<const std::byte> as_it_travels(const TensorSpec& spec, std::span<const std::byte> tensor,
                                         std::vector<std::byte>& scratch);

// The line and the data.
std::string to_text(const PipeRequest& request);

// What a program says first.
struct Hello {
    Form form = Form::hex;
    Facts facts = {};
};
Expected<Hello> parse_hello(std::string_view line);

struct AnswerLine {
    std::string id = {};
    mx_status status = MX_OK;
    std::string reason = {};
    Form form = Form::hex;
    std::vector<std::uint64_t> sizes = {};  // of the outputs; binary answers with data only
};
Expected<AnswerLine> parse_answer(std::string_view line);

// A line of digits, two a byte.
void append_hex_line(std::string& text, std::span<const std::byte> bytes);
// Fills `bytes` from the digits of one line; what is wrong with the line otherwise.
Status read_hex(std::string_view line, std::span<std::byte> bytes);

}  // namespace mx::pipe
