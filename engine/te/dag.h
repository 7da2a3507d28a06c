// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/host_array.h"
#include "engine/base/stop_token.h"
#include "engine/ir/expr.h"

/// Tensor expressions: what a kernel computes, without saying how.
namespace tw::te {

enum class AxisKind : uint8_t { spatial, reduce };

/// One dimension of an iteration domain: `var` runs over [0, extent).
struct Axis {
  ir::Var var;
  int64_t extent;
  AxisKind kind;
};

enum class Reducer : uint8_t { none, sum, prod, max, min };
const char* reducer_name(Reducer r);
/// The value that does not change the other operand.
ir::Expr reducer_identity(Reducer r, DType t);
ir::Expr reducer_combine(Reducer r, ir::Expr a, ir::Expr b);

/// Whether a placeholder changes between calls. Constants may be stored in any layout ahead of time.
enum class Role : uint8_t { activation, constant };

/// A node of the dag: a placeholder, or `output[axes] = reduce(body)`.
/// Without a reducer: output[axes] = body. With one: the body combined over reduce_axes, starting from the reducer's identity.
struct Op {
  bool is_placeholder() const { return !body; }
  std::string name;
  ir::Buffer output;             ///< its shape is the iteration domain of `axes`
  Role role = Role::activation;  ///< placeholders only
  std::vector<Axis> axes = {};   ///< spatial; empty for placeholders and for scalars
  std::vector<Axis> reduce_axes = {};
  Reducer reducer = Reducer::none;
  std::optional<ir::Expr> body = {};                       ///< reads other ops through loads of their output buffers; none for placeholders
  std::string tag = {};                                    ///< what templates look for: "conv2d", "dense", "pad", "elementwise", ...
  std::map<std::string, std::vector<int64_t>> attrs = {};  ///< parameters of the tagged operator, such as strides
};

/// A kernel's computation. Ops stand in topological order, placeholders first in their argument order.
/// A value: share it as shared_ptr<const Dag>.
struct Dag {
  std::vector<Op> ops;
  std::vector<int> outputs;  ///< indices into ops
  /// The text that its author wrote, where it says how to schedule the computation too (source.h): that is a part of what it is. Empty for all others.
  std::string source = {};

  /// Index of the op that defines `buffer`, or -1.
  int op_of(const ir::BufferNode* buffer) const;
  /// Ops that read op i, ascending.
  std::vector<int> consumers(int i) const;
  /// Index of the op called `name`, or -1.
  int find(std::string_view name) const;
};
using DagPtr = std::shared_ptr<const Dag>;

/// A tensor while a dag is being written: call it with indices to read it.
class Tensor {
 public:
  explicit Tensor(ir::Buffer b) : buffer_(std::move(b)) {}
  template <class... I>
  ir::Expr operator()(I... i) const {
    return ir::load(buffer_, {to_index(std::move(i))...});
  }
  ir::Expr at(std::vector<ir::Expr> i) const { return ir::load(buffer_, std::move(i)); }
  const std::vector<int64_t>& shape() const { return buffer_->shape; }
  int rank() const { return static_cast<int>(buffer_->shape.size()); }
  DType dtype() const { return buffer_->dtype; }
  const ir::Buffer& buffer() const { return buffer_; }

 private:
  static ir::Expr to_index(ir::Expr e) { return e; }
  static ir::Expr to_index(int64_t v) { return ir::index(v); }
  ir::Buffer buffer_;
};

using Indices = std::vector<ir::Expr>;

/// Builds a dag in order. Names are made unique by a numeric suffix.
class DagBuilder {
 public:
  Tensor placeholder(const std::string& name, std::vector<int64_t> shape, DType dtype, Role role = Role::activation);
  Tensor compute(const std::string& name, std::vector<int64_t> shape, const std::function<ir::Expr(const Indices&)>& body, std::string tag = "elementwise",
                 std::map<std::string, std::vector<int64_t>> attrs = {});
  Tensor reduce(const std::string& name, std::vector<int64_t> shape, std::vector<int64_t> reduce_extents, Reducer reducer,
                const std::function<ir::Expr(const Indices& spatial, const Indices& reduced)>& body, std::string tag = "reduce",
                std::map<std::string, std::vector<int64_t>> attrs = {});
  /// Placeholders move to the front; ops that no output needs are dropped (placeholders stay).
  DagPtr finish(const std::vector<Tensor>& outputs) &&;

 private:
  std::string unique(const std::string& name);
  std::map<std::string, int> names_;
  std::vector<Op> ops_;
};

/// Structural checks: topological order, index counts and types, shapes equal axis extents, unique names.
Expected<void> verify(const Dag& dag);

/// Floating-point (or integer) operations of one run: one per add, mul, min, max, compare, call in bodies, plus one per combine.
/// Selects, index arithmetic and casts count nothing. Constant-zero padding taps count as executed.
int64_t flops(const Dag& dag);
/// Those of them that are values of mathematical functions, such as exp, which take a dozen instructions each.
int64_t function_calls(const Dag& dag);
/// Bytes of all placeholders and outputs, each counted once, less unread_bytes: the least memory traffic.
int64_t io_bytes(const Dag& dag);

/// Text form, read back by parse_dag; the canonical text (names replaced by positions) is the identity of a task. What has a source is printed as that.
std::string print(const Dag& dag);
/// Errors: parse_error with line and column. source.h says more of the text.
Expected<DagPtr> parse_dag(std::string_view text);
/// Equality up to the names of axes and buffers; names of ops, roles, tags and attributes count.
bool structural_equal(const Dag& a, const Dag& b);
/// Content key of the canonical text: equal for dags that differ only in names. A source counts by its words: white space and comments do not.
std::string structural_key(const Dag& dag);

/// Evaluates the dag element by element straight from the expressions: the oracle that no schedule and no lowering can influence.
/// `inputs` in placeholder order. Floats are computed in double (a reduction as a whole) and rounded to the buffer's type at each store;
/// integers wrap. Outputs in the dag's order.
/// Errors: invalid_argument for inputs that do not fit, a malformed dag, an integer division by zero; wrong_result for a load outside its
/// array, naming op and load; resource_limit if all arrays together exceed 16 GiB; cancelled.
Expected<std::vector<HostArray>> interpret(const Dag& dag, std::span<const HostArray> inputs, StopToken stop = {});
/// The same for chosen elements of one output only (index into dag.outputs; row-major positions); cost follows the elements asked for.
Expected<std::vector<double>> interpret_at(const Dag& dag, std::span<const HostArray> inputs, int output, std::span<const int64_t> positions,
                                           StopToken stop = {});

}  // namespace tw::te
