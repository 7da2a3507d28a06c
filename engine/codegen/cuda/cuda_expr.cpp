// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_expr.h"

#include <cmath>
#include <optional>

#include "engine/base/host_array.h"
#include "engine/base/text.h"
#include "engine/ir/visit.h"

namespace tw::codegen {

namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;

/// How tightly operators of C++ bind.
enum Level { kTernary = 0, kOr, kAnd, kBitOr, kBitXor, kBitAnd, kEqual, kLess, kShift, kSum, kProduct, kUnary, kPrimary };

/// Functions that texts call beside those of CUDA; each is printed where it is needed.
const std::pair<const char*, const char*> kHelpers[] = {
    {"floor_div",
     "template <class T> __device__ __forceinline__ T floor_div(T a, T b) { const T q = a / b; return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q; }"},
    {"floor_mod",
     "template <class T> __device__ __forceinline__ T floor_mod(T a, T b) { const T r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }"},
    {"min_of", "template <class T> __device__ __forceinline__ T min_of(T a, T b) { return a != a || a < b ? a : b; }  // NaN if either is"},
    {"max_of", "template <class T> __device__ __forceinline__ T max_of(T a, T b) { return a != a || a > b ? a : b; }  // NaN if either is"},
    {"shift_left", "template <class T> __device__ __forceinline__ T shift_left(T a, T n) { return n < 0 || n >= 8 * (T)sizeof(T) ? 0 : a << n; }"},
    {"shift_right",
     "template <class T> __device__ __forceinline__ T shift_right(T a, T n) {\n"
     "  return n >= 0 && n < 8 * (T)sizeof(T) ? a >> n : a < 0 ? (T)-1 : 0;\n}"},
    {"half_to_float",
     // Of NVIDIA's libdevice: the compiler sees that equal arguments give equal results, which it does not of assembly.
     "extern \"C\" __device__ float __nv_half2float(unsigned short h);\n"
     "__device__ __forceinline__ float half_to_float(unsigned short h) { return __nv_half2float(h); }"},
    {"float_to_half",
     "__device__ __forceinline__ unsigned short float_to_half(float f) {\n  unsigned short h;\n  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(f));\n"
     "  return h;\n}"},
    {"bfloat_to_float", "__device__ __forceinline__ float bfloat_to_float(unsigned short h) { return __uint_as_float((unsigned)h << 16); }"},
    {"float_to_bfloat",
     "__device__ __forceinline__ unsigned short float_to_bfloat(float f) {\n  const unsigned u = __float_as_uint(f);\n"
     "  return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (u + 0x7fffu + (u >> 16 & 1u)) >> 16;\n}"},
    {"copy_async",
     "template <int kBytes> __device__ __forceinline__ void copy_async(void* to, const void* from) {\n"
     "#if __CUDA_ARCH__ >= 800\n"
     "  const unsigned at = (unsigned)__cvta_generic_to_shared(to);\n"
     "  if (kBytes == 16)\n"
     "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\"r\"(at), \"l\"(__cvta_generic_to_global(from)) : \"memory\");\n"
     "  else\n"
     "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\" ::\"r\"(at), \"l\"(__cvta_generic_to_global(from)), \"n\"(kBytes) : \"memory\");\n"
     "#else\n"
     "  if (kBytes == 16)\n"
     "    *(uint4*)to = *(const uint4*)from;\n"
     "  else if (kBytes == 8)\n"
     "    *(uint2*)to = *(const uint2*)from;\n"
     "  else\n"
     "    *(unsigned*)to = *(const unsigned*)from;\n"
     "#endif\n"
     "}"},
    {"copy_async_or_zero",
     "template <int kBytes> __device__ __forceinline__ void copy_async_or_zero(void* to, const void* from, bool inside) {\n"
     "#if __CUDA_ARCH__ >= 800\n"
     "  const unsigned at = (unsigned)__cvta_generic_to_shared(to);\n"
     "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2, %3;\" ::\"r\"(at), \"l\"(__cvta_generic_to_global(from)), \"n\"(kBytes), \"r\"(inside ? "
     "kBytes : 0)\n"
     "               : \"memory\");\n"
     "#else\n"
     "  for (int k = 0; k < kBytes / 4; ++k) ((unsigned*)to)[k] = inside ? ((const unsigned*)from)[k] : 0;\n"
     "#endif\n"
     "}"},
    {"commit_copies",
     "__device__ __forceinline__ void commit_copies() {\n#if __CUDA_ARCH__ >= 800\n  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n#endif\n}"},
    {"wait_copies",
     "template <int kPending> __device__ __forceinline__ void wait_copies() {\n#if __CUDA_ARCH__ >= 800\n"
     "  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(kPending) : \"memory\");\n#endif\n}"},
    {"load_tiles",
     "__device__ __forceinline__ void load_tiles(unsigned (&r)[4], const void* from) {\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
     "               : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"((unsigned)__cvta_generic_to_shared(from)) : \"memory\");\n}"},
    {"load_tiles_transposed",
     "__device__ __forceinline__ void load_tiles_transposed(unsigned (&r)[4], const void* from) {\n"
     "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
     "               : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"((unsigned)__cvta_generic_to_shared(from)) : \"memory\");\n}"},
    {"round_tiles",
     "__device__ __forceinline__ void round_tiles(unsigned (&r)[4]) {\n"
     "  for (int k = 0; k < 4; ++k) asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(r[k]) : \"f\"(__uint_as_float(r[k])));\n}"},
    {"word_of",
     "__device__ __forceinline__ unsigned word_of(unsigned char a, unsigned char b, unsigned char c, unsigned char d) {\n"
     "  return a | (unsigned)b << 8 | (unsigned)c << 16 | (unsigned)d << 24;\n}"},
};

/// Products by tensor cores, which differ in the types of their operands and sums alone.
struct Multiplication {
  const char *name, *shape, *sum, *a, *b;
};
const Multiplication kMultiplications[] = {
    {"multiply_half", "m16n8k16", "f32", "f16", "f16"},  {"multiply_bfloat", "m16n8k16", "f32", "bf16", "bf16"},
    {"multiply_tf32", "m16n8k8", "f32", "tf32", "tf32"}, {"multiply_s8_s8", "m16n8k32", "s32", "s8", "s8"},
    {"multiply_s8_u8", "m16n8k32", "s32", "s8", "u8"},   {"multiply_u8_s8", "m16n8k32", "s32", "u8", "s8"},
    {"multiply_u8_u8", "m16n8k32", "s32", "u8", "u8"},
};

std::string text_of(const Multiplication& m) {
  const bool floats = m.sum[0] == 'f';
  return fmt::format(
      "__device__ __forceinline__ void {0}({1}* upper, {1}* lower, const unsigned (&a)[4], unsigned b0, unsigned b1) {{\n"
      "  asm volatile(\"mma.sync.aligned.{2}.row.col.{3}.{4}.{5}.{3} {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"\n"
      "               : \"+{6}\"(upper[0]), \"+{6}\"(upper[1]), \"+{6}\"(lower[0]), \"+{6}\"(lower[1])\n"
      "               : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b0), \"r\"(b1));\n}}",
      m.name, floats ? "float" : "int", m.shape, m.sum, m.a, m.b, floats ? "f" : "r");
}

bool is_half(DType t) { return t.is_float() && t.bits == 16; }

const char* function_name(Intrinsic f) {
  switch (f) {
    case Intrinsic::exp:
      return "exp";
    case Intrinsic::log:
      return "log";
    case Intrinsic::sqrt:
      return "sqrt";
    case Intrinsic::rsqrt:
      return "rsqrt";
    case Intrinsic::tanh:
      return "tanh";
    case Intrinsic::erf:
      return "erf";
    case Intrinsic::pow:
      return "pow";
    case Intrinsic::fabs:
      return "fabs";
    case Intrinsic::floor:
      return "floor";
    case Intrinsic::ceil:
      return "ceil";
    case Intrinsic::round:
      return "rint";
    case Intrinsic::trunc:
      return "trunc";
    case Intrinsic::sin:
      return "sin";
    case Intrinsic::cos:
      return "cos";
    case Intrinsic::tan:
      return "tan";
    case Intrinsic::asin:
      return "asin";
    case Intrinsic::acos:
      return "acos";
    case Intrinsic::atan:
      return "atan";
    case Intrinsic::sinh:
      return "sinh";
    case Intrinsic::cosh:
      return "cosh";
    case Intrinsic::asinh:
      return "asinh";
    case Intrinsic::acosh:
      return "acosh";
    case Intrinsic::atanh:
      return "atanh";
    case Intrinsic::fmod:
      return "fmod";
    case Intrinsic::sigmoid:
    case Intrinsic::isnan:
    case Intrinsic::isinf:
    case Intrinsic::float_bits:
    case Intrinsic::bits_float:
      break;
  }
  return nullptr;
}

}  // namespace

std::string cuda_storage_type(DType t) {
  if (t.is_bool()) return "bool";
  if (is_half(t)) return "unsigned short";
  if (t.is_float()) return t.bits == 64 ? "double" : "float";
  const char* const names[] = {"char", "short", "int", "long long"};
  const char* name = names[t.bits == 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3];
  return (t.is_signed() ? t.bits == 8 ? "signed " : "" : "unsigned ") + std::string(name);
}

std::string cuda_type(DType t, bool wide_indices) {
  if (is_half(t)) return "float";
  return t.element() == ir::kIndex && !wide_indices ? "int" : cuda_storage_type(t);
}

std::string CudaExprPrinter::helper(const char* name) {
  helpers_.insert(name);
  return name;
}

std::string cuda_helpers(const std::set<std::string>& names) {
  std::string out;
  for (const auto& [name, text] : kHelpers)
    if (names.contains(name)) out += std::string(text) + "\n";
  for (const Multiplication& m : kMultiplications)
    if (names.contains(m.name)) out += text_of(m) + "\n";
  return out;
}

std::string CudaExprPrinter::stored(const ir::Buffer& b, const std::string& value) {
  const DType t = b->dtype;
  if (!is_half(t) || b->scope == ir::Scope::local) return value;
  return helper(t.code == TypeCode::bfloat ? "float_to_bfloat" : "float_to_half") + "(" + value + ")";
}

std::string CudaExprPrinter::place(const ir::Buffer& b, const std::vector<Expr>& indices, int lane) {
  return names_.of(b.get()) + "[" + position(flat_index(b, indices), lane) + "]";
}

/// Inside loops that are written out: what their variables add up to, as one number of each turn after the rest.
std::string CudaExprPrinter::position(const Expr& flat, int lane) {
  const auto ramp = unrolled.active() && !flat->dtype.is_scalar() ? as_ramp(flat) : std::nullopt;
  if (!unrolled.active() || (!flat->dtype.is_scalar() && !ramp)) return text(flat, lane);
  const LinearIndex at = linear_index(!ramp ? flat : lane == 0 ? ramp->base : ramp->base + ramp->stride * ir::index(lane));
  std::vector<std::pair<const ir::VarNode*, int64_t>> turns;
  std::optional<Expr> rest;
  for (const LinearIndex::Term& t : at.terms) {
    if (const auto* v = ir::as<ir::VarNode>(t.atom); v && unrolled.has(v)) {
      turns.emplace_back(v, t.coefficient);
      continue;
    }
    const Expr term = t.coefficient == 1 ? t.atom : t.atom * t.coefficient;
    rest = rest ? *rest + term : term;
  }
  if (turns.empty()) return text(flat, lane);
  return (rest ? text(*rest) : "") + unrolled.gap(std::move(turns), at.constant, rest.has_value());
}

std::string CudaExprPrinter::text(const Expr& e, int lane, int level) {
  Piece p = print(e, lane);
  return p.level < level ? "(" + p.text + ")" : p.text;
}

CudaExprPrinter::Piece CudaExprPrinter::constant(const ir::FloatImmNode& n) const {
  const bool is_double = n.dtype.bits == 64;
  const double value = round_to(n.dtype, n.value);
  if (std::isnan(value)) return {is_double ? "__longlong_as_double(0x7ff8000000000000ll)" : "__int_as_float(0x7fc00000)", kPrimary};
  if (std::isinf(value))
    return {std::string(value < 0 ? "-" : "") + (is_double ? "__longlong_as_double(0x7ff0000000000000ll)" : "__int_as_float(0x7f800000)"), kUnary};
  std::string out = is_double ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return {out + (is_double ? "" : "f"), out[0] == '-' ? kUnary : kPrimary};
}

CudaExprPrinter::Piece CudaExprPrinter::print(const Expr& e, int lane) {
  using Result = Piece;
  if (const auto it = fetched_.find(e.get()); it != fetched_.end()) return {it->second[static_cast<size_t>(lane)], kPrimary};
  return ir::match(
      e,
      [&](const ir::IntImmNode& n) -> Result {
        if (n.dtype.is_bool()) return {n.value ? "true" : "false", kPrimary};
        const bool wide = n.dtype.bits == 64 && (wide_indices || n.dtype != ir::kIndex);
        if (n.value == INT64_MIN) return {"(-9223372036854775807ll - 1)", kPrimary};
        if (n.value == INT32_MIN && !wide) return {"(-2147483647 - 1)", kPrimary};  // 2147483648 is no int
        if (!n.dtype.is_signed()) return {fmt::format("{}{}", static_cast<uint64_t>(n.value), wide ? "ull" : "u"), kPrimary};
        return {fmt::format("{}{}", n.value, wide ? "ll" : ""), n.value < 0 ? kUnary : kPrimary};
      },
      [&](const ir::FloatImmNode& n) -> Result { return constant(n); },
      [&](const ir::VarNode& n) -> Result {
        return {unrolled.has(&n) ? unrolled.gap({{&n, 1}}, 0, false) : names_.of(&n), kPrimary};
      },
      [&](const ir::CastNode& n) -> Result { return cast(n, lane); },
      [&](const ir::NotNode& n) -> Result {
        return {"!" + text(n.value, lane, kUnary), kUnary};
      },
      [&](const ir::BinaryNode& n) -> Result { return binary(n, lane); },
      [&](const ir::SelectNode& n) -> Result {
        return {text(n.cond, lane, kOr) + " ? " + text(n.if_true, lane, kOr) + " : " + text(n.if_false, lane, kTernary), kTernary};
      },
      [&](const ir::LoadNode& n) -> Result {
        const std::string element = place(n.buffer, n.indices, lane);
        if (!is_half(n.dtype) || n.buffer->scope == ir::Scope::local) return {element, kPrimary};
        return {helper(n.dtype.code == TypeCode::bfloat ? "bfloat_to_float" : "half_to_float") + "(" + element + ")", kPrimary};
      },
      [&](const ir::RampNode& n) -> Result { return print(lane == 0 ? n.base : n.base + n.stride * ir::index(lane), 0); },
      [&](const ir::BroadcastNode& n) -> Result { return print(n.value, 0); }, [&](const ir::CallNode& n) -> Result { return call(n, lane); });
}

CudaExprPrinter::Piece CudaExprPrinter::binary(const ir::BinaryNode& n, int lane) {
  const DType t = n.a->dtype.element();
  const auto infix = [&](const char* op, int level) -> Piece { return {text(n.a, lane, level) + " " + op + " " + text(n.b, lane, level + 1), level}; };
  // Constants and results of small integers are int: their type is named.
  const std::string argument = t.is_int() && t.bits < 32 ? "<" + cuda_storage_type(t) + ">" : "";
  const auto function = [&](const char* name) -> Piece { return {helper(name) + argument + "(" + text(n.a, lane) + ", " + text(n.b, lane) + ")", kPrimary}; };
  // Small integers are computed as int, and 32 bits without the overflow that C++ leaves undefined.
  const auto wrapped = [&](const char* op, int level) -> Piece {
    if (t.is_int() && t.bits < 32) return {"(" + cuda_storage_type(t) + ")(" + infix(op, level).text + ")", kUnary};
    if (t != kInt32) return infix(op, level);
    return {"(int)((unsigned)" + text(n.a, lane, kUnary) + " " + op + " (unsigned)" + text(n.b, lane, kUnary) + ")", kUnary};
  };
  switch (n.op) {
    case BinaryOp::add:
      return wrapped("+", kSum);
    case BinaryOp::sub:
      return wrapped("-", kSum);
    case BinaryOp::mul:
      return wrapped("*", kProduct);
    case BinaryOp::div:
      return infix("/", kProduct);
    case BinaryOp::floor_div:
    case BinaryOp::floor_mod:
      return quotient(n, lane);
    case BinaryOp::min:
      return function("min_of");
    case BinaryOp::max:
      return function("max_of");
    case BinaryOp::eq:
      return infix("==", kEqual);
    case BinaryOp::ne:
      return infix("!=", kEqual);
    case BinaryOp::lt:
      return infix("<", kLess);
    case BinaryOp::le:
      return infix("<=", kLess);
    case BinaryOp::and_:
      return infix("&&", kAnd);
    case BinaryOp::or_:
      return infix("||", kOr);
    case BinaryOp::bit_and:
      return infix("&", kBitAnd);
    case BinaryOp::bit_or:
      return infix("|", kBitOr);
    case BinaryOp::bit_xor:
      return infix("^", kBitXor);
    case BinaryOp::shl:
      return function("shift_left");
    case BinaryOp::shr:
      return function("shift_right");
  }
  TW_UNREACHABLE("binary operator");
}

CudaExprPrinter::Piece CudaExprPrinter::quotient(const ir::BinaryNode& n, int lane) {
  const bool divides = n.op == BinaryOp::floor_div;
  const DType t = n.a->dtype.element();
  const std::string a = text(n.a, lane, kProduct), b = text(n.b, lane, kUnary);
  if (t.is_float()) {
    const char* suffix = t.bits == 64 ? "" : "f";
    if (divides) return {fmt::format("floor{}({} / {})", suffix, a, b), kPrimary};
    return {fmt::format("({0} - floor{2}({0} / {1}) * {1})", text(n.a, lane, kUnary), b, suffix), kPrimary};
  }
  const auto low = n.a->dtype.element() == ir::kIndex ? interval_of(n.a, ranges_) : std::nullopt;
  const auto divisor = ir::as_int(ir::as<ir::BroadcastNode>(n.b) ? ir::as<ir::BroadcastNode>(n.b)->value : n.b);
  // Where both are known not to be negative C++ rounds the same way.
  if (!t.is_signed() || (low && low->lo >= 0 && divisor && *divisor > 0)) return {a + (divides ? " / " : " % ") + b, kProduct};
  const std::string argument = t.bits < 32 ? "<" + cuda_storage_type(t) + ">" : "";
  return {helper(divides ? "floor_div" : "floor_mod") + argument + "(" + text(n.a, lane) + ", " + text(n.b, lane) + ")", kPrimary};
}

CudaExprPrinter::Piece CudaExprPrinter::cast(const ir::CastNode& n, int lane) {
  const DType to = n.dtype.element(), from = n.value->dtype.element();
  if (to.is_bool()) return {text(n.value, lane, kEqual + 1) + " != 0", kEqual};
  if (is_half(to)) {
    const bool bfloat = to.code == TypeCode::bfloat;
    const std::string value = from.is_float() && from.bits <= 32 ? text(n.value, lane) : "(float)" + text(n.value, lane, kUnary);
    return {helper(bfloat ? "bfloat_to_float" : "half_to_float") + "(" + helper(bfloat ? "float_to_bfloat" : "float_to_half") + "(" + value + "))", kPrimary};
  }
  if (is_half(from) && to == kFloat32) return print(n.value, lane);
  return {"(" + cuda_type(to, wide_indices) + ")" + text(n.value, lane, kUnary), kUnary};
}

CudaExprPrinter::Piece CudaExprPrinter::call(const ir::CallNode& n, int lane) {
  const DType t = n.args[0]->dtype.element();
  const char* suffix = t.bits == 64 ? "" : "f";
  const std::string x = text(n.args[0], lane);
  if (n.function == Intrinsic::sigmoid) {
    const std::string one = t.bits == 64 ? "1.0" : "1.0f";
    return {fmt::format("{0} / ({0} + exp{1}(-{2}))", one, suffix, text(n.args[0], lane, kPrimary)), kProduct};
  }
  if (n.function == Intrinsic::float_bits)
    return t.bits == 64 ? Piece{"(unsigned long long)__double_as_longlong(" + x + ")", kUnary} : Piece{"__float_as_uint(" + x + ")", kPrimary};
  if (n.function == Intrinsic::bits_float)
    return {t.bits == 64 ? "__longlong_as_double((long long)(" + x + "))" : "__uint_as_float(" + x + ")", kPrimary};
  if (n.function == Intrinsic::isnan) return {fmt::format("{0} != {0}", text(n.args[0], lane, kPrimary)), kEqual};
  if (n.function == Intrinsic::isinf)
    return {fmt::format("fabs{}({}) == {}", suffix, x, t.bits == 64 ? "__longlong_as_double(0x7ff0000000000000ll)" : "__int_as_float(0x7f800000)"), kEqual};
  if (!t.is_float()) return {fmt::format("({0} < 0 ? -{0} : {0})", text(n.args[0], lane, kPrimary)), kPrimary};
  std::string args = x;
  for (size_t k = 1; k < n.args.size(); ++k) args += ", " + text(n.args[k], lane);
  return {fmt::format("{}{}({})", function_name(n.function), suffix, args), kPrimary};
}

}  // namespace tw::codegen
