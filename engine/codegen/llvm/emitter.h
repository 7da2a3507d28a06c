// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/codegen/index.h"
#include "engine/codegen/llvm/types.h"
#include "engine/codegen/panels.h"
#include "engine/target/cpu_table.h"
#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::codegen {

/// Lines of the printed function, given to LLVM as debug locations.
struct DebugLines {
  const std::unordered_map<const tir::StmtNode*, int>& line_of;  ///< 1-based
  llvm::DIBuilder& builder;
  llvm::DIFile* file;
  llvm::DICompileUnit* unit;
};

/// One LLVM module while functions are added to it. The first failure is kept; what is emitted after it is thrown away with the module.
struct ModuleState {
  llvm::Module& module;
  const Target& target;
  target::FeatureSet features = 0;
  DebugLines* debug = nullptr;
  std::optional<Error> error;
  std::unordered_map<const ir::BufferNode*, llvm::AAMDNodes> told_apart = {};  ///< what its arrays do not overlap, for their accesses
  std::unordered_set<const ir::BufferNode*> streamed = {};                     ///< outputs of the function being emitted that are written past the caches
  std::unordered_map<const ir::BufferNode*, int64_t> bytes_ahead = {};         ///< inputs of it that are fetched ahead, and how far
  PanelFetches panels = {};                                                    ///< what its loops ask for before it is read
  bool reads_tables = false;                                                   ///< whether it reads elements where others say

  llvm::LLVMContext& context() { return module.getContext(); }
  bool has(target::X86Feature f) const { return (features & target::bit(f)) != 0; }
  bool has(target::ArmFeature f) const { return (features & target::bit(f)) != 0; }
  void fail(ErrorCode code, std::string message, std::string where) {
    if (!error) error = Error(code, std::move(message), std::move(where));
  }
};

/// Adds the kernel `f` with the ABI of runtime/kernel.h.
/// A kernel is one function, and every parallel loop another: each costs the back end up to a millisecond. Accesses carry what arrays they cannot overlap,
/// which says of pointers from a table what `noalias` says of parameters.
void emit_kernel(ModuleState& state, const tir::Func& f);

/// Emits statements and expressions into one LLVM function.
class FuncEmitter {
 public:
  FuncEmitter(ModuleState& state, llvm::Function* function, llvm::Value* api, bool in_parallel);

  void bind(const ir::BufferNode* buffer, llvm::Value* pointer) { buffers_[buffer] = pointer; }
  void bind(const ir::VarNode* var, llvm::Value* value, std::optional<Interval> range);
  void stmt(const tir::Stmt& s);
  void finish(llvm::Value* result = nullptr);
  Builder& builder() { return b_; }
  /// Known ranges of variables in scope.
  Ranges& ranges() { return ranges_; }
  /// Emits body for every value of var from begin up to end; `may_be_empty` tests before the first turn.
  void loop(const ir::VarNode* var, llvm::Value* begin, llvm::Value* end, bool may_be_empty, const tir::Stmt& body);

 private:
  // llvm_expr.cpp
  llvm::Value* expr(const ir::Expr& e);
  llvm::Value* fresh_expr(const ir::Expr& e);
  llvm::Value* index(const ir::Expr& e);
  llvm::Value* binary(const ir::BinaryNode& n);
  llvm::Value* logical(const ir::BinaryNode& n);
  llvm::Value* select(const ir::SelectNode& n);
  llvm::Value* branch(llvm::Value* cond, const ir::Expr& if_true, const ir::Expr& if_false);
  llvm::Value* branch(llvm::Value* cond, const std::function<llvm::Value*()>& if_true, const std::function<llvm::Value*()>& if_false);
  llvm::Value* under_mask(llvm::Value* mask, const ir::Expr& e);
  llvm::Value* ramp(const ir::RampNode& n);
  llvm::Value* call(const ir::CallNode& n);
  bool may_fault(const ir::Expr& e) const;

  // llvm_dot.cpp
  llvm::Value* byte_dot(const ir::BinaryNode& n);
  llvm::Value* divided_ramp(const ir::BinaryNode& n);

  // llvm_memory.cpp
  struct Place {
    ir::Buffer buffer;
    ir::Expr index;            ///< in elements
    std::optional<Ramp> ramp;  ///< for vector indices that are one
    bool in_bounds = false;    ///< shown by ranges
    llvm::Type* element;       ///< in memory
    llvm::Value* pointer;      ///< first element of the buffer
  };
  static bool has_stride(const Place& p, int64_t stride);
  Place place(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices);
  llvm::Align align_of(const Place& p, const ir::Expr& index, int lanes) const;
  llvm::Value* address(const Place& p, const ir::Expr& at);
  llvm::Value* linear_sum(LinearIndex& at);
  llvm::Value* add_term(llvm::Value* sum, const LinearIndex::Term& t);
  size_t loop_of(const ir::Expr& e) const;
  int depth_of(const ir::Expr& e) const;
  llvm::Value* addresses(const Place& p, int lanes);
  /// The low 32 bits of an index, in which sums and products need no others.
  llvm::Value* low_half(const ir::Expr& e);
  llvm::Value* load(const ir::LoadNode& n);
  llvm::Value* load_scalar(const Place& p, const ir::Expr& index);
  void fetch_ahead(const Place& p);
  void fetch_panels(const tir::StmtNode* body);
  llvm::Value* load_vector(const Place& p, int lanes);
  llvm::Value* load_lanes(const Place& p, int lanes);
  void store(const tir::StoreNode& n);
  void store_scalar(const Place& p, const ir::Expr& index, llvm::Value* value);
  void store_vector(const Place& p, llvm::Value* value, int lanes);
  void store_lanes(const Place& p, llvm::Value* value, int lanes);
  llvm::Value* any_lane();
  template <class Access>
  Access* access(const Place& p, Access* made);

  // llvm_strided.cpp
  size_t load_blocks(std::span<const tir::Stmt> run);
  llvm::Value* load_two(const Place& p, int lanes);
  llvm::Value* load_near(const Place& p, int lanes);
  std::optional<std::vector<std::optional<Place>>> rows_of_block(const ir::LoadNode& first, int columns, bool guarded);
  llvm::Value* load_stretch(const Place& p, int lanes, int64_t stride);
  llvm::Value* load_pieces(const Place& p, const LaneOffsets& at, int length);
  llvm::Value* load_windows(const Place& p, const LaneOffsets& at);
  void store_pieces(const Place& p, const LaneOffsets& at, int length, llvm::Value* value);
  template <class Piece>
  void for_pieces(const Place& p, const LaneOffsets& at, int length, const Piece& piece);

  // llvm_stmt.cpp
  void for_stmt(const tir::ForNode& n);
  void if_stmt(const tir::IfNode& n);
  void masked_if(const tir::IfNode& n, llvm::Value* cond);
  void alloc(const tir::AllocNode& n);
  llvm::Value* stack_array(const ir::BufferNode& buffer);
  llvm::Value* api_field(int offset, const char* name);
  void set_line(const tir::StmtNode* s);

  // llvm_copy.cpp
  bool copy(const tir::ForNode& n);

  // llvm_parallel.cpp
  void parallel(const tir::ForNode& n, llvm::Value* begin, llvm::Value* extent);

  ModuleState& s_;
  llvm::Function* function_;
  Builder b_;
  llvm::Value* api_;
  bool in_parallel_;
  bool in_index_ = false;
  bool streams_ = false;     ///< a store past the caches was made
  bool saw_vector_ = false;  ///< a vector was made since this was last cleared
  int64_t stack_bytes_ = 0;
  llvm::Value* mask_ = nullptr;  ///< lanes that count; null means all
  std::unordered_map<const ir::BufferNode*, llvm::Value*> buffers_;
  std::unordered_map<const ir::VarNode*, llvm::Value*> vars_;
  Ranges ranges_;
  std::unordered_map<const ir::VarNode*, int> depth_;  ///< order in which variables were bound last: outer ones first
  int bound_ = 0;                                      ///< how often one was
  std::set<std::string> fetched_;                      ///< lines that the turn at hand of the innermost loop has asked for ahead
  std::map<std::tuple<const ir::VarNode*, const ir::BufferNode*, int64_t>, int64_t> bytes_read_;  ///< in a turn of a loop, by the step of the place
  struct Computed {
    ir::Expr expr;  ///< kept alive, so that its address names it
    llvm::Value* value;
  };
  using Memo = std::unordered_map<const ir::ExprNode*, Computed>;
  struct Loop {
    const ir::VarNode* var;
    const tir::Stmt* body;
    llvm::Instruction* head;  ///< before it belongs what does not change in the loops inside
    Ranges ranges;            ///< what is known there, whatever branches inside say
    Memo memo = {};           ///< values there
  };
  std::vector<Loop> loops_;                                       ///< those around, outermost first
  std::unordered_map<const ir::LoadNode*, llvm::Value*> blocks_;  ///< loads of the run of statements at hand that were made together
  Memo memo_;                                                     ///< values of this statement, so that shared nodes are computed once
};

/// The attributes that every function of ours gets, and its debug scope.
void set_function_facts(ModuleState& state, llvm::Function* f);

/// Of functions that read elements where tables say: what does not change in a loop, as such a place mostly does not, is read before it.
constexpr const char* kHoists = "tilewright-hoists";

}  // namespace tw::codegen
