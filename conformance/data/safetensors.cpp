// Reading and writing safetensors. The JSON header is parsed event by event, so that repeated
// keys, negative numbers and nesting are seen and not repaired. Used by tensor_file.cpp, the tests
// and the fuzzers; knows nothing of .npy.
#include "conformance/data/safetensors.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "conformance/data/tensor_listing.hpp"

namespace mx::data {
namespace {

constexpr std::uint64_t length_size = 8;
constexpr std::uint64_t json_limit = 100'000'000;  // the limit of the safetensors library
constexpr std::string_view metadata_key = "__metadata__";

// One tensor as its header entry states it; nothing is believed yet.
struct Entry {
    std::string name;
    std::string type;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> offsets;
    std::uint64_t place = 0;  // of the entry in the file
};

// A character pointer that tells how far the JSON parser has read.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, std::uint64_t* count) : at_(at), count_(count) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        ++at_;
        ++*count_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator old = *this;
        ++*this;
        return old;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

private:
    const char* at_;
    std::uint64_t* count_;
};

// Takes the parser's events. Each handler returns false, which stops the parser, once it has set
// the error. A header has but one form:
// {name: {"dtype": "", "shape": [], "data_offsets": []}, ..., "__metadata__": {"": ""}}.
class HeaderHandler {
public:
    explicit HeaderHandler(const ByteSource& source) : source_(source) {}

    std::uint64_t& count() { return count_; }
    const std::optional<Error>& error() const { return error_; }
    std::vector<Entry>& entries() { return entries_; }
    std::vector<std::pair<std::string, std::string>>& metadata() { return metadata_; }

    bool null() { return unexpected("null"); }
    bool boolean(bool) { return unexpected("true or false"); }
    bool number_integer(std::int64_t value) {
        return fail(whose() + " has the negative number " + std::to_string(value));
    }
    bool number_float(double, const std::string& text) {
        return fail(whose() + " has " + in_quotes(text) + ", which is no whole number below 2^63");
    }
    bool binary(std::vector<std::uint8_t>&) { return unexpected("binary data"); }

    bool number_unsigned(std::uint64_t value) {
        if (place_ != Place::numbers) return unexpected("a number");
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return fail(whose() + " has " + std::to_string(value) + ", which is 2^63 or more");
        auto& numbers = field_ == "shape" ? entries_.back().shape : entries_.back().offsets;
        const std::size_t limit = field_ == "shape" ? max_rank : 2;
        if (numbers.size() == limit)
            return fail(whose() + " has more than " + std::to_string(limit) + " numbers");
        numbers.push_back(static_cast<std::int64_t>(value));
        return true;
    }

    bool string(std::string& text) {
        if (place_ == Place::metadata) {
            metadata_.emplace_back(field_, text);
            return true;
        }
        if (place_ != Place::tensor || field_ != "dtype") return unexpected("a string");
        entries_.back().type = text;
        return true;
    }

    bool start_object(std::size_t) {
        if (place_ == Place::outside) {
            place_ = Place::top;
        } else if (place_ == Place::top) {
            place_ = name_ == metadata_key ? Place::metadata : Place::tensor;
            fields_.clear();
            // The brace is the last byte that was read.
            if (place_ == Place::tensor) entries_.push_back({name_, {}, {}, {}, position() - 1});
        } else {
            return unexpected("an object");
        }
        return true;
    }

    bool key(std::string& text) {
        auto& seen = place_ == Place::top ? names_ : fields_;
        (place_ == Place::top ? name_ : field_) = text;
        if (!seen.insert(text).second) return fail("the key " + in_quotes(text) + " comes twice");
        if (place_ == Place::tensor && text != "dtype" && text != "shape" && text != "data_offsets")
            return fail("tensor " + in_quotes(name_) + " has an unknown field " + in_quotes(text));
        return true;
    }

    bool end_object() {
        if (place_ == Place::tensor) {
            for (const char* field : {"dtype", "shape", "data_offsets"})
                if (!fields_.contains(field))
                    return fail("tensor " + in_quotes(name_) + " has no " + in_quotes(field));
        }
        place_ = place_ == Place::top ? Place::outside : Place::top;
        return true;
    }

    bool start_array(std::size_t) {
        if (place_ != Place::tensor || field_ == "dtype") return unexpected("an array");
        place_ = Place::numbers;
        return true;
    }

    bool end_array() {
        place_ = Place::tensor;
        if (field_ == "data_offsets" && entries_.back().offsets.size() != 2)
            return fail(whose() + " has " + std::to_string(entries_.back().offsets.size()) +
                        " numbers instead of two");
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& exception) {
        // "[json.exception...] parse error at line 1, column 2: what", of which only "what" helps.
        constexpr std::size_t longest = 200;
        std::string text = exception.what();
        text.erase(0, text.find("] ") + 2);
        if (text.starts_with("parse error at")) text.erase(0, text.find(": ") + 2);
        if (text.size() > longest) text = text.substr(0, longest) + "...";
        for (char& character : text)
            if (std::isprint(static_cast<unsigned char>(character)) == 0) character = '?';
        return fail("is no valid JSON (" + text + ")");
    }

private:
    enum class Place { outside, top, metadata, tensor, numbers };

    std::uint64_t position() const { return length_size + count_; }

    std::string whose() const {
        if (place_ == Place::outside) return "the header itself";
        if (place_ == Place::top) return "the entry " + in_quotes(name_);
        return "field " + in_quotes(field_) + " of " + in_quotes(name_);
    }

    bool unexpected(std::string_view what) {
        return fail(whose() + " has " + std::string(what) + " where none belongs");
    }

    bool fail(std::string_view what) {
        error_ = bad_source(source_, "JSON header, before byte " + std::to_string(position()) +
                                         ": " + std::string(what));
        return false;
    }

    const ByteSource& source_;
    std::uint64_t count_ = 0;
    Place place_ = Place::outside;
    std::string name_;   // the last key of the top level
    std::string field_;  // the last key below it
    std::set<std::string> names_, fields_;
    std::vector<Entry> entries_;
    std::vector<std::pair<std::string, std::string>> metadata_;
    std::optional<Error> error_;
};

const TensorType* find_by_name(std::string_view name) {
    for (const TensorType& type : tensor_types)
        if (type.safetensors_name == name) return &type;
    return nullptr;
}

std::string name_list() {
    std::string list;
    for (const TensorType& type : tensor_types)
        list += (list.empty() ? "" : ", ") + std::string(type.safetensors_name);
    return list;
}

// Where the tensors' bytes are, and how far the tensors read so far have used them up.
struct Payload {
    ByteRange range;
    std::uint64_t used = 0;
};

// Holds an entry against the file. Entries come in the order of their offsets.
Expected<ListedTensor> list_entry(const ByteSource& source, const Entry& entry, Payload& payload) {
    const auto bad = [&](const std::string& what) {
        return bad_source(source, "tensor " + in_quotes(entry.name) + " (header entry at byte " +
                                      std::to_string(entry.place) + ") " + what);
    };
    const TensorType* type = find_by_name(entry.type);
    if (type == nullptr)
        return bad("has the unknown dtype " + in_quotes(entry.type) + "; known: " + name_list());
    const auto size = byte_count(*type, entry.shape);
    if (!size) return bad("has " + size.error().message);
    const auto begin = static_cast<std::uint64_t>(entry.offsets.front());
    const auto end = static_cast<std::uint64_t>(entry.offsets.back());
    const std::string span =
        "data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) + "]";
    const std::uint64_t available = payload.range.end - payload.range.begin;
    if (begin > end) return bad("has " + span + ", which run backwards");
    if (end > available)
        return bad("has " + span + ", but after the header the file has only " +
                   std::to_string(available) + " bytes");
    if (end - begin != size.value())
        return bad("has " + span + ", which are " + std::to_string(end - begin) +
                   " bytes, but shape " + shape_text(entry.shape) + " of " + entry.type +
                   " needs " + std::to_string(size.value()));
    if (begin < payload.used)
        return bad("has " + span + ", which overlap another tensor that ends at " +
                   std::to_string(payload.used));
    if (begin > payload.used)
        return bad("has " + span + ", which leave a gap after " + std::to_string(payload.used));
    payload.used = end;
    ListedTensor tensor;
    tensor.name = entry.name;
    tensor.type = type->id;
    tensor.shape = entry.shape;
    tensor.range = {payload.range.begin + begin, payload.range.begin + end};
    return tensor;
}

// The header's text, with its length held against the file.
Expected<std::vector<std::byte>> read_json(const ByteSource& source) {
    const auto field = read_range(source, {0, length_size}, "the header's length");
    if (!field) return field.error();
    const std::uint64_t length = little_endian(field.value());
    if (length > json_limit)
        return bad_source(source, "says at byte 0 that its JSON header has " +
                                      std::to_string(length) + " bytes; the limit is " +
                                      std::to_string(json_limit));
    return read_range(source, {length_size, length_size + length}, "the JSON header");
}

Error text_error(std::string_view what) {
    return bad_input(std::string(what) + " cannot be written as JSON: not UTF-8");
}

// What nlohmann would refuse by an exception, or silently write twice.
Status check_names(const TensorFile& file) {
    std::set<std::string_view> names, keys;
    for (const HostTensor& tensor : file.tensors) {
        if (const Status sound = check_tensor(tensor); !sound) return sound.error();
        if (tensor.name == metadata_key || !names.insert(tensor.name).second)
            return bad_input("the name " + in_quotes(tensor.name) +
                             " is reserved or taken by two tensors");
    }
    for (const auto& [key, value] : file.metadata)
        if (!keys.insert(key).second)
            return bad_input("metadata key " + in_quotes(key) + " comes twice");
    return success();
}

}  // namespace

namespace {

// All but the source of each tensor.
Expected<TensorListing> list_header(const ByteSource& source) {
    const auto header = read_json(source);
    if (!header) return header.error();
    const char* text = reinterpret_cast<const char*>(header.value().data());
    if (header.value().empty() || *text != '{')  // the parser would let a byte order mark pass
        return bad_source(source, "is no safetensors file: no JSON object begins at byte 8");
    HeaderHandler handler(source);
    const CountingIterator first(text, &handler.count());
    const CountingIterator last(text + header.value().size(), &handler.count());
    if (!nlohmann::json::sax_parse(first, last, &handler)) return *handler.error();

    std::vector<Entry>& entries = handler.entries();
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
        return left.offsets < right.offsets;
    });
    Payload payload{{length_size + header.value().size(), source.size()}, 0};
    TensorListing listing;
    listing.metadata = std::move(handler.metadata());
    for (const Entry& entry : entries) {
        auto tensor = list_entry(source, entry, payload);
        if (!tensor) return tensor.error();
        listing.tensors.push_back(std::move(tensor).value());
    }
    const std::uint64_t end = payload.range.begin + payload.used;
    if (end != source.size())
        return bad_source(source, "has " + std::to_string(source.size() - end) +
                                      " bytes from byte " + std::to_string(end) +
                                      " on that belong to no tensor");
    return listing;
}

}  // namespace

Expected<TensorListing> list_safetensors(const SharedSource& source) {
    auto listing = list_header(*source);
    if (!listing) return listing.error();
    for (ListedTensor& tensor : listing.value().tensors) tensor.source = source;
    return listing;
}

Expected<TensorFile> parse_safetensors(const ByteSource& source) {
    auto listing = list_header(source);
    if (!listing) return listing.error();
    std::uint64_t all = 0;
    for (const ListedTensor& tensor : listing.value().tensors) all += tensor.size();
    if (const Status enough = check_memory(source, all); !enough) return enough.error();
    TensorFile file;
    file.metadata = std::move(listing.value().metadata);
    for (ListedTensor& tensor : listing.value().tensors) {
        auto bytes = read_range(source, tensor.range, "the tensor");
        if (!bytes) return bytes.error();
        file.tensors.push_back({std::move(tensor.name), std::move(tensor.type),
                                std::move(tensor.shape), std::move(bytes).value()});
    }
    return file;
}

Expected<TensorFile> parse_safetensors(std::span<const std::byte> file, std::string_view name) {
    return parse_safetensors(MemorySource(file, name));
}

namespace {

// {"metadata": {...}, "weight_map": {tensor: file}}, or the sentence about it.
Expected<std::map<std::string, std::string>> weight_map(const ByteSource& index) {
    if (index.size() > json_limit)
        return bad_source(index, "is " + std::to_string(index.size()) +
                                     " bytes of index; the limit is " + std::to_string(json_limit));
    const auto text = read_range(index, {0, index.size()}, "the index");
    if (!text) return text.error();
    const char* begin = reinterpret_cast<const char*>(text.value().data());
    // Deep nesting would take the stack: an index has three levels.
    int depth = 0, deepest = 0;
    for (const std::byte b : text.value()) {
        const char c = static_cast<char>(b);
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        deepest = std::max(deepest, depth);
    }
    const auto json =
        deepest > 100 ? nlohmann::json(nlohmann::json::value_t::discarded)
                      : nlohmann::json::parse(begin, begin + text.value().size(), nullptr, false);
    if (json.is_discarded() || !json.is_object())
        return bad_source(index, "is no index of safetensors: it is no JSON object");
    const auto map = json.find("weight_map");
    if (map == json.end() || !map->is_object())
        return bad_source(index, "is no index of safetensors: it has no object \"weight_map\"");
    std::map<std::string, std::string> files;
    for (const auto& [name, file] : map->items()) {
        if (!file.is_string())
            return bad_source(index, "its weight_map names no file for " + in_quotes(name));
        files[name] = file.get<std::string>();
    }
    return files;
}

// A file of an index lies beside it, and nowhere else.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name != ".." &&
           name.find_first_of(std::string("/\\\0", 3)) == name.npos;
}

}  // namespace

Expected<TensorListing> list_shards(const SharedSource& index, ShardOpener open) {
    auto files = weight_map(*index);
    if (!files) return files.error();
    const std::filesystem::path folder = std::filesystem::path(index->name()).parent_path();
    TensorListing listing;
    std::set<std::string> opened;
    std::size_t found = 0;
    for (const auto& [first, file] : files.value()) {
        if (!opened.insert(file).second) continue;
        if (!is_plain_name(file))
            return bad_source(*index, "its weight_map names the file " + in_quotes(file) +
                                          ", which does not lie beside it");
        auto source = open((folder / file).string());
        if (!source) return source.error();
        auto shard = list_safetensors(std::move(source).value());
        if (!shard) return shard.error();
        for (ListedTensor& tensor : shard.value().tensors) {
            const auto entry = files.value().find(tensor.name);
            if (entry == files.value().end() || entry->second != file)
                return bad_source(*index, "says nothing of tensor " + in_quotes(tensor.name) +
                                              " in " + in_quotes(file));
            ++found;
            listing.tensors.push_back(std::move(tensor));
        }
        for (auto& pair : shard.value().metadata)
            if (std::find(listing.metadata.begin(), listing.metadata.end(), pair) ==
                listing.metadata.end())
                listing.metadata.push_back(std::move(pair));
    }
    if (found != files.value().size())
        return bad_source(*index, "names " + std::to_string(files.value().size()) +
                                      " tensors, but its files hold " + std::to_string(found));
    return listing;
}

Expected<EncodedFile> encode_safetensors(const TensorFile& file) {
    if (const Status sound = check_names(file); !sound) return sound.error();
    std::vector<const HostTensor*> order;
    for (const HostTensor& tensor : file.tensors) order.push_back(&tensor);
    std::stable_sort(order.begin(), order.end(), [](const HostTensor* a, const HostTensor* b) {
        return find_tensor_type(a->type)->bits > find_tensor_type(b->type)->bits;
    });
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    for (const auto& [key, value] : file.metadata) header[std::string(metadata_key)][key] = value;
    EncodedFile encoded;
    std::uint64_t used = 0;
    for (const HostTensor* tensor : order) {
        const std::uint64_t end = used + tensor->bytes.size();
        header[tensor->name] = {{"dtype", find_tensor_type(tensor->type)->safetensors_name},
                                {"shape", tensor->shape},
                                {"data_offsets", {used, end}}};
        encoded.payload.emplace_back(tensor->bytes);
        used = end;
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::exception&) {
        return text_error("a tensor's name or the metadata");
    }
    text.append((length_size - text.size() % length_size) % length_size, ' ');
    if (text.size() > json_limit)
        return bad_input("the header would have " + std::to_string(text.size()) +
                         " bytes; the limit is " + std::to_string(json_limit));
    for (std::size_t i = 0; i < length_size; ++i)
        encoded.header += static_cast<char>(text.size() >> (8 * i) & 0xFF);
    encoded.header += text;
    return encoded;
}

}  // namespace mx::data
