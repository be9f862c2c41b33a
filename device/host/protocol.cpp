// Numbers as eight bytes, strings as a length and their bytes; see protocol.hpp.
#include "device/host/protocol.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace mx {

namespace {

// A description longer than this is cut: it must fit into one message with the others.
constexpr std::size_t fact_count_max = 64;
constexpr std::size_t fact_text_max = 512;

class Writer {
public:
    void number(std::uint64_t value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        text_.append(bytes, sizeof value);
    }
    void signed_number(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
    void string(std::string_view value) {
        number(value.size());
        text_.append(value);
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

// After the first thing that does not fit, everything reads as 0 or "" and whole() is false.
class Reader {
public:
    explicit Reader(std::string_view message) : rest_(message) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        if (rest_.size() < sizeof value) return fail();
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    // A number that its writer holds in less than a word: a flag of 1 bit, a code of 32.
    std::uint64_t number_up_to(std::uint64_t most) {
        const std::uint64_t value = number();
        return value > most ? fail() : value;
    }
    std::int64_t signed_number() { return static_cast<std::int64_t>(number()); }
    std::string string() {
        const std::uint64_t size = number();
        if (size > rest_.size()) {
            fail();
            return "";
        }
        std::string value(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return value;
    }
    // A count of things that take at least eight bytes each.
    std::uint64_t count() {
        const std::uint64_t value = number();
        return value > rest_.size() / sizeof value ? fail() : value;
    }
    bool whole() const { return !failed_ && rest_.empty(); }

private:
    std::uint64_t fail() {
        failed_ = true;
        rest_ = {};
        return 0;
    }

    std::string_view rest_;
    bool failed_ = false;
};

void write(Writer& writer, const std::vector<PlacedSpec>& tensors) {
    writer.number(tensors.size());
    for (const PlacedSpec& tensor : tensors) {
        writer.string(tensor.spec.type);
        writer.signed_number(tensor.spec.rows);
        writer.signed_number(tensor.spec.columns);
        writer.signed_number(tensor.spec.row_stride);
        writer.signed_number(tensor.spec.column_stride);
        writer.string(tensor.spec.layout);
        writer.number(tensor.offset);
    }
}

std::vector<PlacedSpec> read_tensors(Reader& reader) {
    std::vector<PlacedSpec> tensors(reader.count());
    for (PlacedSpec& tensor : tensors) {
        tensor.spec.type = reader.string();
        tensor.spec.rows = reader.signed_number();
        tensor.spec.columns = reader.signed_number();
        tensor.spec.row_stride = reader.signed_number();
        tensor.spec.column_stride = reader.signed_number();
        tensor.spec.layout = reader.string();
        tensor.offset = reader.number();
    }
    return tensors;
}

template <typename Gemm>
auto texts_of(Gemm& gemm) {
    return std::array{&gemm.scaling_a, &gemm.scaling_b,    &gemm.scaling_out,
                      &gemm.epilogue,  &gemm.accumulation, &gemm.algorithm};
}

void write(Writer& writer, const std::optional<GemmOperation>& gemm) {
    writer.number(gemm ? 1 : 0);
    if (!gemm) return;
    writer.signed_number(gemm->batches);
    writer.number(gemm->alpha);
    writer.number(gemm->beta);
    for (const std::string* text : texts_of(*gemm)) writer.string(*text);
    writer.signed_number(gemm->groups);
}

std::optional<GemmOperation> read_gemm(Reader& reader) {
    if (reader.number_up_to(1) == 0) return std::nullopt;
    GemmOperation gemm;
    gemm.batches = reader.signed_number();
    gemm.alpha = static_cast<std::uint32_t>(reader.number_up_to(UINT32_MAX));
    gemm.beta = static_cast<std::uint32_t>(reader.number_up_to(UINT32_MAX));
    for (std::string* text : texts_of(gemm)) *text = reader.string();
    gemm.groups = reader.signed_number();
    return gemm;
}

std::string shortened(const std::string& text) {
    return text.size() <= fact_text_max ? text : text.substr(0, fact_text_max) + "...";
}

}  // namespace

std::string encode(const Request& request) {
    Writer writer;
    writer.number(static_cast<std::uint64_t>(request.command));
    writer.number(request.memory_size);
    const Operation& operation = request.operation;
    for (const std::string* member : {&operation.name, &operation.format, &operation.dialect,
                                      &operation.axis, &operation.rounding, &operation.overflow,
                                      &operation.subnormals, &operation.tensor_scale}) {
        writer.string(*member);
    }
    writer.signed_number(operation.block_size);
    write(writer, operation.gemm);
    write(writer, request.inputs);
    write(writer, request.outputs);
    return writer.take();
}

std::optional<Request> decode_request(std::string_view message) {
    Reader reader(message);
    Request request;
    request.command = static_cast<Command>(reader.number());
    request.memory_size = reader.number();
    Operation& operation = request.operation;
    for (std::string* member : {&operation.name, &operation.format, &operation.dialect,
                                &operation.axis, &operation.rounding, &operation.overflow,
                                &operation.subnormals, &operation.tensor_scale}) {
        *member = reader.string();
    }
    operation.block_size = reader.signed_number();
    operation.gemm = read_gemm(reader);
    request.inputs = read_tensors(reader);
    request.outputs = read_tensors(reader);
    if (!reader.whole()) return std::nullopt;
    return request;
}

std::string encode(const CallResult& result) {
    Writer writer;
    writer.number(static_cast<std::uint64_t>(result.status));
    writer.string(result.message);
    return writer.take();
}

std::optional<CallResult> decode_result(std::string_view message) {
    Reader reader(message);
    const std::uint64_t status = reader.number();
    std::string text = reader.string();
    if (!reader.whole() || status > MX_FAILED) return std::nullopt;
    return CallResult{static_cast<mx_status>(status), std::move(text)};
}

std::string encode(const Expected<Facts>& opened) {
    Writer writer;
    writer.number(opened.ok() ? 1 : 0);
    if (!opened) {
        writer.number(static_cast<std::uint64_t>(opened.error().kind));
        writer.string(opened.error().message);
        return writer.take();
    }
    const std::size_t count = std::min(opened.value().size(), fact_count_max);
    writer.number(count);
    for (std::size_t i = 0; i < count; ++i) {
        writer.string(shortened(opened.value()[i].first));
        writer.string(shortened(opened.value()[i].second));
    }
    return writer.take();
}

std::optional<Expected<Facts>> decode_opened(std::string_view message) {
    Reader reader(message);
    if (reader.number_up_to(1) == 0) {
        const std::uint64_t kind = reader.number();
        std::string text = reader.string();
        if (!reader.whole() || kind > static_cast<std::uint64_t>(ErrorKind::system)) {
            return std::nullopt;
        }
        return Expected<Facts>(Error{static_cast<ErrorKind>(kind), std::move(text)});
    }
    Facts facts(reader.number_up_to(fact_count_max));
    for (auto& [key, value] : facts) {
        key = reader.string();
        value = reader.string();
        // What the writer would have cut is no writer's.
        if (key != shortened(key) || value != shortened(value)) return std::nullopt;
    }
    if (!reader.whole()) return std::nullopt;
    return Expected<Facts>(std::move(facts));
}

}  // namespace mx
