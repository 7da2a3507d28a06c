// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/ir/expr.h"

/// Expressions compiled to a compact tree over numbered slots: what the reference interpreters of te and tir run.
/// Integers are computed in int64 and wrapped to their type, floats in double; casts, constants and quotients are rounded to their type (a
/// quotient is often rounded to an integer next, where a half must be a half), other float operations are not. `min` and `max` of a NaN are NaN. Shifts by the width or more shift everything out.
/// `and` and `or` evaluate both sides where the second could fail; `select` evaluates the branch taken only, lane by lane.
namespace tw::ir {

/// One scalar; which member holds it follows from the type.
union EvalValue {
  int64_t i;
  double f;
};

/// Storage of a buffer while a program runs.
struct EvalArray {
  Buffer buffer;
  std::byte* data = nullptr;   ///< row-major; null where every read goes to the ElementSource
  uint8_t* written = nullptr;  ///< one per element, non-zero once stored; null where all elements may be read
  /// Three numbers per element: of the last concurrent iteration that wrote it and of two different ones that read it since what is concurrent began; or null.
  uint32_t* touched = nullptr;
};

/// Gives elements of arrays that have no storage.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  virtual EvalValue element(int array, int64_t position) = 0;
};

/// An element that two iterations touched without order, and the number of the one that came first.
struct EvalConflict {
  size_t array = 0;
  int64_t position = 0;
  uint32_t first = 0;
};

/// What a compiled expression reads and where its first error goes.
struct EvalState {
  std::vector<EvalValue> vars;
  std::vector<EvalArray> arrays;
  ElementSource* source = nullptr;
  /// Number of the running iteration of a parallel loop, or of a thread between two barriers; 0 outside; numbers are never used again.
  uint32_t iteration = 0;
  uint32_t first_iteration = 0;                ///< of the loop, or of the block since its last barrier: with those from here on the running one is concurrent
  uint32_t block_begin = 0, launch_begin = 0;  ///< and with those of other blocks, in [launch_begin, block_begin); both first_iteration in a parallel loop
  bool threads = false;                        ///< the iterations are threads of blocks
  std::optional<EvalConflict> conflict;        ///< found between threads
  const EvalConflict* watched = nullptr;       ///< of an earlier run: `seen` is set by the access that came first
  bool seen = false;
  int lane = 0;  ///< which lane of vector expressions is computed
  std::optional<Error> error;

  void fail(ErrorCode code, std::string message, std::string where) {
    if (!error) error = Error(code, std::move(message), std::move(where));
  }
};

struct EvalCode;

/// Compiles expressions that share variables and arrays. Results stay valid as long as the compiler; expressions are kept alive.
class EvalCompiler {
 public:
  EvalCompiler();
  ~EvalCompiler();
  /// A fresh slot for a variable; later expressions read it there. Vectors take one slot a lane.
  int bind(const VarNode* var);
  /// The same for an int64 variable that will only ever hold min ... min + extent - 1, extent >= 1.
  int bind(const VarNode* var, int64_t min, int64_t extent);
  /// The array number of a buffer; new buffers get the next.
  int array(const Buffer& buffer);
  /// Compiles a well-typed expression. All its variables must be bound.
  const EvalCode* compile(const Expr& e);
  /// Compiles the row-major position of indices (one a dimension, or one flat index); negative after an error of kind wrong_result.
  const EvalCode* compile_position(const Buffer& buffer, const std::vector<Expr>& indices, const char* access);
  /// A state with room for every variable and array so far.
  EvalState make_state() const;

 private:
  EvalCode* code(const Expr& e);
  const EvalCode* binary(const BinaryNode& n);
  const EvalCode* cast(const CastNode& n);
  const EvalCode* load(const LoadNode& n);
  const EvalCode* position(const Buffer& buffer, const std::vector<Expr>& indices, std::string text);
  EvalCode* affine_position(const Buffer& buffer, const std::vector<Expr>& indices);
  const EvalCode* wrapped(const EvalCode* value, DType t);
  const EvalCode* compile_new(const Expr& e);

  std::deque<EvalCode> codes_;
  std::vector<Expr> kept_;
  std::unordered_map<const ExprNode*, const EvalCode*> done_;
  std::unordered_map<const VarNode*, int> slots_;
  std::unordered_map<int, std::pair<int64_t, int64_t>> ranges_;  ///< first and last value, by slot
  std::unordered_map<const BufferNode*, int> array_numbers_;
  std::vector<Buffer> buffers_;
  int num_slots_ = 0;
};

/// The value of an expression of integer or bool type at state.lane; 0 where it failed.
int64_t eval_int(const EvalCode& c, EvalState& s);
/// The value of an expression of float type at state.lane; 0 where it failed.
double eval_float(const EvalCode& c, EvalState& s);
inline EvalValue eval(const EvalCode& c, bool is_float, EvalState& s) {
  EvalValue v;
  if (is_float)
    v.f = eval_float(c, s);
  else
    v.i = eval_int(c, s);
  return v;
}

/// Stores a value in an array with storage, rounded or wrapped to the array's type, and marks the element as written.
void store_element(EvalArray& array, int64_t position, EvalValue v);
/// An element of an array with storage. Fails with wrong_result where it was never written, and as note_read does.
EvalValue load_element(EvalArray& array, int64_t position, EvalState& s, const std::string& where);
/// Records an access inside a parallel loop and fails with wrong_result where two iterations share an element and one of them writes it.
void note_read(EvalArray& array, int64_t position, EvalState& s, const std::string& where);
void note_write(EvalArray& array, int64_t position, EvalState& s);
/// As an array of type t would give it back.
EvalValue rounded(DType t, EvalValue v);

/// Two's complement value of `v` in type t; bool is `!= 0`.
int64_t wrap_int(DType t, int64_t v);
/// A float function in double precision; `b` for those of two arguments.
double eval_intrinsic(Intrinsic f, double a, double b = 0);
/// Truncation to a type: NaN is 0, values outside int64 (uint64) saturate, then wrap.
int64_t float_to_int(DType t, double v);
double int_to_double(DType t, int64_t v);
/// NaN if either is NaN.
double nan_min(double a, double b);
double nan_max(double a, double b);

}  // namespace tw::ir
