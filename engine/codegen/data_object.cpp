// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/data_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/base/assert.h"

namespace tw::codegen {

namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& out, const void* data, size_t bytes) {
  const auto* p = static_cast<const std::byte*>(data);
  out.insert(out.end(), p, p + bytes);
}
void align_to(Bytes& out, int64_t align) {
  out.resize((out.size() + static_cast<size_t>(align) - 1) / static_cast<size_t>(align) * static_cast<size_t>(align));
}

/// Names one after the other, each ended by a zero byte.
class StringTable {
 public:
  uint32_t add(const std::string& s) {
    const auto at = static_cast<uint32_t>(text_.size());
    text_ += s + '\0';
    return at;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_{'\0'};
};

enum SectionIndex : uint16_t { kNone, kRodata, kRelRo, kRela, kSymtab, kStrtab, kShstrtab, kStack, kSections };

/// The file is put together front to back: header, sections in the order above, table of sections.
class Writer {
 public:
  Writer(std::span<const DataSymbol> symbols, target::Arch arch) : symbols_(symbols), arch_(arch) {}

  Bytes run() {
    size_t total = sizeof(Elf64_Ehdr);
    for (const DataSymbol& s : symbols_) total += s.bytes.size() + static_cast<size_t>(s.align) + sizeof(Elf64_Sym) + s.name.size() + 1;
    file_.reserve(total + 4096);
    file_.resize(sizeof(Elf64_Ehdr));
    data_section(kRodata, ".rodata", SHF_ALLOC);
    data_section(kRelRo, ".data.rel.ro", SHF_ALLOC | SHF_WRITE);
    number_symbols();
    relocations();
    symbol_table();
    section(kStrtab, ".strtab", SHT_STRTAB, 0, 1, [&] { append(file_, names_.text().data(), names_.text().size()); });
    section(kStack, ".note.GNU-stack", SHT_PROGBITS, 0, 1, [] {});  // says that no code here runs on the stack
    // The last one names itself.
    headers_[kShstrtab].sh_name = section_names_.add(".shstrtab");
    headers_[kShstrtab].sh_type = SHT_STRTAB;
    headers_[kShstrtab].sh_offset = file_.size();
    headers_[kShstrtab].sh_size = section_names_.text().size();
    headers_[kShstrtab].sh_addralign = 1;
    append(file_, section_names_.text().data(), section_names_.text().size());
    finish();
    return std::move(file_);
  }

 private:
  static SectionIndex home(const DataSymbol& s) { return s.addresses.empty() ? kRodata : kRelRo; }

  template <class F>
  Elf64_Shdr& section(SectionIndex index, const char* name, uint32_t type, uint64_t flags, int64_t align, F&& fill) {
    align_to(file_, align);
    Elf64_Shdr& h = headers_[index];
    h.sh_name = section_names_.add(name);
    h.sh_type = type;
    h.sh_flags = flags;
    h.sh_offset = file_.size();
    h.sh_addralign = static_cast<uint64_t>(align);
    fill();
    h.sh_size = file_.size() - h.sh_offset;
    return h;
  }

  void data_section(SectionIndex index, const char* name, uint64_t flags) {
    int64_t align = 1;
    for (const DataSymbol& s : symbols_)
      if (home(s) == index) align = std::max(align, s.align);
    section(index, name, SHT_PROGBITS, flags, align, [&] {
      for (const DataSymbol& s : symbols_) {
        if (home(s) != index) continue;
        align_to(file_, s.align);
        const bool fresh = values_.emplace(s.name, file_.size() - headers_[index].sh_offset).second;
        TW_ASSERT(fresh, "symbol " + s.name + " is defined twice");
        append(file_, s.bytes.data(), s.bytes.size());
      }
    });
  }

  /// Local symbols first, as the format wants; then what this object exports, then what it asks for.
  void number_symbols() {
    entries_.push_back({});
    for (const bool exported : {false, true}) {
      if (exported) first_global_ = entries_.size();
      for (const DataSymbol& s : symbols_) {
        if (s.exported != exported) continue;
        numbers_.emplace(s.name, entries_.size());
        Elf64_Sym e{};
        e.st_name = names_.add(s.name);
        e.st_info = ELF64_ST_INFO(exported ? STB_GLOBAL : STB_LOCAL, STT_OBJECT);
        e.st_shndx = home(s);
        e.st_value = values_.at(s.name);
        e.st_size = s.bytes.size();
        entries_.push_back(e);
      }
    }
    for (const DataSymbol& s : symbols_)
      for (const DataAddress& a : s.addresses) {
        if (!numbers_.emplace(a.symbol, entries_.size()).second) continue;
        Elf64_Sym e{};
        e.st_name = names_.add(a.symbol);
        e.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
        entries_.push_back(e);
      }
  }

  void relocations() {
    Elf64_Shdr& h = section(kRela, ".rela.data.rel.ro", SHT_RELA, SHF_INFO_LINK, alignof(Elf64_Rela), [&] {
      for (const DataSymbol& s : symbols_)
        for (const DataAddress& a : s.addresses) {
          TW_ASSERT(a.at >= 0 && a.at + 8 <= static_cast<int64_t>(s.bytes.size()), "an address outside of symbol " + s.name);
          const Elf64_Rela r{values_.at(s.name) + static_cast<uint64_t>(a.at),
                             ELF64_R_INFO(numbers_.at(a.symbol), arch_ == target::Arch::aarch64 ? uint32_t{R_AARCH64_ABS64} : uint32_t{R_X86_64_64}), a.addend};
          append(file_, &r, sizeof r);
        }
    });
    h.sh_entsize = sizeof(Elf64_Rela);
    h.sh_link = kSymtab;
    h.sh_info = kRelRo;
  }

  void symbol_table() {
    Elf64_Shdr& h =
        section(kSymtab, ".symtab", SHT_SYMTAB, 0, alignof(Elf64_Sym), [&] { append(file_, entries_.data(), entries_.size() * sizeof(Elf64_Sym)); });
    h.sh_entsize = sizeof(Elf64_Sym);
    h.sh_link = kStrtab;
    h.sh_info = static_cast<uint32_t>(first_global_);
  }

  void finish() {
    align_to(file_, alignof(Elf64_Shdr));
    Elf64_Ehdr e{};
    std::memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    e.e_ident[EI_VERSION] = EV_CURRENT;
    e.e_type = ET_REL;
    e.e_machine = arch_ == target::Arch::aarch64 ? EM_AARCH64 : EM_X86_64;
    e.e_version = EV_CURRENT;
    e.e_shoff = file_.size();
    e.e_ehsize = sizeof e;
    e.e_shentsize = sizeof(Elf64_Shdr);
    e.e_shnum = kSections;
    e.e_shstrndx = kShstrtab;
    std::memcpy(file_.data(), &e, sizeof e);
    append(file_, headers_, sizeof headers_);
  }

  std::span<const DataSymbol> symbols_;
  target::Arch arch_;
  Bytes file_;
  Elf64_Shdr headers_[kSections] = {};
  StringTable names_, section_names_;
  std::map<std::string, uint64_t> values_;   ///< of each symbol, its offset in its section
  std::map<std::string, uint64_t> numbers_;  ///< in the symbol table
  std::vector<Elf64_Sym> entries_;
  size_t first_global_ = 0;
};

}  // namespace

std::vector<std::byte> build_data_object(std::span<const DataSymbol> symbols, target::Arch arch) { return Writer(symbols, arch).run(); }

}  // namespace tw::codegen
