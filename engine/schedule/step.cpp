// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/step.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/json_text.h"

namespace tw::schedule {

const char* annotation_name(Annotation a) {
  switch (a) {
    case Annotation::none: return "none";
    case Annotation::unroll: return "unroll";
    case Annotation::unroll_explicit: return "unroll_explicit";
    case Annotation::vectorize: return "vectorize";
    case Annotation::parallel: return "parallel";
    case Annotation::vthread: return "vthread";
    case Annotation::block_x: return "blockIdx.x";
    case Annotation::thread_x: return "threadIdx.x";
    case Annotation::block_y: return "blockIdx.y";
    case Annotation::thread_y: return "threadIdx.y";
    case Annotation::block_z: return "blockIdx.z";
    case Annotation::thread_z: return "threadIdx.z";
  }
  return "";
}

const std::vector<Primitive>& primitives() {
  static const char* const kHalide = "Ragan-Kelley et al., Halide, PLDI 2013";
  static const char* const kTvm = "Chen et al., TVM, OSDI 2018";
  static const std::vector<Primitive> kTable{
      {"split", "SP", "Cuts a loop into an outer loop and inner loops of fixed length. Where the length does not divide the extent, a guard skips the surplus iterations.", kHalide},
      {"fuse", "FU", "Joins adjacent loops into one that runs over their product, so that one annotation covers them all.", kHalide},
      {"reorder", "RE", "Changes the nesting order of a stage's loops, and with it which data is reused while it is near.", kHalide},
      {"annotate", "AN", "Marks a loop as unrolled (written out), vectorised (one vector instruction for all iterations) or parallel (spread over threads).", kHalide},
      {"bind", "AN", "Runs the iterations of a loop as blocks or threads of a processor that has them, or interleaved in one thread (vthread).", kTvm},
      {"compute_at", "CA", "Computes a stage inside a loop of its consumer: only the region that one iteration needs, just before it is used.", kHalide},
      {"compute_inline", "CI", "Replaces every read of a stage by its definition: nothing is stored, but shared values are computed again.", kHalide},
      {"compute_root", "CR", "Computes a stage whole, before all stages that read it.", kHalide},
      {"cache_read", "CHR", "Reads an array through a copy in a nearer memory that some of its readers use instead.", kTvm},
      {"cache_write", "CHW", "Computes into a nearer memory, such as registers, and copies the result out when it is complete.", kTvm},
      {"layout", "LT", "Changes the order in which an array's elements lie in memory, for example in blocks of 16 channels. Constants are rearranged ahead of time.",
       "layout transformation as in NeoCPU, Liu et al., USENIX ATC 2019"},
      {"rfactor", "RF", "Sums a part of a reduction apart, in a stage of its own, so that partial results can be computed side by side by threads or vector lanes.",
       "Suriana et al., Parallel associative reductions in Halide, CGO 2017"},
      {"storage_align", "SA", "Leaves gaps in an array so that its rows do not fall into the same cache sets or memory banks.", kTvm},
      {"pad", "PD", "Rounds an axis up to a multiple, with surplus elements that nobody reads, so that splitting it needs no guards.",
       "packed panels in Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"},
      {"double_buffer", "DB", "Computes the next iteration's tile before this one's is used, in two arrays in turn, so that loading and computing overlap.", kTvm},
      {"winograd", "WG",
       "Computes a convolution with a small window from tiles that are transformed, multiplied point by point and transformed back: fewer multiplications, "
       "other rounding. Weights are transformed ahead of time.",
       "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016"},
      {"pipeline", "PL", "Fills several shared tiles in turn by copies that run while earlier tiles are used, so that threads seldom wait for memory.",
       "cp.async, NVIDIA PTX ISA; multistage pipelines of CUTLASS"},
      {"tensorize", "TS",
       "Computes products of 16-bit floats, of bytes, or of float32 that may be rounded, by tensor cores: the threads of a warp hold a tile of the sums together and "
       "add a product to it at a time.",
       "mma.sync, NVIDIA PTX ISA; Chen et al., TVM, OSDI 2018"},
      {"im2col", "IM",
       "Computes a convolution as a product of two matrices: one row of weights for each output channel, one column of the image for each pixel. The columns "
       "need not exist as a whole; tiles of them are gathered where they are used.",
       "Chellapilla et al., IWFHR 2006; implicit products as in cuDNN, Chetlur et al., arXiv:1410.0759, 2014"},
  };
  return kTable;
}

namespace {

/// Writes steps: the code, then numbers, words and lists of them.
class StepWriter {
 public:
  template <class... Fields>
  void write(const char* code, const Fields&... fields) {
    out_ += out_.size() > 1 ? ",[" : "[";
    append_json(out_, code);
    ((out_ += ',', append_json(out_, fields)), ...);
    out_ += ']';
  }
  std::string finish() && { return std::move(out_) + "]"; }

  void operator()(const SplitStep& s) { write("SP", s.stage, s.iter, s.extent, s.lengths, 1); }
  void operator()(const FuseStep& s) { write("FU", s.stage, s.iters); }
  void operator()(const ReorderStep& s) { write("RE", s.stage, s.order); }
  void operator()(const AnnotationStep& s) { write("AN", s.stage, s.iter, static_cast<int>(s.annotation)); }
  void operator()(const ComputeAtStep& s) { write("CA", s.stage, s.target_stage, s.target_iter); }
  void operator()(const ComputeInlineStep& s) { write("CI", s.stage); }
  void operator()(const ComputeRootStep& s) { write("CR", s.stage); }
  void operator()(const CacheReadStep& s) { write("CHR", s.stage, s.scope, s.readers); }
  void operator()(const CacheWriteStep& s) { write("CHW", s.stage, s.scope); }
  void operator()(const LayoutStep& s) {
    std::vector<std::vector<int64_t>> pieces;
    for (const auto& p : s.pieces) pieces.push_back({p.dim, p.factor});
    write("LT", s.stage, pieces);
  }
  void operator()(const RfactorStep& s) { write("RF", s.stage, s.iter, s.factor_iter); }
  void operator()(const StorageAlignStep& s) { write("SA", s.stage, s.iter, s.factor, s.offset); }
  void operator()(const PadStep& s) { write("PD", s.stage, s.iter, s.factor); }
  void operator()(const DoubleBufferStep& s) { write("DB", s.stage); }
  void operator()(const WinogradStep& s) { s.flat ? write("WG", s.stage, s.tile, 1) : write("WG", s.stage, s.tile); }
  void operator()(const PipelineStep& s) { write("PL", s.stage, s.arrays); }
  void operator()(const TensorizeStep& s) { write("TS", s.stage, s.iter); }
  void operator()(const Im2colStep& s) { s.term < 0 ? write("IM", s.stage) : write("IM", s.stage, s.term, s.pixels, s.filters, s.terms); }

 private:
  std::string out_ = "[";
};

}  // namespace

std::string json_text(const std::vector<Step>& steps) {
  StepWriter writer;
  for (const Step& s : steps) std::visit(writer, s);
  return std::move(writer).finish();
}

Json to_json(const std::vector<Step>& steps) { return parse_json(json_text(steps)).value(); }

namespace {

Expected<Step> read_step(const Json& j) {
  const std::string code = j.at(0).get<std::string>();
  const int stage = j.at(1).get<int>();
  if (code == "SP") {
    if (j.at(5).get<int>() != 1) return Error(ErrorCode::unsupported, "Expected a split counted from inner to outer, found the other order");
    return Step(SplitStep{stage, j.at(2).get<int>(), j.at(3).is_null() ? 0 : j.at(3).get<int64_t>(), j.at(4).get<std::vector<int64_t>>()});
  }
  if (code == "FU") return Step(FuseStep{stage, j.at(2).get<std::vector<int>>()});
  if (code == "RE") return Step(ReorderStep{stage, j.at(2).get<std::vector<int>>()});
  if (code == "AN") {
    const int a = j.at(3).get<int>();
    const auto known = std::find_if(std::begin(kAnnotations), std::end(kAnnotations), [a](Annotation k) { return static_cast<int>(k) == a; });
    if (known == std::end(kAnnotations)) return Error(ErrorCode::unsupported, fmt::format("Expected an annotation from 0 to 10 or 12, found {}", a));
    return Step(AnnotationStep{stage, j.at(2).get<int>(), *known});
  }
  if (code == "CA") return Step(ComputeAtStep{stage, j.at(2).get<int>(), j.at(3).get<int>()});
  if (code == "CI") return Step(ComputeInlineStep{stage});
  if (code == "CR") return Step(ComputeRootStep{stage});
  if (code == "CHR") return Step(CacheReadStep{stage, j.at(2).get<std::string>(), j.at(3).get<std::vector<int>>()});
  if (code == "CHW") return Step(CacheWriteStep{stage, j.at(2).get<std::string>()});
  if (code == "LT") {
    LayoutStep s{stage, {}};
    for (const Json& p : j.at(2)) s.pieces.push_back({p.at(0).get<int>(), p.at(1).get<int64_t>()});
    return Step(s);
  }
  if (code == "RF") return Step(RfactorStep{stage, j.at(2).get<int>(), j.at(3).get<int>()});
  if (code == "SA") return Step(StorageAlignStep{stage, j.at(2).get<int>(), j.at(3).get<int64_t>(), j.at(4).get<int64_t>()});
  if (code == "PD") return Step(PadStep{stage, j.at(2).get<int>(), j.at(3).get<int64_t>()});
  if (code == "DB") return Step(DoubleBufferStep{stage});
  if (code == "WG") return Step(WinogradStep{stage, j.at(2).get<int64_t>(), j.size() > 3 && j.at(3).get<int>() != 0});
  if (code == "PL") return Step(PipelineStep{stage, j.at(2).get<int>()});
  if (code == "TS") return Step(TensorizeStep{stage, j.at(2).get<int>()});
  if (code == "IM" && j.size() < 3) return Step(Im2colStep{stage});
  if (code == "IM") return Step(Im2colStep{stage, j.at(2).get<int>(), j.at(3).get<int64_t>(), j.at(4).get<int64_t>(), j.at(5).get<int64_t>()});
  return Error(ErrorCode::parse_error, "Expected the code of a schedule step such as 'SP' or 'RE', found '" + code + "'");
}

}  // namespace

Expected<Step> step_from_json(const Json& json) {
  try {
    return read_step(json);
  } catch (const nlohmann::json::exception&) {
    return Error(ErrorCode::parse_error, "Expected a schedule step such as [\"SP\", 2, 0, 64, [8, 4], 1], found " + dump_json(json));
  }
}

Expected<std::vector<Step>> steps_from_json(const Json& json) {
  if (!json.is_array()) return Error(ErrorCode::parse_error, "Expected a list of schedule steps, found " + dump_json(json));
  std::vector<Step> out;
  for (const Json& j : json) {
    TW_TRY(Step s, step_from_json(j));
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace tw::schedule
