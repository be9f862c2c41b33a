// See vectors.hpp. Each form is one class that gets request after request.
#include "conformance/session/vectors.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "conformance/data/gemm_tensors.hpp"
#include "conformance/data/npz_writer.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/gemm_judge.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "conformance/session/pack.hpp"
#include "device/host/layout.hpp"
#include "reference/base/text.hpp"
#include "reference/proof/sha256.hpp"

namespace mx::session {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, VectorForm>, 4> forms{{
    {"readmemh", VectorForm::readmemh},
    {"csv", VectorForm::csv},
    {"json", VectorForm::json},
    {"npz", VectorForm::npz},
}};

std::string name_of_part(Part part) {
    switch (part) {
        case Part::values:
            return "values";
        case Part::elements:
            return "elements";
        case Part::scales:
        case Part::value_scales:
            return "scales";
        case Part::tensor_number:
            return "tensor_number";
        case Part::random_bits:
            return "random_bits";
    }
    return "";
}

// Of every tensor of one side, in the order of the device ABI; those of axis both say which.
std::vector<std::string> tensor_names(const Problem& p, TensorRole role) {
    std::vector<std::string> names;
    if (is_gemm(p)) {
        for (const GemmTensor& tensor : tensors_of(p))
            if (is_output(tensor.part) == (role == TensorRole::output))
                names.emplace_back(mx::name_of(tensor.part));
        return names;
    }
    if (role == TensorRole::input) {
        for (const Part part : inputs_of(p)) names.push_back(name_of_part(part));
        return names;
    }
    const std::span<const BlockAxis> axes = axes_of(p);
    for (const BlockAxis axis : axes)
        for (const Part part : outputs_of(along(p, axis)))
            names.push_back(name_of_part(part) +
                            (axes.size() > 1 ? "_" + std::string(mx::name_of(axis)) : ""));
    return names;
}

void add_inputs(const Question& question, VectorRequest& request) {
    const std::vector<Buffer> buffers = input_buffers(request.c);
    const std::vector<std::string> names = tensor_names(request.c, TensorRole::input);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const InputTensor& input = question.inputs[i];
        std::vector<std::byte> scratch;
        const auto bytes = pipe::as_it_travels(input.spec, input.data, scratch);
        request.tensors.push_back(
            {names[buffers[i].tensor], input.spec, {bytes.begin(), bytes.end()}});
    }
}

void add_answers(const std::vector<CodeTensor>& inputs, VectorRequest& request) {
    if (is_gemm(request.c)) request.unanswered = without_right_bits(request.c, inputs);
    if (!request.unanswered.empty()) return;
    const std::vector<CodeTensor> expected = expect(request.c, inputs);
    const std::vector<std::string> names = tensor_names(request.c, TensorRole::output);
    for (const Buffer& buffer : output_buffers(request.c)) {
        const bool strided = is_strided(buffer.spec);
        TensorSpec spec = buffer.spec;
        if (strided) spec.rows = expected[buffer.tensor].rows;  // without those of no group
        request.tensors.push_back(
            {"expected_" + names[buffer.tensor], spec,
             strided ? expected[buffer.tensor].bytes : lay_out(buffer, expected, std::byte{0})});
    }
}

// A tensor as rows of words: the codes of a strided one, the bytes of any other in one row.
struct Grid {
    std::int64_t rows, columns;
    std::size_t width;  // bytes of a word
    int digits;         // hexadecimal ones of a word
};

Grid grid_of(const TensorSpec& spec) {
    if (!is_strided(spec)) return {1, static_cast<std::int64_t>(pipe::travelling_size(spec)), 1, 2};
    return {spec.rows, spec.columns, element_width(spec.type), (code_bits(spec.type) + 3) / 4};
}

std::uint32_t word_at(const VectorTensor& tensor, const Grid& grid, std::int64_t index) {
    std::uint32_t word = 0;
    for (std::size_t byte = grid.width; byte-- > 0;)
        word = word << 8 | std::to_integer<std::uint32_t>(
                               tensor.bytes[static_cast<std::size_t>(index) * grid.width + byte]);
    return word;
}

std::string hex(std::uint32_t word, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, word >>= 4)
        *digit = "0123456789abcdef"[word & 15];
    return text;
}

std::string digest_of(const VectorTensor& tensor) {
    return sha256({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
}

// What a comparison must know beside the bits: where several answers are right.
void add_freedoms(const Case& c, OrderedJson& json) {
    const bool gives_values = c.operation == OperationKind::dequantize || is_gemm(c);
    if (gives_values) json["nan"] = "any";
    if (c.dialect == nullptr || c.dialect->open == 0) return;
    json["open"] = OrderedJson::array();
    for (const NamedDecision& decision : decisions)
        if (c.dialect->leaves_open(decision.decision)) json["open"].push_back(decision.name);
}

OrderedJson tensor_json(const VectorTensor& tensor) {
    const Grid grid = grid_of(tensor.spec);
    return {{"name", tensor.name},
            {"type", tensor.spec.type},
            {"layout", tensor.spec.layout == "strided" ? "rows" : tensor.spec.layout},
            {"rows", grid.rows},
            {"columns", grid.columns},
            {"sha256", digest_of(tensor)}};
}

// `add` puts into the object of a tensor what the form says of it beside.
template <typename Add>
OrderedJson request_json(const VectorRequest& request, const std::string& folder, const Add& add) {
    OrderedJson json{{"request", folder}, {"id", request.id}, {"case", print(request.c)}};
    add_freedoms(request.c, json);
    if (!request.unanswered.empty()) json["unanswered"] = request.unanswered;
    json["tensors"] = OrderedJson::array();
    for (const VectorTensor& tensor : request.tensors) {
        OrderedJson each = tensor_json(tensor);
        add(tensor, each);
        json["tensors"].push_back(std::move(each));
    }
    return json;
}

OrderedJson nothing_added(const VectorRequest& request, const std::string& folder) {
    return request_json(request, folder, [](const VectorTensor&, OrderedJson&) {});
}

std::string line_of(const OrderedJson& json) {
    return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

Error cannot_write(const std::string& path) {
    return {ErrorKind::system, path + " cannot be written, or not to its end"};
}

// The number of a request as its folder and arrays are named.
class Numbers {
public:
    std::string next() {
        const std::string digits = std::to_string(++count_);
        return std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
    }

private:
    std::uint64_t count_ = 0;
};

// What lies beside the target until it is whole.
class Partial {
public:
    // A name of this process alone: nobody else's files are written over, or removed.
    explicit Partial(const std::string& target)
        : target_(target), path_(target + "." + std::to_string(::getpid()) + ".partial") {}
    Partial(const Partial&) = delete;
    Partial& operator=(const Partial&) = delete;
    ~Partial() { remove(); }

    const std::string& path() const { return path_; }
    Status move_to_target() {
        std::error_code failed;
        fs::rename(path_, target_, failed);
        if (failed)
            return Error{ErrorKind::system, target_ + " cannot be written: " + failed.message()};
        return success();
    }

private:
    void remove() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string target_, path_;
};

// One file that grows.
class FileWriter : public VectorWriter {
public:
    explicit FileWriter(const VectorsTarget& target)
        : target_(target),
          partial_(target.path),
          file_(partial_.path(), std::ios::binary | std::ios::trunc) {}

    Status finish() override {
        close(file_);
        file_.close();
        return file_ ? partial_.move_to_target() : cannot_write(target_.path);
    }
    bool is_open() const { return file_.is_open(); }

protected:
    virtual void close(std::ofstream& file) = 0;
    Status state() const { return file_ ? success() : cannot_write(target_.path); }

    const VectorsTarget target_;
    Numbers numbers_;
    Partial partial_;
    std::ofstream file_;
};

OrderedJson head_of(const VectorsTarget& target) {
    return {{"mxcheck_vectors", vectors_version}, {"program", target.program}};
}

// --- json: one object, a request a line
class JsonWriter final : public FileWriter {
public:
    explicit JsonWriter(const VectorsTarget& target) : FileWriter(target) {
        std::string head = line_of(head_of(target));
        head.back() = ',';
        file_ << head << "\"requests\":[";
    }
    Status add(const VectorRequest& request) override {
        const OrderedJson json = request_json(
            request, numbers_.next(), [](const VectorTensor& tensor, OrderedJson& each) {
                const Grid grid = grid_of(tensor.spec);
                OrderedJson& rows = each["codes"] = OrderedJson::array();
                for (std::int64_t row = 0; row < grid.rows; ++row) {
                    OrderedJson codes = OrderedJson::array();
                    for (std::int64_t column = 0; column < grid.columns; ++column)
                        codes.push_back(word_at(tensor, grid, row * grid.columns + column));
                    rows.push_back(std::move(codes));
                }
            });
        file_ << (is_first_ ? "\n" : ",\n") << line_of(json);
        is_first_ = false;
        return state();
    }

private:
    void close(std::ofstream& file) override { file << "\n]}\n"; }
    bool is_first_ = true;
};

// --- csv: an element a line; lines that begin with # say what the requests are
class CsvWriter final : public FileWriter {
public:
    explicit CsvWriter(const VectorsTarget& target) : FileWriter(target) {
        file_ << "# " << line_of(head_of(target)) << "\nrequest,tensor,type,row,column,code\n";
    }
    Status add(const VectorRequest& request) override {
        const std::string number = numbers_.next();
        std::string text = "# " + line_of(nothing_added(request, number)) + "\n";
        for (const VectorTensor& tensor : request.tensors) {
            const Grid grid = grid_of(tensor.spec);
            const std::string begin = number + "," + tensor.name + "," + tensor.spec.type + ",";
            for (std::int64_t i = 0; i < grid.rows * grid.columns; ++i)
                text += begin + std::to_string(i / grid.columns) + "," +
                        std::to_string(i % grid.columns) + "," +
                        hex(word_at(tensor, grid, i), grid.digits) + "\n";
        }
        file_ << text;
        return state();
    }

private:
    void close(std::ofstream&) override {}
};

// --- npz: an array a tensor, and "manifest", the bytes of a JSON text
class NpzVectors final : public FileWriter {
public:
    explicit NpzVectors(const VectorsTarget& target)
        : FileWriter(target), archive_(file_), manifest_(head_of(target)) {
        manifest_["requests"] = OrderedJson::array();
    }
    Status add(const VectorRequest& request) override {
        const std::string number = numbers_.next();
        for (const VectorTensor& tensor : request.tensors) {
            const Grid grid = grid_of(tensor.spec);
            const data::HostTensor array{number + "/" + tensor.name,
                                         type_of(tensor, grid),
                                         {grid.rows, grid.columns},
                                         tensor.bytes};
            if (const Status added = archive_.add(array); !added) return added;
        }
        manifest_["requests"].push_back(nothing_added(request, number));
        return state();
    }
    Status finish() override {
        const std::string text = line_of(manifest_);
        const auto bytes = std::as_bytes(std::span(text));
        const auto size = static_cast<std::int64_t>(text.size());
        const Status added = archive_.add({"manifest", "u8", {size}, {bytes.begin(), bytes.end()}});
        return added ? FileWriter::finish() : added;
    }

private:
    // Numbers that NumPy knows are such; all else are codes.
    static std::string type_of(const VectorTensor& tensor, const Grid& grid) {
        const std::string& type = tensor.spec.type;
        if (type == "f32" || type == "f16") return type;
        return grid.width == 4 ? "u32" : grid.width == 2 ? "u16" : "u8";
    }
    void close(std::ofstream&) override { archive_.finish(); }

    data::NpzWriter archive_;
    OrderedJson manifest_;
};

// --- readmemh: a folder with a file a tensor, index.txt for a testbench and manifest.json for
// others
class ReadmemhWriter final : public VectorWriter {
public:
    explicit ReadmemhWriter(const VectorsTarget& target)
        : target_(target), partial_(target.path), manifest_(head_of(target)) {
        manifest_["requests"] = OrderedJson::array();
    }
    bool is_open() const {
        std::error_code failed;
        return fs::create_directory(partial_.path(), failed) && !failed;
    }
    Status add(const VectorRequest& request) override {
        const std::string number = numbers_.next();
        std::error_code failed;
        fs::create_directory(fs::path(partial_.path()) / number, failed);
        for (const VectorTensor& tensor : request.tensors)
            if (const Status written = write(request, tensor, number); !written) return written;
        manifest_["requests"].push_back(
            request_json(request, number, [&number](const VectorTensor& tensor, OrderedJson& each) {
                each["file"] = file_of(tensor, number);
            }));
        return success();
    }
    Status finish() override {
        if (const Status written = put("index.txt", index_); !written) return written;
        if (const Status written = put("manifest.json", manifest_.dump(1) + "\n"); !written)
            return written;
        return partial_.move_to_target();
    }

private:
    static std::string file_of(const VectorTensor& tensor, const std::string& number) {
        return number + "/" + tensor.name + ".hex";
    }
    Status write(const VectorRequest& request, const VectorTensor& tensor,
                 const std::string& number) {
        const Grid grid = grid_of(tensor.spec);
        std::string text = "// " + print(request.c) + "\n// " + tensor.name + ", " +
                           tensor.spec.type + ", sha256 of its bytes " + digest_of(tensor) + "\n";
        for (std::int64_t row = 0; row < grid.rows; ++row)
            for (std::int64_t column = 0; column < grid.columns; ++column)
                text += hex(word_at(tensor, grid, row * grid.columns + column), grid.digits) +
                        (column + 1 == grid.columns ? '\n' : ' ');
        const std::string file = file_of(tensor, number);
        const bool blocks = mx::has_blocks(request.c);
        index_ += number + " " + std::string(mx::name_of(request.c.operation)) + " " +
                  (blocks ? std::string(mx::name_of(request.c.axis)) : "none") + " " +
                  std::to_string(blocks ? request.c.block : 0) + " " + tensor.name + " " +
                  tensor.spec.type + " " + std::to_string(grid.rows) + " " +
                  std::to_string(grid.columns) + " " + file + "\n";
        return put(file, text);
    }
    Status put(const std::string& name, const std::string& text) const {
        std::ofstream file(fs::path(partial_.path()) / name, std::ios::binary);
        file << text;
        file.close();
        return file ? success() : cannot_write(target_.path + "/" + name);
    }

    const VectorsTarget target_;
    Numbers numbers_;
    Partial partial_;
    OrderedJson manifest_;
    std::string index_;
};

template <typename Writer>
Expected<std::unique_ptr<VectorWriter>> opened(const VectorsTarget& target) {
    auto writer = std::make_unique<Writer>(target);
    if (!writer->is_open()) return cannot_write(target.path);
    return std::unique_ptr<VectorWriter>(std::move(writer));
}

// No line of an element is longer: a request's number, the longest name, a type and two numbers.
constexpr std::uint64_t csv_line_max = 80;
constexpr std::uint64_t json_number_max = 11;

std::uint64_t size_of(const TensorSpec& spec, VectorForm form) {
    const Grid grid = grid_of(spec);
    const auto words = static_cast<std::uint64_t>(grid.rows * grid.columns);
    switch (form) {
        case VectorForm::readmemh:
            return words * static_cast<std::uint64_t>(grid.digits + 1);
        case VectorForm::csv:
            return words * csv_line_max;
        case VectorForm::json:
            return words * json_number_max;
        case VectorForm::npz:
            return words * grid.width;
    }
    return 0;
}

}  // namespace

std::optional<VectorForm> vector_form_named(std::string_view name) {
    for (const auto& [known, form] : forms)
        if (known == name) return form;
    return std::nullopt;
}

VectorRequest vectors_of(const Case& c, const std::vector<CodeTensor>& inputs,
                         const VectorPlace& place, RightAnswers answers) {
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(c, inputs, storage);
    VectorRequest request;
    request.c = c;
    request.id = print(request_id(c, question, {place.number, place.total}));
    add_inputs(question, request);
    if (answers == RightAnswers::given) add_answers(inputs, request);
    return request;
}

std::uint64_t vectors_size(const std::vector<Case>& cases, VectorForm form, RightAnswers answers) {
    std::uint64_t bytes = 0;
    for (const Case& c : cases) {
        const Question question = question_without_data(c);
        for (const InputTensor& input : question.inputs) bytes += size_of(input.spec, form);
        if (answers == RightAnswers::left_out) continue;
        for (const TensorSpec& output : question.outputs) bytes += size_of(output, form);
    }
    return bytes;
}

Expected<std::unique_ptr<VectorWriter>> VectorWriter::open(VectorsTarget target) {
    std::error_code ignored;
    while (target.path.size() > 1 && target.path.ends_with('/')) target.path.pop_back();
    const bool exists = fs::exists(target.path, ignored);
    if (target.form == VectorForm::readmemh && exists)
        return bad_input(target.path + " exists; --form readmemh makes a folder of that name");
    if (target.form != VectorForm::readmemh && exists && !fs::is_regular_file(target.path, ignored))
        return bad_input(target.path + " is no file that could be replaced");
    switch (target.form) {
        case VectorForm::readmemh:
            return opened<ReadmemhWriter>(target);
        case VectorForm::csv:
            return opened<CsvWriter>(target);
        case VectorForm::json:
            return opened<JsonWriter>(target);
        case VectorForm::npz:
            return opened<NpzVectors>(target);
    }
    return bad_input("no such form");
}

}  // namespace mx::session
