// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/object_loader.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/base/text.h"
#include "engine/runtime/library_symbols.h"

namespace tw::runtime {

namespace {

#if defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char* kMachineName = "AArch64";
/// ldr x16, #8; br x16; the address.
constexpr uint32_t kStub[] = {0x58000050, 0xd61f0200};
#else
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char* kMachineName = "x86-64";
/// jmp *2(%rip), and two bytes up to the address.
constexpr uint8_t kStub[] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x90, 0x90};
#endif
constexpr size_t kStubBytes = 16, kCodePage = 4096, kMostBytes = size_t{1} << 31;

Error bad_object(const std::string& what) { return {ErrorCode::corrupt, "Expected an object file that can be loaded, found " + what}; }

/// Reads structures out of the file's bytes, wherever they lie.
class ObjectBytes {
 public:
  explicit ObjectBytes(std::span<const std::byte> all) : all_(all) {}
  template <class T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > all_.size() || sizeof(T) > all_.size() - offset) return std::nullopt;
    T value;
    std::memcpy(&value, all_.data() + offset, sizeof(T));
    return value;
  }
  std::optional<std::span<const std::byte>> range(uint64_t offset, uint64_t size) const {
    if (offset > all_.size() || size > all_.size() - offset) return std::nullopt;
    return all_.subspan(offset, size);
  }
  /// A text that ends within the section.
  std::optional<std::string> text(const Elf64_Shdr& section, uint64_t at) const {
    const auto bytes = range(section.sh_offset, section.sh_size);
    if (!bytes || at >= bytes->size()) return std::nullopt;
    const auto* begin = reinterpret_cast<const char*>(bytes->data()) + at;
    const size_t length = ::strnlen(begin, bytes->size() - at);
    if (length == bytes->size() - at) return std::nullopt;
    return std::string(begin, length);
  }

 private:
  std::span<const std::byte> all_;
};

class ObjectModule final : public LoadedModule {
 public:
  ~ObjectModule() override {
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }
  Expected<KernelFn> find(const std::string& symbol) override {
    const auto found = functions_.find(symbol);
    if (found == functions_.end()) return Error(ErrorCode::not_found, fmt::format("Expected the kernel '{}' in the object file, found none", printable(symbol)));
    return reinterpret_cast<KernelFn>(found->second);
  }

  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  std::map<std::string, std::byte*> functions_;
};

/// One section that takes memory, and where.
struct PlacedSection {
  Elf64_Shdr header{};
  std::byte* at = nullptr;  ///< null: it takes none
};

enum SectionGroup { kCode, kConstants, kData, kGroups };

SectionGroup group_of(const Elf64_Shdr& s) { return (s.sh_flags & SHF_EXECINSTR) != 0 ? kCode : (s.sh_flags & SHF_WRITE) != 0 ? kData : kConstants; }

class ObjectLoader {
 public:
  explicit ObjectLoader(const std::vector<std::byte>& object) : file_(object) {}
  Expected<std::unique_ptr<LoadedModule>> load();

 private:
  Expected<void> read_sections();
  Expected<void> place();
  Expected<void> read_symbols();
  Expected<void> relocate(const Elf64_Shdr& table);
  Expected<void> apply(const PlacedSection& section, const Elf64_Rela& r);
  Expected<void> write(std::byte* where, uint32_t type, uint64_t target, int64_t addend, const Elf64_Rela& r);
  /// The address of a slot that holds a symbol's address.
  Expected<std::byte*> slot_of(uint64_t target);
  Expected<std::byte*> stub_for(void* function);
  Expected<void> protect();

  ObjectBytes file_;
  std::vector<PlacedSection> sections_;
  const PlacedSection* symbol_table_ = nullptr;
  std::vector<uint64_t> symbols_;  ///< addresses; 0 for what is not defined
  std::vector<std::string> names_;  ///< of what is not defined
  std::unique_ptr<ObjectModule> module_ = std::make_unique<ObjectModule>();
  size_t ends_[kGroups] = {};  ///< offsets in the mapping where groups end
  std::byte *stubs_ = nullptr, *stubs_end_ = nullptr, *slots_ = nullptr, *slots_end_ = nullptr;
  std::map<void*, std::byte*> stub_of_;
  std::map<uint64_t, std::byte*> slot_at_;
};

Expected<std::unique_ptr<LoadedModule>> ObjectLoader::load() {
  TW_CHECK(read_sections());
  TW_CHECK(place());
  TW_CHECK(read_symbols());
  for (const PlacedSection& s : sections_) {
    if (s.header.sh_type == SHT_REL) return Error(ErrorCode::unsupported, "Expected relocations with addends in the object file, found some without");
    if (s.header.sh_type == SHT_RELA) TW_CHECK(relocate(s.header));
  }
  TW_CHECK(protect());
  return std::unique_ptr<LoadedModule>(std::move(module_));
}

Expected<void> ObjectLoader::read_sections() {
  const auto header = file_.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return bad_object("other bytes than ELF's");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_REL)
    return bad_object("a file that is no relocatable one of 64 bits");
  if (header->e_machine != kMachine)
    return Error(ErrorCode::unsupported, fmt::format("Expected an object file for {}, found one for machine {} of ELF's list", kMachineName, header->e_machine));
  if (header->e_shentsize != sizeof(Elf64_Shdr)) return bad_object("section headers of another size");
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto s = file_.at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!s) return bad_object("a table of sections that ends early");
    if (s->sh_type != SHT_NOBITS && !file_.range(s->sh_offset, s->sh_size)) return bad_object("a section that lies outside of the file");
    sections_.push_back({*s, nullptr});
  }
  for (const PlacedSection& s : sections_) {
    if (s.header.sh_type == SHT_SYMTAB) symbol_table_ = &s;
  }
  return {};
}

Expected<void> ObjectLoader::place() {
  size_t most_stubs = 0;
  std::vector<size_t> offsets(sections_.size());
  if (symbol_table_ != nullptr) most_stubs = symbol_table_->header.sh_size / sizeof(Elf64_Sym);
  size_t at = 0, stubs = 0, slots = 0;
  for (int group = 0; group < kGroups; ++group) {
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& s = sections_[i].header;
      if ((s.sh_flags & SHF_ALLOC) == 0 || group_of(s) != group) continue;
      const uint64_t align = std::max<uint64_t>(s.sh_addralign, 1);
      if ((align & (align - 1)) != 0 || align > kCodePage || s.sh_size > kMostBytes) return bad_object("a section of impossible size or alignment");
      at = (at + align - 1) & ~(align - 1);
      offsets[i] = at;
      at += s.sh_size;
      if (at > kMostBytes) return Error(ErrorCode::out_of_memory, "Expected an object file of at most 2 GiB in memory");
    }
    at = (at + 15) & ~size_t{15};
    if (group == kCode) stubs = at, at += most_stubs * kStubBytes;
    if (group == kConstants) slots = at, at += most_stubs * sizeof(uint64_t);
    at = (at + kCodePage - 1) & ~(kCodePage - 1);
    ends_[group] = at;
  }
  if (at == 0) return {};
  void* base = ::mmap(nullptr, at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return Error(ErrorCode::out_of_memory, fmt::format("No memory for code of {}", si_text(static_cast<double>(at), "B")));
  module_->base_ = static_cast<std::byte*>(base);
  module_->bytes_ = at;
  stubs_ = module_->base_ + stubs, stubs_end_ = stubs_ + most_stubs * kStubBytes;
  slots_ = module_->base_ + slots, slots_end_ = slots_ + most_stubs * sizeof(uint64_t);
  for (size_t i = 0; i < sections_.size(); ++i) {
    const Elf64_Shdr& s = sections_[i].header;
    if ((s.sh_flags & SHF_ALLOC) == 0) continue;
    sections_[i].at = module_->base_ + offsets[i];
    if (s.sh_type != SHT_NOBITS && s.sh_size > 0) std::memcpy(sections_[i].at, file_.range(s.sh_offset, s.sh_size)->data(), s.sh_size);
  }
  return {};
}

Expected<void> ObjectLoader::read_symbols() {
  if (symbol_table_ == nullptr) return {};
  const Elf64_Shdr& table = symbol_table_->header;
  if (table.sh_link >= sections_.size()) return bad_object("symbols without names");
  const Elf64_Shdr& texts = sections_[table.sh_link].header;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    const auto s = *file_.at<Elf64_Sym>(table.sh_offset + at);
    const auto name = file_.text(texts, s.st_name);
    if (!name) return bad_object("a symbol's name that lies outside of the file");
    symbols_.push_back(0);
    names_.push_back(*name);
    if (s.st_shndx == SHN_UNDEF || s.st_shndx == SHN_ABS) continue;
    if (s.st_shndx >= sections_.size()) return bad_object("a symbol in no section");
    const PlacedSection& in = sections_[s.st_shndx];
    if (in.at == nullptr) continue;
    if (s.st_value > in.header.sh_size) return bad_object("a symbol outside of its section");
    symbols_.back() = reinterpret_cast<uint64_t>(in.at + s.st_value);
    if (ELF64_ST_BIND(s.st_info) == STB_GLOBAL && ELF64_ST_TYPE(s.st_info) == STT_FUNC) module_->functions_[*name] = in.at + s.st_value;
  }
  return {};
}

Expected<void> ObjectLoader::relocate(const Elf64_Shdr& table) {
  if (table.sh_info >= sections_.size()) return bad_object("relocations of no section");
  const PlacedSection& section = sections_[table.sh_info];
  if (section.at == nullptr || section.header.sh_type == SHT_NOBITS) return {};
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.sh_size; at += sizeof(Elf64_Rela))
    TW_CHECK(apply(section, *file_.at<Elf64_Rela>(table.sh_offset + at)));
  return {};
}

Expected<void> ObjectLoader::apply(const PlacedSection& section, const Elf64_Rela& r) {
  const uint64_t symbol = ELF64_R_SYM(r.r_info);
  const auto type = static_cast<uint32_t>(ELF64_R_TYPE(r.r_info));
  if (type == 0) return {};
  if (symbol >= symbols_.size()) return bad_object("a relocation against no symbol");
  if (r.r_offset > section.header.sh_size || section.header.sh_size - r.r_offset < 8) {
    // Fields of four bytes may end with the section.
    if (r.r_offset > section.header.sh_size || section.header.sh_size - r.r_offset < 4) return bad_object("a relocation outside of its section");
#if defined(__aarch64__)
    if (type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64) return bad_object("a relocation outside of its section");
#else
    if (type == R_X86_64_64 || type == R_X86_64_PC64) return bad_object("a relocation outside of its section");
#endif
  }
  uint64_t target = symbols_[symbol];
  if (target == 0) {
    void* function = library_symbol(names_[symbol]);
    if (function == nullptr)
      return Error(ErrorCode::unsupported, fmt::format("Expected calls of mathematics and copies only in the object file, found '{}'", printable(names_[symbol])));
    TW_TRY(std::byte * stub, stub_for(function));
    target = reinterpret_cast<uint64_t>(stub);
  }
  return write(section.at + r.r_offset, type, target, r.r_addend, r);
}

Expected<std::byte*> ObjectLoader::stub_for(void* function) {
  std::byte*& stub = stub_of_[function];
  if (stub != nullptr) return stub;
  if (stubs_ == stubs_end_) return bad_object("more calls than symbols");
  stub = stubs_;
  stubs_ += kStubBytes;
  std::memcpy(stub, kStub, sizeof kStub);
  std::memcpy(stub + sizeof kStub, &function, sizeof function);
  return stub;
}

Expected<std::byte*> ObjectLoader::slot_of(uint64_t target) {
  std::byte*& slot = slot_at_[target];
  if (slot != nullptr) return slot;
  if (slots_ == slots_end_) return bad_object("more addresses than symbols");
  slot = slots_;
  slots_ += sizeof target;
  std::memcpy(slot, &target, sizeof target);
  return slot;
}

Error out_of_range(uint32_t type) { return bad_object(fmt::format("a relocation of kind {} that does not reach its target", type)); }

#if defined(__aarch64__)

/// Puts bits into the instruction, or says that the value does not fit.
struct BitField {
  int shift, bits;
};

Expected<void> put_bits(std::byte* where, uint64_t value, BitField field) {
  uint32_t instruction = 0;
  std::memcpy(&instruction, where, 4);
  const uint32_t mask = ((uint32_t{1} << field.bits) - 1) << field.shift;
  instruction = (instruction & ~mask) | ((static_cast<uint32_t>(value) << field.shift) & mask);
  std::memcpy(where, &instruction, 4);
  return {};
}

bool fits(int64_t value, int bits) { return value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1)); }

Expected<void> put_page(std::byte* where, uint64_t target, uint32_t type) {
  const int64_t pages = static_cast<int64_t>(target >> 12) - static_cast<int64_t>(reinterpret_cast<uint64_t>(where) >> 12);
  if (!fits(pages, 21)) return out_of_range(type);
  TW_CHECK(put_bits(where, static_cast<uint64_t>(pages) & 3, {29, 2}));
  return put_bits(where, static_cast<uint64_t>(pages) >> 2, {5, 19});
}

Expected<void> ObjectLoader::write(std::byte* where, uint32_t type, uint64_t symbol, int64_t addend, const Elf64_Rela&) {
  const uint64_t target = symbol + static_cast<uint64_t>(addend);
  const int64_t distance = static_cast<int64_t>(target - reinterpret_cast<uint64_t>(where));
  const auto low = [&](int scale) { return (target & 0xfff) >> scale; };
  switch (type) {
    case R_AARCH64_ABS64:
      std::memcpy(where, &target, 8);
      return {};
    case R_AARCH64_PREL64:
      std::memcpy(where, &distance, 8);
      return {};
    case R_AARCH64_PREL32: {
      if (!fits(distance, 32)) return out_of_range(type);
      const auto word = static_cast<int32_t>(distance);
      std::memcpy(where, &word, 4);
      return {};
    }
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      if (!fits(distance, 28) || (distance & 3) != 0) return out_of_range(type);
      return put_bits(where, static_cast<uint64_t>(distance) >> 2, {0, 26});
    case R_AARCH64_CONDBR19:
      if (!fits(distance, 21) || (distance & 3) != 0) return out_of_range(type);
      return put_bits(where, static_cast<uint64_t>(distance) >> 2, {5, 19});
    case R_AARCH64_TSTBR14:
      if (!fits(distance, 16) || (distance & 3) != 0) return out_of_range(type);
      return put_bits(where, static_cast<uint64_t>(distance) >> 2, {5, 14});
    case R_AARCH64_ADR_PREL_LO21:
      if (!fits(distance, 21)) return out_of_range(type);
      TW_CHECK(put_bits(where, static_cast<uint64_t>(distance) & 3, {29, 2}));
      return put_bits(where, static_cast<uint64_t>(distance) >> 2, {5, 19});
    case R_AARCH64_ADR_PREL_PG_HI21:
      return put_page(where, target, type);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return put_bits(where, low(0), {10, 12});
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return put_bits(where, low(1), {10, 12});
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return put_bits(where, low(2), {10, 12});
    case R_AARCH64_LDST64_ABS_LO12_NC:
      return put_bits(where, low(3), {10, 12});
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return put_bits(where, low(4), {10, 12});
    case R_AARCH64_ADR_GOT_PAGE: {
      TW_TRY(std::byte * slot, slot_of(target));
      return put_page(where, reinterpret_cast<uint64_t>(slot), type);
    }
    case R_AARCH64_LD64_GOT_LO12_NC: {
      TW_TRY(std::byte * slot, slot_of(target));
      return put_bits(where, (reinterpret_cast<uint64_t>(slot) & 0xfff) >> 3, {10, 12});
    }
    default:
      return Error(ErrorCode::unsupported, fmt::format("Expected a relocation that code for {} needs in the object file, found kind {}", kMachineName, type));
  }
}

#else

Expected<void> ObjectLoader::write(std::byte* where, uint32_t type, uint64_t symbol, int64_t addend, const Elf64_Rela&) {
  uint64_t target = symbol;
  switch (type) {
    case R_X86_64_64:
      target += static_cast<uint64_t>(addend);
      std::memcpy(where, &target, 8);
      return {};
    case R_X86_64_PC64:
      target += static_cast<uint64_t>(addend) - reinterpret_cast<uint64_t>(where);
      std::memcpy(where, &target, 8);
      return {};
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: {
      TW_TRY(std::byte * slot, slot_of(target));
      target = reinterpret_cast<uint64_t>(slot);
      [[fallthrough]];
    }
    case R_X86_64_PC32:
    case R_X86_64_PLT32: {
      const auto distance = static_cast<int64_t>(target + static_cast<uint64_t>(addend) - reinterpret_cast<uint64_t>(where));
      const auto word = static_cast<int32_t>(distance);
      if (word != distance) return out_of_range(type);
      std::memcpy(where, &word, 4);
      return {};
    }
    default:
      return Error(ErrorCode::unsupported, fmt::format("Expected a relocation that code for {} needs in the object file, found kind {}", kMachineName, type));
  }
}

#endif

Expected<void> ObjectLoader::protect() {
  constexpr int kRights[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  size_t begin = 0;
  for (int group = 0; group < kGroups; ++group) {
    const size_t bytes = ends_[group] - begin;
    std::byte* at = module_->base_ + begin;
    begin = ends_[group];
    if (bytes == 0) continue;
    if (group == kCode) __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at + bytes));
    if (::mprotect(at, bytes, kRights[group]) != 0) return Error(ErrorCode::infrastructure, "Expected to make code executable, and the system refuses it");
  }
  return {};
}

}  // namespace

Expected<std::unique_ptr<LoadedModule>> load_object(const std::vector<std::byte>& object) { return ObjectLoader(object).load(); }

}  // namespace tw::runtime
