// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/f32_math.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <limits>

namespace tw::codegen {

using llvm::Value;

namespace {

constexpr double kLog2E = 1.4426950408889634;
/// ln 2 in two parts; the first has so few bits that its product with a small whole number is exact.
constexpr double kLn2High = 0.693359375, kLn2Low = -2.1219444005469057e-4;
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

F32Math::F32Math(Builder& b, int lanes, target::FeatureSet features) : b_(b), guard_(b), lanes_(lanes) {
  b_.clearFastMathFlags();
  using F = target::X86Feature;
  has_fma_ = (features & (target::bit(F::fma) | target::bit(target::ArmFeature::neon))) != 0;
  has_scalef_ = (features & target::bit(F::avx512f)) != 0 && (lanes == 16 || ((lanes == 4 || lanes == 8) && (features & target::bit(F::avx512vl)) != 0));
  type_ = value_type(b.getContext(), kFloat32.with_lanes(lanes));
  int_type_ = value_type(b.getContext(), kInt32.with_lanes(lanes));
}

Value* F32Math::number(double v) { return llvm::ConstantFP::get(type_, v); }
Value* F32Math::bits(int64_t v) { return int_constant(int_type_, v); }
Value* F32Math::fabs(Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); }

Value* F32Math::fma(Value* a, Value* b, Value* c) {
  if (has_fma_) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
  return b_.CreateFAdd(b_.CreateFMul(a, b), c);
}

Value* F32Math::polynomial(Value* x, std::initializer_list<double> c) {
  Value* sum = nullptr;
  for (const double* k = c.end(); k != c.begin();) {
    --k;
    sum = sum == nullptr ? number(*k) : fma(sum, x, number(*k));
  }
  return sum;
}

std::pair<Value*, Value*> F32Math::nearest(Value* x) {
  Value* magic = number(12582912.0);  // 1.5 * 2^23: adding it leaves no bits for a fraction
  Value* shifted = b_.CreateFAdd(x, magic);
  return {b_.CreateFSub(shifted, magic), b_.CreateSub(to_bits(shifted), bits(0x4b400000))};
}

Value* F32Math::exp2_parts(Value* r, std::pair<Value*, Value*> n) {
  // 2^r, relative error 9.4e-8; exact at 0.
  Value* p = polynomial(r, {1.0, 0.693147004, 0.240222469, 0.0555071123, 0.00967129413, 0.0013269406});
  if (has_scalef_) {
    const auto id = lanes_ == 16  ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
                    : lanes_ == 8 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256
                                  : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
    std::vector<Value*> args = {p, n.first, llvm::PoisonValue::get(type_)};
    args.push_back(lanes_ == 16 ? b_.getInt16(0xffff) : b_.getInt8(0xff));
    if (lanes_ == 16) args.push_back(b_.getInt32(4));  // the current rounding mode
    return b_.CreateIntrinsic(id, {}, args);
  }
  // In two factors, since 2^n itself may be out of range where the result is not.
  Value* half = b_.CreateAShr(n.second, bits(1));
  Value* rest = b_.CreateSub(n.second, half);
  const auto power = [&](Value* k) { return to_float(b_.CreateShl(b_.CreateAdd(k, bits(127)), bits(23))); };
  return b_.CreateFMul(b_.CreateFMul(p, power(half)), power(rest));
}

Value* F32Math::exp(Value* x) {
  // Beyond these the result is 0 or infinity. The order of operands lets a NaN through.
  Value* low = number(-104.0);
  Value* high = number(89.0);
  Value* c = b_.CreateSelect(b_.CreateFCmpOGT(low, x), low, x);
  c = b_.CreateSelect(b_.CreateFCmpOLT(high, c), high, c);
  const auto n = nearest(b_.CreateFMul(c, number(kLog2E)));
  Value* r = nullptr;
  if (has_fma_) {
    const double hi = static_cast<float>(kLog2E);
    r = fma(c, number(hi), b_.CreateFNeg(n.first));
    r = fma(c, number(kLog2E - hi), r);
  } else {
    Value* t = b_.CreateFSub(c, b_.CreateFMul(n.first, number(kLn2High)));
    t = b_.CreateFSub(t, b_.CreateFMul(n.first, number(kLn2Low)));
    r = b_.CreateFMul(t, number(kLog2E));
  }
  return exp2_parts(r, n);
}

/// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log x = e ln 2 + log(1 + f), f = m - 1.
Value* F32Math::log(Value* x) {
  Value* denormal = b_.CreateFCmpOLT(x, number(0x1p-126));
  Value* scaled = b_.CreateSelect(denormal, b_.CreateFMul(x, number(0x1p23)), x);
  Value* word = to_bits(scaled);
  Value* exponent = b_.CreateAShr(b_.CreateSub(word, bits(0x3f3504f3)), bits(23));  // the bits of sqrt(1/2)
  Value* m = to_float(b_.CreateSub(word, b_.CreateShl(exponent, bits(23))));
  Value* e = b_.CreateFSub(b_.CreateSIToFP(exponent, type_), b_.CreateSelect(denormal, number(23.0), number(0.0)));
  Value* f = b_.CreateFSub(m, number(1.0));
  Value* z = b_.CreateFMul(f, f);
  Value* p = polynomial(f, {0.333333313, -0.250008196, 0.200012431, -0.166234106, 0.142015398, -0.131595507, 0.127624854, -0.0763694048});
  Value* y = b_.CreateFMul(b_.CreateFMul(z, f), p);
  y = fma(e, number(kLn2Low), y);
  y = fma(z, number(-0.5), y);
  y = fma(e, number(kLn2High), b_.CreateFAdd(f, y));
  Value* bad = b_.CreateSelect(b_.CreateFCmpOEQ(x, number(0.0)), number(-kInf), number(std::numeric_limits<double>::quiet_NaN()));
  y = b_.CreateSelect(b_.CreateFCmpOGT(x, number(0.0)), y, bad);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, number(kInf)), x, y);
}

Value* F32Math::tanh(Value* x) {
  Value* a = fabs(x);
  Value* z = b_.CreateFMul(x, x);
  Value* p = polynomial(z, {-0.333332807, 0.133314088, -0.0537369177, 0.0206298362, -0.00569446804});
  Value* small = fma(b_.CreateFMul(z, x), p, x);
  Value* e = exp(b_.CreateFAdd(a, a));
  Value* large = b_.CreateFSub(number(1.0), b_.CreateFDiv(number(2.0), b_.CreateFAdd(e, number(1.0))));
  large = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, large, x);
  return b_.CreateSelect(b_.CreateFCmpOLT(a, number(0.625)), small, large);
}

/// exp is only taken of -|x|: no overflow, and full precision where the result is tiny.
Value* F32Math::sigmoid(Value* x) {
  Value* e = exp(b_.CreateFNeg(fabs(x)));
  Value* s = b_.CreateFDiv(number(1.0), b_.CreateFAdd(number(1.0), e));
  return b_.CreateSelect(b_.CreateFCmpOLT(x, number(0.0)), b_.CreateFMul(e, s), s);
}

/// x + x p(x^2) below 0.92, else 1 - 2^q(|x|), which is 1 from 4 on.
Value* F32Math::erf(Value* x) {
  Value* a = fabs(x);
  Value* p = polynomial(b_.CreateFMul(x, x), {0.128379151, -0.376125008, 0.112818778, -0.0267686192, 0.00499591883, -0.000600414991});
  Value* small = fma(x, p, x);
  Value* four = number(4.0);
  Value* c = b_.CreateSelect(b_.CreateFCmpOLT(four, a), four, a);
  Value* q = polynomial(c, {-0.00283614406, -1.61564958, -0.939446747, -0.13104035, 0.0223454069, -0.00178914669});
  const auto n = nearest(q);
  Value* large = b_.CreateFSub(number(1.0), exp2_parts(b_.CreateFSub(q, n.first), n));
  large = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, large, x);
  return b_.CreateSelect(b_.CreateFCmpOLT(a, number(0.92)), small, large);
}

}  // namespace tw::codegen
