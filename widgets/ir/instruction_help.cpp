// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/instruction_help.h"

#include <QCoreApplication>
#include <QRegularExpression>

namespace tw::widgets {
namespace {

struct InstructionTexts {
  Q_DECLARE_TR_FUNCTIONS(InstructionHelp)
};

struct Meaning {
  const char* mnemonic;  ///< its beginning
  const char* text;
};

// The longest beginning that fits comes first.
constexpr Meaning kX86[] = {
    {"vfnmadd", QT_TRANSLATE_NOOP("InstructionHelp", "Subtracts a product: c - a x b in one step, rounded once")},
    {"vfmsub", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies and subtracts: a x b - c in one step, rounded once")},
    {"vfmadd", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies and adds: a x b + c in one step, rounded once; two operations a lane")},
    {"vdpbf16", QT_TRANSLATE_NOOP("InstructionHelp", "Sums pairs of products of bfloat16 into float32 lanes")},
    {"vpdpbusd", QT_TRANSLATE_NOOP("InstructionHelp", "Sums four products of 8-bit integers into each 32-bit lane")},
    {"vpmaddubsw", QT_TRANSLATE_NOOP("InstructionHelp", "Sums pairs of products of 8-bit integers into 16-bit lanes")},
    {"vpmaddwd", QT_TRANSLATE_NOOP("InstructionHelp", "Sums pairs of products of 16-bit integers into 32-bit lanes")},
    {"tdp", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies two tiles of the matrix unit and adds to a third")},
    {"tileload", QT_TRANSLATE_NOOP("InstructionHelp", "Loads a tile of the matrix unit")},
    {"tilestore", QT_TRANSLATE_NOOP("InstructionHelp", "Stores a tile of the matrix unit")},
    {"vbroadcast", QT_TRANSLATE_NOOP("InstructionHelp", "Copies one element into every lane")},
    {"vpbroadcast", QT_TRANSLATE_NOOP("InstructionHelp", "Copies one element into every lane")},
    {"vgather", QT_TRANSLATE_NOOP("InstructionHelp", "Loads every lane from an address of its own: one access to memory for each")},
    {"vpgather", QT_TRANSLATE_NOOP("InstructionHelp", "Loads every lane from an address of its own: one access to memory for each")},
    {"vscatter", QT_TRANSLATE_NOOP("InstructionHelp", "Stores every lane to an address of its own: one access to memory for each")},
    {"vmovnt", QT_TRANSLATE_NOOP("InstructionHelp", "Stores past the caches, as the data is not needed again soon")},
    {"vmova", QT_TRANSLATE_NOOP("InstructionHelp", "Moves a register, to or from aligned memory")},
    {"vmovu", QT_TRANSLATE_NOOP("InstructionHelp", "Moves a register, to or from memory at any address")},
    {"vmov", QT_TRANSLATE_NOOP("InstructionHelp", "Moves a value between registers, or to or from memory")},
    {"vadd", QT_TRANSLATE_NOOP("InstructionHelp", "Adds")},
    {"vsub", QT_TRANSLATE_NOOP("InstructionHelp", "Subtracts")},
    {"vmul", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies")},
    {"vdiv", QT_TRANSLATE_NOOP("InstructionHelp", "Divides; slow, some ten cycles or more")},
    {"vsqrt", QT_TRANSLATE_NOOP("InstructionHelp", "Takes the square root; slow, some ten cycles or more")},
    {"vrsqrt", QT_TRANSLATE_NOOP("InstructionHelp", "Estimates one over the square root")},
    {"vrcp", QT_TRANSLATE_NOOP("InstructionHelp", "Estimates the reciprocal")},
    {"vmax", QT_TRANSLATE_NOOP("InstructionHelp", "Takes the greater of two, as a relu does with zero")},
    {"vmin", QT_TRANSLATE_NOOP("InstructionHelp", "Takes the lesser of two")},
    {"vxor", QT_TRANSLATE_NOOP("InstructionHelp", "Exclusive or of bits; of a register with itself, sets it to zero")},
    {"vpxor", QT_TRANSLATE_NOOP("InstructionHelp", "Exclusive or of bits; of a register with itself, sets it to zero")},
    {"vzeroupper", QT_TRANSLATE_NOOP("InstructionHelp", "Clears the upper halves of vector registers, so that older code that follows is not slowed")},
    {"vcmp", QT_TRANSLATE_NOOP("InstructionHelp", "Compares lane by lane and keeps the answers as a mask")},
    {"vblend", QT_TRANSLATE_NOOP("InstructionHelp", "Chooses each lane from one of two by a mask")},
    {"vperm", QT_TRANSLATE_NOOP("InstructionHelp", "Puts lanes into another order")},
    {"vshuf", QT_TRANSLATE_NOOP("InstructionHelp", "Puts lanes into another order")},
    {"vunpck", QT_TRANSLATE_NOOP("InstructionHelp", "Interleaves the lanes of two registers")},
    {"vextract", QT_TRANSLATE_NOOP("InstructionHelp", "Takes a part of a vector register")},
    {"vinsert", QT_TRANSLATE_NOOP("InstructionHelp", "Puts a part into a vector register")},
    {"vcvt", QT_TRANSLATE_NOOP("InstructionHelp", "Converts between types of numbers")},
    {"vround", QT_TRANSLATE_NOOP("InstructionHelp", "Rounds to whole numbers")},
    {"vrndscale", QT_TRANSLATE_NOOP("InstructionHelp", "Rounds to whole numbers")},
    {"vpadd", QT_TRANSLATE_NOOP("InstructionHelp", "Adds whole numbers")},
    {"vpmul", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies whole numbers")},
    {"prefetch", QT_TRANSLATE_NOOP("InstructionHelp", "Asks for a line of memory that is needed soon, without waiting for it")},
    {"lea", QT_TRANSLATE_NOOP("InstructionHelp", "Computes an address without reading there")},
    {"movs", QT_TRANSLATE_NOOP("InstructionHelp", "Widens or copies a value")},
    {"movz", QT_TRANSLATE_NOOP("InstructionHelp", "Widens a value, filling up with zeros")},
    {"mov", QT_TRANSLATE_NOOP("InstructionHelp", "Moves a value between registers, or to or from memory")},
    {"inc", QT_TRANSLATE_NOOP("InstructionHelp", "Adds one")},
    {"dec", QT_TRANSLATE_NOOP("InstructionHelp", "Subtracts one")},
    {"imul", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies whole numbers")},
    {"idiv", QT_TRANSLATE_NOOP("InstructionHelp", "Divides whole numbers; slow, tens of cycles")},
    {"add", QT_TRANSLATE_NOOP("InstructionHelp", "Adds whole numbers, such as to an address or a counter")},
    {"sub", QT_TRANSLATE_NOOP("InstructionHelp", "Subtracts whole numbers; of rsp, makes room on the stack")},
    {"cmp", QT_TRANSLATE_NOOP("InstructionHelp", "Compares, for the jump that follows")},
    {"test", QT_TRANSLATE_NOOP("InstructionHelp", "Tests bits, for the jump that follows")},
    {"jmp", QT_TRANSLATE_NOOP("InstructionHelp", "Jumps")},
    {"j", QT_TRANSLATE_NOOP("InstructionHelp", "Jumps if the comparison before it says so; backwards it closes a loop")},
    {"call", QT_TRANSLATE_NOOP("InstructionHelp", "Calls a function")},
    {"ret", QT_TRANSLATE_NOOP("InstructionHelp", "Returns")},
    {"push", QT_TRANSLATE_NOOP("InstructionHelp", "Keeps a register on the stack")},
    {"pop", QT_TRANSLATE_NOOP("InstructionHelp", "Takes a register back from the stack")},
    {"nop", QT_TRANSLATE_NOOP("InstructionHelp", "Does nothing; it puts the next instruction at a good address")},
    {"shl", QT_TRANSLATE_NOOP("InstructionHelp", "Shifts bits to the left: multiplies by a power of two")},
    {"sar", QT_TRANSLATE_NOOP("InstructionHelp", "Shifts bits to the right: divides by a power of two")},
    {"shr", QT_TRANSLATE_NOOP("InstructionHelp", "Shifts bits to the right: divides by a power of two")},
    {"xor", QT_TRANSLATE_NOOP("InstructionHelp", "Exclusive or of bits; of a register with itself, sets it to zero")},
    {"and", QT_TRANSLATE_NOOP("InstructionHelp", "Keeps the bits that both have")},
};

constexpr Meaning kPtx[] = {
    {"fma", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies and adds: a x b + c in one step, rounded once; two operations")},
    {"mad", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies and adds whole numbers, most often for an address")},
    {"wmma.mma", QT_TRANSLATE_NOOP("InstructionHelp", "A warp multiplies two small matrices on a tensor core and adds a third")},
    {"wmma.load", QT_TRANSLATE_NOOP("InstructionHelp", "A warp loads a small matrix for a tensor core")},
    {"wmma.store", QT_TRANSLATE_NOOP("InstructionHelp", "A warp stores a small matrix from a tensor core")},
    {"mma", QT_TRANSLATE_NOOP("InstructionHelp", "A warp multiplies two small matrices on a tensor core and adds a third")},
    {"ldmatrix", QT_TRANSLATE_NOOP("InstructionHelp", "A warp loads matrices from shared memory for a tensor core")},
    {"cp.async", QT_TRANSLATE_NOOP("InstructionHelp", "Copies from global to shared memory while the thread goes on")},
    {"ld.shared", QT_TRANSLATE_NOOP("InstructionHelp", "Loads from shared memory, which the threads of a block have in common")},
    {"st.shared", QT_TRANSLATE_NOOP("InstructionHelp", "Stores to shared memory, which the threads of a block have in common")},
    {"ld.global", QT_TRANSLATE_NOOP("InstructionHelp", "Loads from global memory, some hundreds of cycles away unless a cache has it")},
    {"st.global", QT_TRANSLATE_NOOP("InstructionHelp", "Stores to global memory")},
    {"ld.local", QT_TRANSLATE_NOOP("InstructionHelp", "Loads a value of its own that did not fit into registers")},
    {"st.local", QT_TRANSLATE_NOOP("InstructionHelp", "Stores a value of its own that did not fit into registers")},
    {"ld.param", QT_TRANSLATE_NOOP("InstructionHelp", "Reads an argument of the kernel")},
    {"bar.sync", QT_TRANSLATE_NOOP("InstructionHelp", "Waits until all threads of the block are here")},
    {"barrier", QT_TRANSLATE_NOOP("InstructionHelp", "Waits until all threads of the block are here")},
    {"setp", QT_TRANSLATE_NOOP("InstructionHelp", "Compares and keeps the answer as a predicate")},
    {"selp", QT_TRANSLATE_NOOP("InstructionHelp", "Chooses one of two by a predicate")},
    {"bra", QT_TRANSLATE_NOOP("InstructionHelp", "Jumps; backwards it closes a loop")},
    {"cvta", QT_TRANSLATE_NOOP("InstructionHelp", "Turns an address of any kind of memory into one of global memory")},
    {"cvt", QT_TRANSLATE_NOOP("InstructionHelp", "Converts between types of numbers")},
    {"add", QT_TRANSLATE_NOOP("InstructionHelp", "Adds")},
    {"sub", QT_TRANSLATE_NOOP("InstructionHelp", "Subtracts")},
    {"mul", QT_TRANSLATE_NOOP("InstructionHelp", "Multiplies")},
    {"div", QT_TRANSLATE_NOOP("InstructionHelp", "Divides")},
    {"max", QT_TRANSLATE_NOOP("InstructionHelp", "Takes the greater of two, as a relu does with zero")},
    {"min", QT_TRANSLATE_NOOP("InstructionHelp", "Takes the lesser of two")},
    {"mov", QT_TRANSLATE_NOOP("InstructionHelp", "Moves a value between registers")},
    {"shl", QT_TRANSLATE_NOOP("InstructionHelp", "Shifts bits to the left: multiplies by a power of two")},
    {"shr", QT_TRANSLATE_NOOP("InstructionHelp", "Shifts bits to the right: divides by a power of two")},
    {"ret", QT_TRANSLATE_NOOP("InstructionHelp", "The thread is done")},
};

struct LoopWord {
  const char* word;
  const char* text;
};
constexpr LoopWord kLoopWords[] = {
    {"vectorized", QT_TRANSLATE_NOOP("InstructionHelp", "All turns of this loop are done by vector instructions, several at a time")},
    {"unrolled", QT_TRANSLATE_NOOP("InstructionHelp", "The turns of this loop are written out one after another, so that what they share stays in registers")},
    {"parallel", QT_TRANSLATE_NOOP("InstructionHelp", "The turns of this loop run on different cores at the same time")},
    {"blockIdx", QT_TRANSLATE_NOOP("InstructionHelp", "The turns of this loop are blocks of threads, which run on the GPU's multiprocessors")},
    {"threadIdx", QT_TRANSLATE_NOOP("InstructionHelp", "The turns of this loop are threads of a block")},
    {"shared", QT_TRANSLATE_NOOP("InstructionHelp", "Memory on the chip that the threads of a block have in common")},
    {"allocate", QT_TRANSLATE_NOOP("InstructionHelp", "Room for an intermediate array; a small one becomes registers")},
    {"for", QT_TRANSLATE_NOOP("InstructionHelp", "A loop whose turns run one after another")},
    {"if", QT_TRANSLATE_NOOP("InstructionHelp", "Guards the last, incomplete turn, or a border")},
};

/// How many numbers one register of the line holds.
QString lanes(const QString& mnemonic, const QString& operands) {
  const int bits = operands.contains(QLatin1String("zmm")) ? 512 : operands.contains(QLatin1String("ymm")) ? 256 : operands.contains(QLatin1String("xmm")) ? 128 : 0;
  if (bits == 0 || !mnemonic.startsWith(QLatin1Char('v'))) return {};
  if (mnemonic.endsWith(QLatin1String("ss"))) return InstructionTexts::tr("one float32");
  if (mnemonic.endsWith(QLatin1String("sd"))) return InstructionTexts::tr("one float64");
  if (mnemonic.endsWith(QLatin1String("ps"))) return InstructionTexts::tr("%n lanes of float32", nullptr, bits / 32);
  if (mnemonic.endsWith(QLatin1String("pd"))) return InstructionTexts::tr("%n lanes of float64", nullptr, bits / 64);
  return InstructionTexts::tr("registers of %n bits", nullptr, bits);
}

}  // namespace

QString instructionHelp(const QString& line, bool forGpu) {
  static const QRegularExpression comment(QStringLiteral("(#|//).*$")), predicate(QStringLiteral("^@!?%\\w+\\s+"));
  QString text = line.trimmed();
  text.remove(comment);
  text.remove(predicate);
  const QString mnemonic = text.section(QRegularExpression(QStringLiteral("[\\s;]+")), 0, 0), operands = text.mid(mnemonic.size());
  if (mnemonic.isEmpty() || mnemonic.endsWith(QLatin1Char(':')) || mnemonic.startsWith(QLatin1Char('.'))) return {};
  QString help;
  const auto look = [&](const Meaning& m) {
    if (help.isEmpty() && mnemonic.startsWith(QLatin1String(m.mnemonic))) help = InstructionTexts::tr(m.text);
  };
  if (forGpu)
    for (const Meaning& m : kPtx) look(m);
  else
    for (const Meaning& m : kX86) look(m);
  if (help.isEmpty()) return {};
  if (const QString how = forGpu ? QString() : lanes(mnemonic, operands); !how.isEmpty()) help += QStringLiteral(" (%1)").arg(how);
  const bool memory = !forGpu && (operands.contains(QLatin1Char('[')) || operands.contains(QLatin1Char('(')));
  if (memory && !mnemonic.startsWith(QLatin1String("lea"))) help += InstructionTexts::tr("; one operand is in memory");
  return mnemonic + QStringLiteral(": ") + help;
}

QString loopHelp(const QString& line) {
  for (const LoopWord& w : kLoopWords) {
    const QRegularExpression word(QStringLiteral("\\b%1\\b").arg(QLatin1String(w.word)));
    if (line.contains(word)) return InstructionTexts::tr(w.text);
  }
  return {};
}

}  // namespace tw::widgets
