// SPDX-License-Identifier: Apache-2.0
#include "engine/api/c_export.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/codegen/data_object.h"
#include "engine/runtime/c_runtime.h"
#include "engine/target/target.h"

namespace tw::api {

namespace {

std::string_view view_of(const std::vector<std::byte>& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

constexpr int64_t kTableVersion = 1;  ///< as in c/tilewright_runtime.c
constexpr size_t kNameLength = 60;    ///< of a network or one of its arrays

bool is_keyword(const std::string& s) {
  static const std::set<std::string> kWords = {
      "alignas",   "alignof",   "and",       "asm",      "auto",     "bool",    "break",   "case",      "catch",    "char",     "class",    "concept",
      "const",     "consteval", "constexpr", "continue", "decltype", "default", "delete",  "do",        "double",   "else",     "enum",     "explicit",
      "export",    "extern",    "false",     "float",    "for",      "friend",  "goto",    "if",        "inline",   "int",      "long",     "mutable",
      "namespace", "new",       "not",       "nullptr",  "operator", "or",      "private", "protected", "public",   "register", "requires", "restrict",
      "return",    "short",     "signed",    "sizeof",   "static",   "struct",  "switch",  "template",  "this",     "throw",    "true",     "try",
      "typedef",   "typeid",    "typename",  "union",    "unsigned", "using",   "virtual", "void",      "volatile", "while",    "xor"};
  return kWords.count(s) != 0;
}

std::string upper(std::string s) {
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return s;
}

/// The type of one element in C; half precision as its bits.
const char* c_type(DType t) {
  if (t == kFloat32) return "float";
  if (t == kFloat64) return "double";
  const bool is_signed = t.is_int() && t.code == TypeCode::int_;
  switch (t.bytes()) {
    case 1:
      return is_signed ? "int8_t" : "uint8_t";
    case 2:
      return is_signed ? "int16_t" : "uint16_t";
    case 4:
      return is_signed ? "int32_t" : "uint32_t";
    default:
      return is_signed ? "int64_t" : "uint64_t";
  }
}

/// Text that ends no comment.
std::string comment(const std::string& text) {
  std::string out = printable(text);
  for (size_t at = 0; (at = out.find("*/", at)) != std::string::npos;) out.replace(at, 2, "* /");
  return out;
}

struct Member {
  std::string name;  ///< unique in its struct, also without regard to case
  const runtime::ArgSpec* spec;
};

std::vector<Member> members(const runtime::Executable& e, const std::vector<int>& slots) {
  std::vector<Member> out;
  std::set<std::string> taken;
  for (const int s : slots) {
    const runtime::ArgSpec& spec = e.slots[static_cast<size_t>(s)].spec;
    const std::string base = c_identifier(spec.name.substr(0, kNameLength));
    std::string name = base;
    for (int n = 1; !taken.insert(upper(name)).second; ++n) name = fmt::format("{}_{}", base, n);
    out.push_back({name, &spec});
  }
  return out;
}

constexpr const char* kRuntimeInterface = R"(#ifndef TILEWRIGHT_RUNTIME
#define TILEWRIGHT_RUNTIME
struct tw_network;
struct tw_instance;
struct tw_instance* tw_create(const struct tw_network* network, int threads);
int tw_run(struct tw_instance* instance, const void* const* inputs, void* const* outputs);
void tw_destroy(struct tw_instance* instance);
#endif
)";

std::string struct_text(const std::string& name, const std::string& kind, const char* qualifier, const std::vector<Member>& list) {
  std::string out = fmt::format("struct {}_{} {{\n", name, kind);
  for (const Member& m : list)
    out += fmt::format("  {}{}* {}; /* {}: {}{} */\n", qualifier, c_type(m.spec->dtype), m.name, comment(m.spec->name), m.spec->dtype.name(),
                       shape_text(m.spec->shape));
  if (list.empty()) out += "  int none;\n";
  out += "};\n";
  for (const Member& m : list) out += fmt::format("#define {}_{}_ELEMENTS {}\n", upper(name), upper(m.name), m.spec->num_elements());
  return out;
}

std::string pointer_list(const char* from, const std::vector<Member>& list) {
  std::vector<std::string> items;
  for (const Member& m : list) items.push_back(fmt::format("{}->{}", from, m.name));
  return items.empty() ? "0" : fmt::format("{}", fmt::join(items, ", "));
}

std::string header_text(const runtime::Executable& e, const std::string& name) {
  // One name for both, so that the size of an array has one name too.
  std::vector<int> slots = e.inputs;
  slots.insert(slots.end(), e.outputs.begin(), e.outputs.end());
  const std::vector<Member> all = members(e, slots);
  const auto split = all.begin() + static_cast<std::ptrdiff_t>(e.inputs.size());
  const std::vector<Member> inputs(all.begin(), split), outputs(split, all.end());
  const std::string guard = upper(name) + "_H";
  std::string out = fmt::format("/* {}: compiled by Tilewright for `{}`.\n   Link with {}.o, {}_data.o, tilewright_runtime.c, -lpthread and -lm. */\n",
                                comment(e.name), comment(e.target), name, name);
  out += fmt::format("#ifndef {}\n#define {}\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n", guard, guard);
  out += kRuntimeInterface;
  out += "\n/* Row-major arrays, inputs apart from outputs. Addresses that are multiples of 64 are used where they are, others are copied. */\n";
  out += struct_text(name, "inputs", "const ", inputs) + struct_text(name, "outputs", "", outputs);
  out += fmt::format("\nextern const struct tw_network {}_network;\n", name);
  out += fmt::format(
      "\n/* Memory and threads for one run at a time; threads <= 0: as many as the network was compiled for. NULL if memory runs out. */\n"
      "static inline struct tw_instance* {0}_create(int threads) {{ return tw_create(&{0}_network, threads); }}\n",
      name);
  out += fmt::format(
      "\n/* Returns 0, or -1 if memory for copies runs out. */\n"
      "static inline int {0}_run(struct tw_instance* instance, const struct {0}_inputs* in, const struct {0}_outputs* out) {{\n"
      "  const void* inputs[] = {{{1}}};\n"
      "  void* outputs[] = {{{2}}};\n{3}"
      "  return tw_run(instance, inputs, outputs);\n}}\n",
      name, pointer_list("in", inputs), pointer_list("out", outputs), inputs.empty() ? "  (void)in;\n" : "");
  out += fmt::format("\nstatic inline void {0}_destroy(struct tw_instance* instance) {{ tw_destroy(instance); }}\n", name);
  return out + fmt::format("\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {} */\n", guard);
}

/// Bytes of a table in the layout of the C structs: 64-bit fields only.
struct Table {
  std::vector<std::byte> bytes;
  std::vector<codegen::DataAddress> addresses;

  void integer(int64_t v) {
    const auto* p = reinterpret_cast<const std::byte*>(&v);
    bytes.insert(bytes.end(), p, p + sizeof v);
  }
  void address(const std::string& symbol, int64_t addend = 0) {
    addresses.push_back({static_cast<int64_t>(bytes.size()), symbol, addend});
    integer(0);
  }
};

/// The tables that c/tilewright_runtime.c reads: struct tw_array, tw_call and tw_network, and lists of array numbers.
class DataObject {
 public:
  DataObject(const runtime::Executable& e, std::string name) : e_(e), name_(std::move(name)) {}

  std::vector<std::byte> build() {
    add_arrays();
    add_calls();
    Table network;
    const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    const auto target = parse_target(e_.target);
    for (const int64_t v :
         {kTableVersion, count(e_.slots), count(e_.calls), count(e_.inputs), count(e_.outputs), int64_t{target ? target->cores : 1}, e_.arena_bytes})
      network.integer(v);
    network.address(symbol("arrays"));
    network.address(symbol("calls"));
    network.address(symbol("numbers"), 4 * add_numbers(e_.inputs));
    network.address(symbol("numbers"), 4 * add_numbers(e_.outputs));
    add(symbol("arrays"), arrays_, false);
    add(symbol("calls"), calls_, false);
    add(name_ + "_network", network, true);
    symbols_.push_back({symbol("numbers"), false, std::as_bytes(std::span(numbers_)), {}, 4});
    return codegen::build_data_object(symbols_, target ? target::arch_of(*target) : target::own_arch());
  }

 private:
  std::string symbol(const std::string& what) const { return name_ + "." + what; }
  void add(const std::string& name, const Table& t, bool exported) {
    kept_.push_back(t.bytes);
    symbols_.push_back({name, exported, {}, t.addresses, 8});
    // The list may move its elements, their bytes stay where they are.
    symbols_.back().bytes = kept_.back();
  }
  int64_t add_numbers(const std::vector<int>& list) {
    const auto at = static_cast<int64_t>(numbers_.size());
    numbers_.insert(numbers_.end(), list.begin(), list.end());
    return at;
  }

  /// Equal constants, such as one weight of two kernels, are stored once.
  void add_arrays() {
    std::map<const void*, std::string> known;
    for (const runtime::Slot& slot : e_.slots) {
      if (slot.kind == runtime::Slot::Kind::constant) {
        const void* key = slot.packed ? static_cast<const void*>(slot.data.get()) : &slot;
        const auto [it, fresh] = known.emplace(key, symbol(fmt::format("constant{}", known.size())));
        if (fresh && slot.packed) symbols_.push_back({it->second, false, *slot.data, {}, 64});
        if (fresh && !slot.packed) {
          std::vector<std::byte>& bytes = kept_.emplace_back(static_cast<size_t>(slot.spec.physical_bytes()));
          runtime::write_constant(slot, bytes.data());
          symbols_.push_back({it->second, false, bytes, {}, 64});
        }
        arrays_.address(it->second);
      } else {
        arrays_.integer(0);
      }
      arrays_.integer(slot.kind == runtime::Slot::Kind::intermediate ? slot.offset : -1);
      arrays_.integer(slot.spec.physical_bytes());
    }
  }
  void add_calls() {
    for (const runtime::Call& call : e_.calls) {
      calls_.address(call.symbol);
      calls_.address(symbol("numbers"), 4 * add_numbers(call.slots));
      calls_.integer(static_cast<int64_t>(call.slots.size()));
    }
  }

  const runtime::Executable& e_;
  std::string name_;
  Table arrays_, calls_;
  std::vector<int32_t> numbers_;
  std::vector<std::vector<std::byte>> kept_;
  std::vector<codegen::DataSymbol> symbols_;
};

}  // namespace

std::string c_identifier(const std::string& text) {
  std::string s = text;
  for (char& c : s)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (s.empty() || !std::isalpha(static_cast<unsigned char>(s[0]))) s = "n" + s;
  return is_keyword(s) ? s + "_" : s;
}

Expected<CExport> export_c(const runtime::Executable& e, const std::string& name) {
  std::set<int> seen;
  for (const int s : e.outputs)
    if (e.slots[static_cast<size_t>(s)].kind != runtime::Slot::Kind::output || !seen.insert(s).second)
      return Error(ErrorCode::not_applicable, "Expected outputs that are arrays of their own, found one that is something else too",
                   e.slots[static_cast<size_t>(s)].spec.name);
  CExport out;
  out.name = c_identifier(name.substr(0, kNameLength));
  out.header = header_text(e, out.name);
  out.kernels = e.artifact.object;
  out.data = DataObject(e, out.name).build();
  out.runtime = runtime::c_runtime_source();
  return out;
}

std::vector<OutputFile> object_files(const CExport& c) { return {{c.name + ".o", view_of(c.kernels)}, {c.name + "_data.o", view_of(c.data)}}; }

std::vector<OutputFile> source_files(const CExport& c) { return {{c.name + ".h", c.header}, {"tilewright_runtime.c", c.runtime}}; }

std::vector<OutputFile> image_files(const runtime::Artifact& artifact) {
  std::vector<OutputFile> files;
  for (const runtime::GpuFunction& f : artifact.gpu)
    for (const auto& [capability, image] : f.images) files.push_back({fmt::format("{}.sm_{}.cubin", f.symbol, capability), view_of(image)});
  return files;
}

}  // namespace tw::api
