// SPDX-License-Identifier: Apache-2.0
// CUDA text of schedules for blocks and threads, and what NVRTC makes of it. Without NVRTC only the text is looked at.
#include <QtTest>
#include <sstream>

#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/cuda/cuda_source.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/lower/lower.h"
#include "engine/tir/parse.h"
#include "engine/tir/print.h"
#include "tests/engine/lower/gpu_schedules.h"

using namespace tw;

namespace {

codegen::CudaSource source_of(const schedule::Schedule& s) {
  const auto f = lower::lower_and_optimize(s, "kernel", Target());
  if (!f) qFatal("%s", f.error().text().c_str());
  auto source = codegen::cuda_source(*f);
  if (!source) qFatal("%s", source.error().text().c_str());
  return *std::move(source);
}
codegen::CudaSource source_of(const std::string& text) {
  const auto f = tir::parse_func(text);
  if (!f) qFatal("%s", f.error().text().c_str());
  auto source = codegen::cuda_source(*f);
  if (!source) qFatal("%s", source.error().text().c_str());
  return *std::move(source);
}
bool has(const std::string& text, const char* part) {
  if (text.find(part) != std::string::npos) return true;
  qWarning("%s\nlacks: %s", text.c_str(), part);
  return false;
}
#define NEED_NVRTC() \
  if (const auto version = codegen::nvrtc_version(); !version) QSKIP(version.error().text().c_str())

/// `body` inside a function of 64 threads over A and C of `type`.
std::string threads(const std::string& type, const std::string& body) {
  std::string out = fmt::format(
      "@T.prim_func\ndef f(A: T.Buffer((64,), \"{0}\"), C: T.Buffer((64,), \"{0}\")):\n    T.func_attr({{\"num_outputs\": 1}})\n"
      "    for x in T.thread_binding(64, thread=\"threadIdx.x\"):\n",
      type);
  for (size_t at = 0; at < body.size(); at = std::min(body.find('\n', at), body.size() - 1) + 1) {
    out += "        " + body.substr(at, body.find('\n', at) - at) + "\n";
    if (body.find('\n', at) == std::string::npos) break;
  }
  return out;
}

}  // namespace

class CudaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void compiles_data() {
    QTest::addColumn<int>("which");
    int k = 0;
    for (const auto& g : testing::gpu_schedules()) QTest::newRow(g.name.c_str()) << k++;
  }
  /// Every schedule compiles for real architectures; its arrays are registers, and it takes the shared memory that was counted.
  void compiles() {
    NEED_NVRTC();
    QFETCH(int, which);
    const codegen::CudaSource source = source_of(testing::gpu_schedules()[static_cast<size_t>(which)].schedule);
    for (const int arch : {80, 90}) {
      const auto binary = codegen::nvrtc_compile(source.text, arch, true);
      QVERIFY2(binary, binary ? "" : (binary.error().text() + "\n" + source.text).c_str());
      QVERIFY(!binary->cubin.empty() && has(binary->ptx, (".entry " + source.kernels[0].name).c_str()));
      QCOMPARE(binary->kernels.size(), source.kernels.size());
      for (size_t k = 0; k < source.kernels.size(); ++k) {
        const codegen::KernelResources& r = binary->kernels[k];
        QCOMPARE(r.name, source.kernels[k].name);
        QVERIFY(r.registers > 0);
        QCOMPARE(r.stack_bytes, int64_t{0});
        // The compiler rounds up, and drops arrays that it can do without.
        QVERIFY2(r.shared_bytes <= (source.kernels[k].static_shared_bytes + 15) / 16 * 16 + 1024, qPrintable(QString::number(r.shared_bytes)));
      }
      const auto known = static_cast<int64_t>(source.line_stmt.size());
      QCOMPARE(binary->ptx_line_to_source.size(),
               static_cast<size_t>(std::count(binary->ptx.begin(), binary->ptx.end(), '\n') + (binary->ptx.back() == '\n' ? 0 : 1)));
      int traced = 0;
      for (const int line : binary->ptx_line_to_source) {
        QVERIFY(line < known);
        traced += line >= 0 && source.line_origin[static_cast<size_t>(line)].stage >= 0;
      }
      QVERIFY(traced > 5);
    }
  }

  /// Copies ahead are instructions of their own from 8.0 on, and plain ones before; products by warps fetch and multiply as their warps are told.
  void copies_and_products() {
    const codegen::CudaSource copies = source_of(
        testing::tiled_matmul(
            {.m = 64, .n = 64, .k = 64, .vy = 1, .ty = 8, .iy = 4, .vx = 1, .tx = 8, .ix = 4, .ko = 8, .vector = 4, .registers = false, .pipeline = 3})
            .finish()
            .value());
    QVERIFY(has(copies.text, "copy_async<16>(&A_shared["));
    QVERIFY(has(copies.text, "wait_copies<1>();"));
    QVERIFY(has(copies.text, "commit_copies();"));
    const codegen::CudaSource product = source_of(testing::warp_matmul({}).finish().value());
    QVERIFY(has(product.text, "C_local += 32 x 32 x 16 by the warp"));
    QVERIFY(has(source_of(testing::warp_matmul({.transposed = true, .dtype = kBFloat16}).finish().value()).text, "load_tiles_transposed(tiles[i], &A_shared["));
    NEED_NVRTC();
    for (const int arch : {75, 80, 90}) {
      const auto binary = codegen::nvrtc_compile(copies.text, arch);
      QVERIFY2(binary, binary ? "" : binary.error().text().c_str());
      QCOMPARE(binary->ptx.find("cp.async.cg.shared.global") != std::string::npos, arch >= 80);
    }
    const auto binary = codegen::nvrtc_compile(product.text, 80);
    QVERIFY(binary);
    for (const char* part : {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "cp.async.wait_group"})
      QVERIFY(has(binary->ptx, part));
    QVERIFY(!codegen::nvrtc_compile(product.text, 75));
    const std::tuple<testing::WarpMatmulKnobs, const char*, std::vector<const char*>> others[] = {
        {{.n = 64, .k = 64, .vector = 4, .gap = 4, .dtype = kFloat32},
         "multiply_tf32(",
         {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "cvt.rna.tf32.f32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"}},
        {{.n = 64, .k = 128, .depth = 64, .gap = 16, .dtype = kInt8, .out = kInt32},
         "multiply_s8_s8(",
         {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"}},
        {{.n = 64, .k = 128, .depth = 64, .gap = 16, .transposed = true, .dtype = kInt8, .out = kInt32, .other = kUInt8},
         "multiply_s8_u8(",
         {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"}},
        {{.n = 64, .k = 64, .vector = 4, .gap = 4, .transposed = true, .dtype = kFloat32}, "multiply_tf32(", {"cvt.rna.tf32.f32"}}};
    for (const auto& [knobs, call, instructions] : others) {
      const codegen::CudaSource source = source_of(testing::warp_matmul(knobs).finish().value());
      QVERIFY(has(source.text, call));
      for (const int arch : {80, 86, 90}) {
        const auto compiled = codegen::nvrtc_compile(source.text, arch);
        QVERIFY2(compiled, compiled ? "" : (compiled.error().text() + source.text).c_str());
        for (const char* part : instructions) QVERIFY2(compiled->ptx.find(part) != std::string::npos, part);
        QCOMPARE(compiled->kernels[0].stack_bytes + compiled->kernels[0].spill_store_bytes, int64_t{0});
      }
    }
  }

  /// Arrays may be called as types and functions of CUDA are.
  void names_that_are_taken() {
    const codegen::CudaSource source = source_of(
        "@T.prim_func\ndef f(float4: T.Buffer((64,), \"float32\"), make_float4: T.Buffer((64,), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n"
        "    for switch in T.thread_binding(64, thread=\"threadIdx.x\"):\n        make_float4[switch] = float4[switch]\n");
    for (const char* taken : {"* __restrict__ float4,", "* __restrict__ make_float4)", "int switch ="})
      QVERIFY2(source.text.find(taken) == std::string::npos, source.text.c_str());
    NEED_NVRTC();
    const auto binary = codegen::nvrtc_compile(source.text, 80);
    QVERIFY2(binary, binary ? "" : (binary.error().text() + source.text).c_str());
  }

  /// Explicitly unrolled loops, and those inside them, as numbers in the text; what declares something has braces of its own.
  void loops_written_out() {
    const codegen::CudaSource source = source_of(threads("int32",
                                                         "for i in T.unroll_explicit(2):\n"
                                                         "    for j in T.unroll(1, 3):\n"
                                                         "        C[x // 8 * 8 + i * 4 + 3 - j] = A[x + i % 2 * j]\n"
                                                         "    v: T.int32 = A[i]\n"
                                                         "    for k in T.serial(8):\n"
                                                         "        C[k] = v"));
    const std::string turn =
        "  {{\n    C[x / 8 * 8{}] = A[x{}];\n    C[x / 8 * 8{}] = A[x{}];\n    const int v = A[{}];\n    for (int k = 0; k < 8; ++k) {{\n      C[k] = v;\n    "
        "}}\n  }}\n";
    QVERIFY(has(source.text, (fmt::format(fmt::runtime(turn), " + 2", " + 0 % 2 * 1", " + 1", " + 0 % 2 * 2", 0) +
                              fmt::format(fmt::runtime(turn), " + 6", " + 1 % 2 * 1", " + 5", " + 1 % 2 * 2", 1))
                                 .c_str()));
    QCOMPARE(source.line_stmt.size(), static_cast<size_t>(std::count(source.text.begin(), source.text.end(), '\n')));
    // Too much of it stays a loop.
    const codegen::CudaSource large = source_of(threads("int32", "for i in T.unroll_explicit(64):\n    for j in T.unroll_explicit(64):\n        C[j] = A[i]"));
    QVERIFY(has(large.text, "#pragma unroll 1\n  for (int i = 0; i < 64; ++i) {\n    C[0] = A[i];\n    C[1] = A[i];"));
    QVERIFY(large.text.size() < 4000);
  }

  void readable_text() {
    const codegen::CudaSource source = source_of(
        testing::tiled_matmul({.m = 64, .n = 64, .k = 32, .vy = 1, .ty = 8, .iy = 4, .vx = 1, .tx = 8, .ix = 4, .ko = 8, .vector = 4, .registers = false})
            .finish()
            .value());
    QCOMPARE(source.kernels.size(), size_t{1});
    QCOMPARE(source.kernels[0].grid, (std::array<int64_t, 3>{2, 2, 1}));
    QCOMPARE(source.kernels[0].block, (std::array<int64_t, 3>{8, 8, 1}));
    QCOMPARE(source.kernels[0].static_shared_bytes, int64_t{2 * 32 * 8 * 4});
    QVERIFY(
        has(source.text,
            "extern \"C\" __global__ void __launch_bounds__(64) kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {"));
    QVERIFY(has(source.text, "// grid (2, 2, 1), block (8, 8, 1)"));
    QVERIFY(has(source.text, "= blockIdx.y;"));
    QVERIFY(has(source.text, "= threadIdx.x;"));
    QVERIFY(has(source.text, "__shared__ __align__(16) float A_shared[256];"));
    QVERIFY(has(source.text, "// A_shared, by all threads of the block"));
    QVERIFY(has(source.text, "*(const float4*)&A["));
    QVERIFY(has(source.text, "*(float4*)&A_shared["));
    QVERIFY(has(source.text, "__syncthreads();"));
    QVERIFY(has(source.text, "#pragma unroll"));
    QCOMPARE(static_cast<size_t>(std::count(source.text.begin(), source.text.end(), '\n')), source.line_stmt.size());
    QCOMPARE(source.line_stmt.size(), source.line_origin.size());
  }

  void arrays_across_kernels() {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("X", {32, 32}, kFloat32);
    const te::Tensor s = d.reduce("S", {32}, {32}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0]); });
    const te::Tensor y = d.compute("Y", {32, 32}, [&](const te::Indices& i) { return x.at(i) / s(i[0]); });
    schedule::Builder b(std::move(d).finish({y}));
    testing::bind_flat(b, 2, 64);
    b.bind(1, b.loops(1)[0], schedule::Annotation::thread_x);
    const codegen::CudaSource source = source_of(std::move(b).finish().value());
    QCOMPARE(source.kernels.size(), size_t{2});
    QCOMPARE(source.workspace.size(), size_t{1});
    QVERIFY(has(source.text, "kernel_0(const float* __restrict__ X, float* __restrict__ S)"));
    QVERIFY(has(source.text, "kernel_1(const float* __restrict__ X, float* __restrict__ Y, const float* __restrict__ S)"));
  }

  void large_shared_arrays_are_asked_for_at_the_launch() {
    const codegen::CudaSource source = source_of(
        testing::tiled_matmul({.m = 256, .n = 256, .k = 64, .vy = 2, .ty = 16, .iy = 4, .vx = 2, .tx = 16, .ix = 4, .ko = 64, .vector = 4}).finish().value());
    QCOMPARE(source.kernels[0].static_shared_bytes, int64_t{0});
    QCOMPARE(source.kernels[0].dynamic_shared_bytes, int64_t{2 * 128 * 64 * 4});
    QVERIFY(has(source.text, "extern __shared__ __align__(16) unsigned char shared_memory[];"));
    NEED_NVRTC();
    for (const int arch : {80, 90}) QVERIFY(codegen::nvrtc_compile(source.text, arch).has_value());
  }

  void expressions() {
    struct Row {
      const char *type, *body, *text;
    };
    const Row rows[] = {
        {"float32", "C[x] = exp(A[x]) + T.float32(1)", "expf(A[x]) + 1.0f"},
        {"float32", "C[x] = sigmoid(A[x])", "1.0f / (1.0f + expf(-A[x]))"},
        {"float64", "C[x] = max(A[x], T.float64(-inf))", "max_of(A[x], -__longlong_as_double(0x7ff0000000000000ll))"},
        {"float16", "C[x] = A[x] * A[63 - x]", "float_to_half(half_to_float(A[x]) * half_to_float(A[63 - x]))"},
        {"bfloat16", "C[x] = A[x] - T.bfloat16(0.5)", "float_to_bfloat(bfloat_to_float(A[x]) - 0.5f)"},
        {"int8", "C[x] = A[x] + A[x]", "(signed char)(A[x] + A[x])"},
        {"int32", "C[x] = A[x] // T.int32(3)", "floor_div(A[x], 3)"},
        {"float32", "C[x // 8 * 8 + x % 8] = A[(x + 60) % 64]", "x / 8 * 8 + x % 8] = A[(x + 60) % 64]"},
        {"float32", "if x < 63 and 0 < x:\n    C[x] = select(x < 5, A[x - 1], A[x + 1])", "x < 5 ? A[x - 1] : A[x + 1]"},
        {"uint8", "C[x] = A[x] >> T.uint8(1)", "shift_right("},
        {"bool", "C[x] = not A[x] or x < 3", "!A[x] || x < 3"},
        {"int64", "C[x] = A[x] + x", "A[x] + x"},
        {"int32", "C[x] = max(A[x], T.int32(-2147483648))", "max_of(A[x], (-2147483647 - 1))"},
        {"float32", "C[x] = A[x] + T.float32(1e300)", "A[x] + __int_as_float(0x7f800000)"},
        {"float16", "C[x] = A[x] + T.float16(70000.0)", "+ __int_as_float(0x7f800000)"},
    };
    for (const Row& r : rows) {
      const codegen::CudaSource source = source_of(threads(r.type, r.body));
      QVERIFY(has(source.text, r.text));
      if (!codegen::nvrtc_version()) continue;
      const auto binary = codegen::nvrtc_compile(source.text, 80);
      QVERIFY2(binary, binary ? "" : (binary.error().text() + "\n" + source.text).c_str());
    }
  }

  void reductions_by_threads() {
    const auto text = [](int64_t ty, int64_t tx, DType type = kFloat32) {
      return source_of(testing::row_reduction(16, 512, ty, tx, te::Reducer::max, type).finish().value()).text;
    };
    QVERIFY(has(text(4, 32, kInt8), "max_of<signed char>(Y_part[0], __shfl_xor_sync("));  // which gives an int
    QVERIFY(has(text(4, 32, kInt16), "max_of<short>(Y_part[0], __shfl_xor_sync("));
    QVERIFY(has(text(4, 32), "for (int d = 16; d > 0; d /= 2) Y_part[0] = max_of(Y_part[0], __shfl_xor_sync(0xffffffffu, Y_part[0], d));"));
    QVERIFY(text(4, 32).find("__syncthreads") == std::string::npos);
    QVERIFY(has(text(1, 128), "__shared__ float scratch[4];"));
    QVERIFY(has(text(1, 48), "__shared__ float scratch[48];"));
    NEED_NVRTC();
    for (const auto& [ty, tx] : {std::pair{4, 32}, {8, 8}, {1, 128}, {2, 64}, {1, 48}, {3, 5}}) {
      for (const DType type : {kFloat32, kInt8, kInt16}) {
        const std::string source = text(ty, tx, type);
        const auto binary = codegen::nvrtc_compile(source, 90);
        QVERIFY2(binary, binary ? "" : (binary.error().text() + "\n" + source).c_str());
      }
    }
  }

  void nvrtc_says_what_is_wrong() {
    NEED_NVRTC();
    const auto archs = codegen::nvrtc_archs();
    QVERIFY(archs && std::find(archs->begin(), archs->end(), 80) != archs->end());
    const auto unknown = codegen::nvrtc_compile("", 37);
    QVERIFY(!unknown && unknown.error().code == ErrorCode::unsupported);
    const auto wrong = codegen::nvrtc_compile("extern \"C\" __global__ void f() { x = 1; }", 80);
    QVERIFY(!wrong && wrong.error().code == ErrorCode::internal && has(wrong.error().text(), "identifier \"x\" is undefined"));
    const auto large = codegen::nvrtc_compile(
        "extern \"C\" __global__ void f(float* y) { __shared__ float s[20000]; s[threadIdx.x] = y[threadIdx.x]; __syncthreads(); y[threadIdx.x] = s[19999 - "
        "threadIdx.x]; }",
        90);
    QVERIFY(!large && large.error().code == ErrorCode::resource_limit);
    QVERIFY(has(large.error().text(), "too much shared data"));
  }

  /// What the code views show: lines of the text and of the PTX lead to the statement that they are for.
  void listing() {
    const Target a100 = parse_target("cuda:a100").value();
    const auto f = lower::lower_and_optimize(testing::tiled_matmul({}).finish().value(), "kernel", a100).value();
    const auto listing = codegen::build_listing(f, a100);
    QVERIFY2(listing, listing ? "" : listing.error().text().c_str());
    QVERIFY(has(listing->llvm_ir, "__global__"));
    const tir::Printed printed = tir::print_with_lines(f);
    std::istringstream text(listing->llvm_ir);
    std::string line;
    int barriers = 0;
    for (const int at : listing->ir_line_to_tir_line) {
      QVERIFY(std::getline(text, line));
      if (line.find("__syncthreads();") == std::string::npos) continue;
      ++barriers;
      QVERIFY(at >= 0);
      QCOMPARE(printed.line_stmt[static_cast<size_t>(at)]->kind(), tir::StmtKind::sync);
    }
    QCOMPARE(barriers, 2);
    QVERIFY(!std::getline(text, line));
    NEED_NVRTC();
    std::istringstream ptx(listing->assembly);
    int traced = 0;
    for (const int at : listing->asm_line_to_tir_line) {
      QVERIFY(std::getline(ptx, line));
      if (line.find("bar.sync") == std::string::npos) continue;
      ++traced;
      QVERIFY(at >= 0);
      QCOMPARE(printed.line_stmt[static_cast<size_t>(at)]->kind(), tir::StmtKind::sync);
    }
    QVERIFY(traced >= 2);
    // The old GPUs are in the table, but no compiler of today's makes code for them.
    const auto old = codegen::build_listing(f, parse_target("cuda:k80").value());
    QVERIFY(old && has(old->assembly, "// Expected one of the architectures"));
  }

  void resources_of_a_log() {
    const auto r = codegen::parse_resources(
        "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'a' for 'sm_80'\nptxas info    : Function properties for a\n"
        "    40 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\nptxas info    : Used 54 registers, used 1 barriers, 40 bytes cumulative stack "
        "size, 8192 bytes smem, 376 bytes cmem[0]\n"
        "ptxas info    : Compiling entry function 'b' for 'sm_80'\nptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]\n");
    QCOMPARE(r.size(), size_t{2});
    QCOMPARE(r[0].registers, 54);
    QCOMPARE(r[0].stack_bytes, int64_t{40});
    QCOMPARE(r[0].spill_store_bytes, int64_t{12});
    QCOMPARE(r[0].spill_load_bytes, int64_t{16});
    QCOMPARE(r[0].shared_bytes, int64_t{8192});
    QCOMPARE(r[0].barriers, 1);
    QCOMPARE(r[1].name, std::string("b"));
    QCOMPARE(r[1].registers, 8);
    QCOMPARE(r[1].shared_bytes, int64_t{0});
  }
};

QTEST_APPLESS_MAIN(CudaTest)
#include "cuda_source_test.moc"
