// Reading torch's .pt and .pth: a ZIP archive of a pickle, which says how tensors are made, and of
// their storages. Nothing that the pickle names is run: of its opcodes those that state dicts of
// tensors need are known, of its names those of torch's own tensors, and any other ends the reading
// with a sentence. torch/serialization.py and torch/_utils.py of pytorch/pytorch say what is
// written, Lib/pickletools.py of python/cpython what the opcodes mean.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "conformance/data/tensor_listing.hpp"
#include "conformance/data/zip_file.hpp"

namespace mx::data {
namespace {

constexpr std::uint64_t pickle_max = std::uint64_t{1} << 28;
constexpr int dict_depth_max = 32;
constexpr std::size_t things_max = 4'000'000;

struct TorchType {
    std::string_view name;  // of the class of a storage, or of a dtype
    std::string_view type;
};
constexpr std::array torch_types{
    TorchType{"FloatStorage", "f32"},
    TorchType{"HalfStorage", "f16"},
    TorchType{"BFloat16Storage", "bf16"},
    TorchType{"DoubleStorage", "f64"},
    TorchType{"ByteStorage", "u8"},
    TorchType{"CharStorage", "i8"},
    TorchType{"ShortStorage", "i16"},
    TorchType{"IntStorage", "i32"},
    TorchType{"LongStorage", "i64"},
    TorchType{"BoolStorage", "bool"},
    TorchType{"ComplexFloatStorage", "c64"},
    TorchType{"UntypedStorage", "u8"},
    TorchType{"float8_e4m3fn", "e4m3"},
    TorchType{"float8_e5m2", "e5m2"},
    TorchType{"float8_e4m3fnuz", "e4m3fnuz"},
    TorchType{"float8_e5m2fnuz", "e5m2fnuz"},
    TorchType{"float8_e8m0fnu", "e8m0"},
    TorchType{"float4_e2m1fn_x2", "u8"},
    TorchType{"uint16", "u16"},
    TorchType{"uint32", "u32"},
    TorchType{"uint64", "u64"},
};

const TorchType* find_torch_type(std::string_view name) {
    for (const TorchType& type : torch_types)
        if (type.name == name) return &type;
    return nullptr;
}

enum class Made : std::uint8_t { none, number, text, list, dict, name, storage, tensor, mark };

// What the pickle has made so far. All are kept by the machine until its end, so that what contains
// itself is no trouble.
struct Thing {
    Made kind = Made::none;
    std::int64_t number = 0;
    std::string text = {};                 // of a text; "module name" of a name
    std::vector<const Thing*> items = {};  // of a list or a tuple; of a dict key, value, key, ...
    // Of a storage the class and the member of the archive; of a tensor the type, where it begins
    // in its storage, and its shape.
    const TorchType* type = nullptr;
    std::int64_t offset = 0;
    std::vector<std::int64_t> shape = {};
};

// A stack machine that makes numbers, texts, lists, dicts and descriptions of tensors.
class Unpickler {
public:
    Unpickler(const ByteSource& source, std::span<const std::byte> program)
        : source_(source), program_(program) {}

    Expected<const Thing*> run() {
        while (!done_ && !error_) step();
        if (error_) return *error_;
        if (stack_.size() != 1) return damaged("leaves no single object");
        return stack_.back();
    }

private:
    Error damaged(std::string_view what) const {
        return bad_source(source_,
                          "its pickle " + std::string(what) + " at byte " + std::to_string(at_));
    }
    void fail(std::string_view what) {
        if (!error_) error_ = damaged(what);
    }

    Thing* make(Made kind) {
        things_.emplace_back().kind = kind;
        return &things_.back();
    }
    Thing* push(Made kind) {
        Thing* thing = make(kind);
        stack_.push_back(thing);
        return thing;
    }
    Thing* pop() {
        if (stack_.empty()) {
            fail("takes more than it has made");
            return make(Made::none);
        }
        Thing* top = stack_.back();
        stack_.pop_back();
        return top;
    }
    Thing* top() {
        Thing* thing = pop();
        stack_.push_back(thing);
        return thing;
    }

    std::uint64_t read(std::size_t width) {
        if (program_.size() - at_ < width) {
            fail("ends too early");
            at_ = program_.size();
            return 0;
        }
        const std::uint64_t value = little_endian(program_.subspan(at_, width));
        at_ += width;
        return value;
    }
    std::string read_text(std::uint64_t length) {
        if (program_.size() - at_ < length) {
            fail("has a text that ends behind it");
            return "";
        }
        std::string text(reinterpret_cast<const char*>(program_.data()) + at_, length);
        at_ += length;
        return text;
    }
    std::string read_line() {
        std::string line;
        while (at_ < program_.size() && program_[at_] != std::byte{'\n'})
            line += static_cast<char>(read(1));
        read(1);
        return line;
    }

    // What lies above the last mark, which goes too.
    std::vector<const Thing*> take_marked() {
        const auto mark = std::find_if(stack_.rbegin(), stack_.rend(), [](const Thing* thing) {
            return thing->kind == Made::mark;
        });
        if (mark == stack_.rend()) {
            fail("has no mark");
            return {};
        }
        std::vector<const Thing*> items(mark.base(), stack_.end());
        stack_.erase(mark.base() - 1, stack_.end());
        return items;
    }

    void step() {
        if (at_ >= program_.size()) return fail("has no end");
        const auto opcode = static_cast<unsigned char>(read(1));
        if (!makes_plain(opcode) && !makes_group(opcode) && !moves(opcode) && !names(opcode))
            fail("has the opcode " + std::to_string(opcode) +
                 ", which no state dict of tensors needs,");
    }

    // Numbers and texts.
    bool makes_plain(unsigned char opcode) {
        switch (opcode) {
            case 0x80:  // PROTO
                read(1);
                return true;
            case 0x95:  // FRAME
                read(8);
                return true;
            case 'N':
                push(Made::none);
                return true;
            case 0x88:  // NEWTRUE
            case 0x89:  // NEWFALSE
                push(Made::number)->number = opcode == 0x88 ? 1 : 0;
                return true;
            case 'K':  // BININT1
            case 'M':  // BININT2
                push(Made::number)->number = static_cast<std::int64_t>(read(opcode == 'K' ? 1 : 2));
                return true;
            case 'J':  // BININT
                push(Made::number)->number =
                    static_cast<std::int32_t>(static_cast<std::uint32_t>(read(4)));
                return true;
            case 'G':  // BINFLOAT; no tensor needs its value
                read(8);
                push(Made::none);
                return true;
            case 0x8a:  // LONG1
                return makes_long();
            case 'X':   // BINUNICODE
            case 0x8c:  // SHORT_BINUNICODE
                makes_text(read(opcode == 'X' ? 4 : 1));
                return true;
            default:
                return false;
        }
    }

    void makes_text(std::uint64_t length) {
        std::string text = read_text(length);
        push(Made::text)->text = std::move(text);
    }

    bool makes_long() {
        const std::uint64_t length = read(1);
        if (length > 8) {
            fail("has a number of more than 64 bits");
            return true;
        }
        std::uint64_t value = read(length);
        if (length > 0 && length < 8 && (value >> (8 * length - 1) & 1) != 0)
            value |= ~std::uint64_t{0} << (8 * length);
        push(Made::number)->number = static_cast<std::int64_t>(value);
        return true;
    }

    // Lists and dicts; a tuple counts as a list.
    bool makes_group(unsigned char opcode) {
        switch (opcode) {
            case '}':
                push(Made::dict);
                return true;
            case ']':
            case ')':
                push(Made::list);
                return true;
            case 't': {  // TUPLE
                auto items = take_marked();
                push(Made::list)->items = std::move(items);
                return true;
            }
            case 0x85:  // TUPLE1 to TUPLE3
            case 0x86:
            case 0x87: {
                std::vector<const Thing*> items(opcode - 0x84u);
                for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
                push(Made::list)->items = std::move(items);
                return true;
            }
            case 's': {  // SETITEM
                const Thing* value = pop();
                const Thing* key = pop();
                extend(Made::dict, {key, value});
                return true;
            }
            case 'a':  // APPEND
                extend(Made::list, {pop()});
                return true;
            case 'u':  // SETITEMS
                extend(Made::dict, take_marked());
                return true;
            case 'e':  // APPENDS
                extend(Made::list, take_marked());
                return true;
            default:
                return false;
        }
    }

    void extend(Made kind, const std::vector<const Thing*>& items) {
        Thing* group = top();
        if (group->kind != kind) return fail("puts items into what is no such group");
        if (kind == Made::dict && items.size() % 2 != 0) return fail("has a key without a value");
        group->items.insert(group->items.end(), items.begin(), items.end());
    }

    // The stack and the memory.
    bool moves(unsigned char opcode) {
        switch (opcode) {
            case '(':
                push(Made::mark);
                return true;
            case '.':
                done_ = true;
                return true;
            case 'q':  // BINPUT
            case 'r':  // LONG_BINPUT
                memory_[read(opcode == 'q' ? 1 : 4)] = top();
                return true;
            case 0x94:  // MEMOIZE
                memory_[memory_.size()] = top();
                return true;
            case 'h':  // BINGET
            case 'j':  // LONG_BINGET
                return recalls(read(opcode == 'h' ? 1 : 4));
            default:
                return false;
        }
    }

    bool recalls(std::uint64_t place) {
        const auto found = memory_.find(place);
        if (found == memory_.end())
            fail("recalls what it has not stored");
        else
            stack_.push_back(found->second);
        return true;
    }

    // Names of Python, and what is made of them.
    bool names(unsigned char opcode) {
        switch (opcode) {
            case 'c': {  // GLOBAL
                const std::string module = read_line();
                takes_name(module + " " + read_line());
                return true;
            }
            case 0x93: {  // STACK_GLOBAL
                const std::string name = pop()->text;
                const std::string module = pop()->text;
                takes_name(module + " " + name);
                return true;
            }
            case 'Q':  // BINPERSID
                makes_storage(pop());
                return true;
            case 'R': {  // REDUCE
                const Thing* arguments = pop();
                calls(pop(), arguments);
                return true;
            }
            case 'b':  // BUILD: the attributes of an OrderedDict, of which no tensor is one
                pop();
                if (top()->kind != Made::dict) fail("gives attributes to what is no dict");
                return true;
            default:
                return false;
        }
    }

    void takes_name(const std::string& name) {
        constexpr std::array<std::string_view, 5> functions{
            "collections OrderedDict", "torch._utils _rebuild_tensor_v2",
            "torch._utils _rebuild_tensor_v3", "torch._utils _rebuild_parameter", "torch Size"};
        const std::size_t blank = name.find(' ');
        const std::string module = name.substr(0, blank);
        const bool is_known =
            std::find(functions.begin(), functions.end(), name) != functions.end() ||
            ((module == "torch" || module == "torch.storage") &&
             find_torch_type(name.substr(blank + 1)) != nullptr);
        if (!is_known)
            return fail("names " + in_quotes(name) +
                        ", and mxcheck runs nothing that a pickle names (torch.save the tensors "
                        "alone, as a dict)");
        push(Made::name)->text = name;
    }

    // ("storage", class, key, place, number of elements)
    void makes_storage(const Thing* id) {
        const auto& items = id->items;
        const bool is_sound = id->kind == Made::list && items.size() == 5 &&
                              items[0]->text == "storage" && items[1]->kind == Made::name &&
                              items[2]->kind == Made::text;
        const std::string name = is_sound ? items[1]->text : "";
        const TorchType* type = find_torch_type(name.substr(name.find(' ') + 1));
        if (type == nullptr) return fail("names a storage in another way than torch does");
        Thing* storage = push(Made::storage);
        storage->type = type;
        storage->text = items[2]->text;
    }

    void calls(const Thing* function, const Thing* arguments) {
        const std::string& name = function->text;
        const auto& items = arguments->items;
        if (function->kind != Made::name || arguments->kind != Made::list)
            return fail("calls what is no name");
        if (name == "collections OrderedDict" && items.empty()) {
            push(Made::dict);
        } else if (name == "torch Size" && items.size() == 1 &&
                   items.front()->items.size() <= max_rank) {
            push(Made::list)->items = items.front()->items;
        } else if (name == "torch._utils _rebuild_parameter" && !items.empty() &&
                   items.front()->kind == Made::tensor) {
            // Nobody changes a tensor once it is made.
            *push(Made::tensor) = *items.front();
        } else if (name.starts_with("torch._utils _rebuild_tensor") && items.size() >= 6) {
            makes_tensor(items, name.ends_with("v3"));
        } else {
            fail("calls " + in_quotes(name) + " in another way than torch does");
        }
    }

    // (storage, offset, size, stride, requires_grad, hooks[, dtype])
    void makes_tensor(const std::vector<const Thing*>& items, bool has_type) {
        const Thing& storage = *items[0];
        const bool is_sound = storage.kind == Made::storage && items[1]->kind == Made::number &&
                              items[1]->number >= 0 && items[2]->kind == Made::list &&
                              items[3]->kind == Made::list &&
                              items[2]->items.size() == items[3]->items.size() &&
                              items[2]->items.size() <= max_rank &&
                              (!has_type || (items.size() > 6 && items[6]->kind == Made::name));
        if (!is_sound) return fail("describes a tensor in another way than torch does");
        Thing* tensor = push(Made::tensor);
        tensor->type = storage.type;
        if (has_type)
            tensor->type = find_torch_type(items[6]->text.substr(items[6]->text.find(' ') + 1));
        if (tensor->type == nullptr)
            return fail("has a tensor of a type that mxcheck does not know");
        tensor->text = storage.text;
        tensor->offset = items[1]->number;
        for (const Thing* length : items[2]->items) tensor->shape.push_back(length->number);
        std::int64_t expected = 1;
        for (std::size_t i = tensor->shape.size(); i-- > 0;) {
            const std::int64_t length = tensor->shape[i];
            if (length < 0) return fail("has a tensor of negative size");
            if (length > 1 && items[3]->items[i]->number != expected)
                return fail("has a tensor that is not contiguous (save x.contiguous())");
            if (length > 0 && expected > INT64_MAX / length) return fail("has too large a tensor");
            expected *= std::max<std::int64_t>(length, 1);
        }
    }

    const ByteSource& source_;
    std::span<const std::byte> program_;
    std::size_t at_ = 0;
    bool done_ = false;
    std::optional<Error> error_;
    std::deque<Thing> things_;
    std::vector<Thing*> stack_;
    std::map<std::uint64_t, Thing*> memory_;
};

struct TorchArchive {
    const ByteSource& source;
    std::string folder = {};  // of all members, with its slash
    std::map<std::string, SharedSource> members = {};
    std::size_t things_seen = 0;
};

Expected<ListedTensor> place_tensor(const TorchArchive& archive, const std::string& name,
                                    const Thing& made) {
    ListedTensor tensor;
    tensor.name = name;
    tensor.type = made.type->type;
    tensor.shape = made.shape;
    const std::string who = "tensor " + in_quotes(name);
    const auto found = archive.members.find(archive.folder + "data/" + made.text);
    if (found == archive.members.end())
        return bad_source(archive.source, who + " has storage " + in_quotes(made.text) +
                                              ", which is not in the archive");
    tensor.source = found->second;
    const auto size = byte_count(*find_tensor_type(tensor.type), tensor.shape);
    if (!size) return bad_source(archive.source, who + " has " + size.error().message);
    const auto width = static_cast<std::uint64_t>(find_tensor_type(tensor.type)->bits) / 8;
    const std::uint64_t present = tensor.source->size();
    const auto offset = static_cast<std::uint64_t>(made.offset);
    if (offset > present / width || size.value() > present - offset * width)
        return bad_source(archive.source, who + " has " + std::to_string(size.value()) +
                                              " bytes from element " + std::to_string(offset) +
                                              " of a storage on that has " +
                                              std::to_string(present));
    tensor.range = {offset * width, offset * width + size.value()};
    return tensor;
}

// Dicts within dicts make names with dots, as a module's own names are; a list counts its items.
Status collect_tensors(TorchArchive& archive, const Thing& made, const std::string& name, int depth,
                       TensorListing& listing) {
    if (depth > dict_depth_max || ++archive.things_seen > things_max)
        return bad_source(archive.source, "its dicts are too deep, or contain themselves");
    if (made.kind == Made::tensor) {
        auto tensor = place_tensor(archive, name.empty() ? "tensor" : name, made);
        if (!tensor) return tensor.error();
        listing.tensors.push_back(std::move(tensor).value());
        return success();
    }
    const bool is_dict = made.kind == Made::dict;
    if (!is_dict && made.kind != Made::list) return success();
    const std::size_t step = is_dict ? 2 : 1;
    for (std::size_t i = 0; i + step <= made.items.size(); i += step) {
        const Thing& key = *made.items[i];
        const std::string own = !is_dict                 ? std::to_string(i)
                                : key.kind == Made::text ? key.text
                                                         : std::to_string(key.number);
        const Status s = collect_tensors(archive, *made.items[i + step - 1],
                                         name.empty() ? own : name + "." + own, depth + 1, listing);
        if (!s) return s;
    }
    return success();
}

// The folder of all members: that of the pickle.
Status find_folder(TorchArchive& archive) {
    constexpr std::string_view pickle = "data.pkl";
    for (const auto& [name, bytes] : archive.members) {
        const std::size_t slash = name.find('/');
        if (slash == name.npos || name.substr(slash + 1) != pickle) continue;
        archive.folder = name.substr(0, slash + 1);
        return success();
    }
    return bad_source(archive.source, "is no file of torch.save: it has no member 'data.pkl'");
}

Status check_order(const TorchArchive& archive) {
    const auto order = archive.members.find(archive.folder + "byteorder");
    if (order == archive.members.end()) return success();
    const auto text = read_range(*order->second, {0, order->second->size()}, "byteorder");
    if (!text) return text.error();
    if (text.value().size() == 6 && text.value()[0] == std::byte{'l'}) return success();
    return bad_source(archive.source, "was written by a machine that is not little endian");
}

}  // namespace

Expected<TensorListing> list_torch(const SharedSource& source) {
    auto members = list_zip(source);
    if (!members) return members.error();
    TorchArchive archive{*source};
    for (ZipMember& member : members.value())
        archive.members[member.name] = std::move(member.bytes);
    if (const Status found = find_folder(archive); !found) return found.error();
    if (const Status known = check_order(archive); !known) return known.error();
    const ByteSource& pickle = *archive.members[archive.folder + "data.pkl"];
    if (pickle.size() > pickle_max)
        return bad_source(*source, "its pickle has " + std::to_string(pickle.size()) +
                                       " bytes; the limit is " + std::to_string(pickle_max));
    const auto program = read_range(pickle, {0, pickle.size()}, "the pickle");
    if (!program) return program.error();
    Unpickler machine(*source, program.value());
    const auto root = machine.run();
    if (!root) return root.error();
    TensorListing listing;
    if (const Status s = collect_tensors(archive, *root.value(), "", 0, listing); !s)
        return s.error();
    std::set<std::string_view> names;
    for (const ListedTensor& tensor : listing.tensors)
        if (!names.insert(tensor.name).second)
            return bad_source(*source, "holds two tensors named " + in_quotes(tensor.name));
    return listing;
}

}  // namespace mx::data
