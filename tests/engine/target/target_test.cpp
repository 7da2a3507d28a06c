// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include <fstream>

#include "engine/base/json.h"
#include "engine/target/cpu_table.h"
#include "engine/target/host.h"
#include "engine/base/text.h"
#include "engine/target/target.h"

using namespace tw;
using target::X86Feature;

namespace {

void write(const std::filesystem::path& folder, const std::string& index, const std::string& level, const std::string& type, const std::string& size,
           const std::string& ways) {
  std::filesystem::create_directories(folder / index);
  for (const auto& [name, text] : {std::pair{"level", level}, {"type", type}, {"size", size}, {"ways_of_associativity", ways}})
    std::ofstream(folder / index / name) << text << "\n";
}

}  // namespace

class TargetTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void text_round_trip() {
    for (const std::string& name : target_presets()) {
      const auto t = parse_target(name);
      QVERIFY(t);
      QCOMPARE(t->str(), "llvm -mcpu=" + name + " -num-cores=1");
      QCOMPARE(*parse_target(t->str()), *t);
    }
    for (const target::Board& board : target::board_table()) {
      const Target t = parse_target(board.name).value();
      QCOMPARE(t.str(), fmt::format("llvm -mcpu={} -num-cores={}", board.cpu, board.cores));
      QCOMPARE(target::arch_of(t), target::Arch::aarch64);
      QCOMPARE(t.vector_registers, 32);
    }
    QCOMPARE(parse_target("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1 -num-cores=2")->vector_bits, 256);
    QCOMPARE(parse_target("llvm -mcpu=neoverse-v1 -mattr=-sve")->vector_bits, 128);
    QCOMPARE(parse_target("neoverse-n2")->lanes(), 4);
    QCOMPARE(missing_features(*parse_target("neoverse-n1"), *parse_target("cortex-a72")), (std::vector<std::string>{"fullfp16", "dotprod"}));
    QCOMPARE(missing_features(*parse_target("cortex-a53"), *parse_target("znver5")), std::vector<std::string>{"aarch64"});
    const auto t = parse_target("llvm -keys=cpu  -mcpu=znver5 -mattr=-avx512fp16,-avx512bf16,+avx512fp16 -num-cores=2");
    QVERIFY(t);
    QCOMPARE(t->str(), "llvm -mcpu=znver5 -mattr=-avx512bf16,+avx512fp16 -num-cores=2");
    QCOMPARE(*parse_target(t->str()), *t);
    QCOMPARE(parse_target("llvm -mcpu=znver4 -mattr=-avx512f")->vector_bits, 256);
  }

  /// As TVM's documentation and its logs write them.
  void targets_of_tvm() {
    for (const auto& [theirs, ours] : {std::pair{"llvm -mcpu=skylake-avx512 -num-cores 24", "llvm -mcpu=skylake-avx512 -num-cores=24"},
                                       {"llvm --mcpu=znver4 --num-cores=8", "llvm -mcpu=znver4 -num-cores=8"},
                                       {"llvm -keys=cpu -link-params=0 -mcpu=haswell -num-cores 4", "llvm -mcpu=haswell -num-cores=4"},
                                       {"llvm -mtriple=x86_64-linux-gnu -mcpu znver5 -num-cores=2", "llvm -mcpu=znver5 -num-cores=2"},
                                       {"llvm -mcpu=znver5 -mattr=-avx512bf16 -num-cores=2", "llvm -mcpu=znver5 -mattr=-avx512bf16 -num-cores=2"},
                                       {R"({"kind": "llvm", "mcpu": "znver4", "num-cores": 8, "keys": ["cpu"]})", "llvm -mcpu=znver4 -num-cores=8"},
                                       {"cuda --model=a100", "cuda:a100"},
                                       {"cuda -model a100", "cuda:a100"},
                                       {"cuda -keys=cuda,gpu -arch=sm_80 -max_num_threads=1024 -model=a100 -thread_warp_size=32", "cuda:a100"},
                                       {R"({"kind": "cuda", "arch": "sm_80", "model": "a100"})", "cuda:a100"},
                                       {"nvidia/nvidia-a100", "cuda:a100"},
                                       {"nvidia/nvidia-t4", "cuda:t4"}}) {
      const auto t = parse_target(theirs), wanted = parse_target(ours);
      QVERIFY2(t, (std::string(theirs) + ": " + (t ? "" : t.error().text())).c_str());
      QVERIFY2(wanted && *t == *wanted, theirs);
    }
    for (const auto& [text, found] : {std::pair{"llvm --mcpu=znver4 --unroll", "'-unroll'"},
                                      {"llvm -mcpu=znver4 fast", "'fast'"},
                                      {"llvm -mtriple=riscv64-linux-gnu", "'riscv64-linux-gnu'"},
                                      {"llvm -mtriple=aarch64-linux-gnu -mcpu=znver5", "'znver5', which is x86_64"},
                                      {"cuda --model=a100 --fast", "'-fast'"},
                                      {"nvidia/nvidia-zx81", "zx81'"},
                                      {R"({"mcpu": "znver4"})", "'kind'"},
                                      {R"({"kind": "llvm", "sparkle": 1})", "'-sparkle=1'"},
                                      {"{", "JSON"}}) {
      const auto t = parse_target(text);
      QVERIFY2(!t, text);
      QVERIFY2(t.error().message.find(found) != std::string::npos, t.error().message.c_str());
    }
  }

  void presets() {
    const auto zen = parse_target("znver5");
    QCOMPARE(zen->vector_bits, 512);
    QCOMPARE(zen->vector_registers, 32);
    QCOMPARE(zen->lanes(kFloat32), 16);
    QCOMPARE(zen->l1d_bytes, 48 * 1024);
    QCOMPARE(zen->l1d_ways, 12);
    QCOMPARE(parse_target("haswell")->vector_bits, 256);
    QCOMPARE(parse_target("x86-64-v2")->vector_bits, 128);
    QCOMPARE(parse_target("x86-64-v2")->vector_registers, 16);
  }

  void refusals() {
    for (const auto& [text, found] : {std::pair{"", "empty"},
                                      {"llvm -mcpu=z80", "'z80'"},
                                      {"llvm -fast", "'-fast'"},
                                      {"llvm -mcpu=znver4 -num-cores=0", "'0'"},
                                      {"llvm -mcpu=znver4 -num-cores=2x", "'2x'"},
                                      {"llvm -mcpu=znver4 -mattr=avx", "'avx'"},
                                      {"llvm -mcpu=znver4 -mattr=+mmx9", "'+mmx9'"},
                                      {"llvm -mattr=+avx", "-mcpu"},
                                      {"opencl", "'opencl'"},
                                      {"znver4 -num-cores=2", "'znver4'"}}) {
      const auto t = parse_target(text);
      QVERIFY2(!t, text);
      QCOMPARE(t.error().code, ErrorCode::invalid_argument);
      QVERIFY2(t.error().message.find(found) != std::string::npos, t.error().message.c_str());
    }
  }

  void json_round_trip() {
    Target t = host_target();
    QCOMPARE(*target_from_json(to_json(t)), t);
    Json j = to_json(t);
    j["cores"] = 0;
    QCOMPARE(target_from_json(j).error().code, ErrorCode::parse_error);
    j = to_json(t);
    j.erase("features");
    QVERIFY(!target_from_json(j));
    j = to_json(t);
    j["kind"] = "opencl";
    QCOMPARE(target_from_json(j).error().code, ErrorCode::unsupported);
    QVERIFY(!target_from_json(Json::array()));
  }

  void names_of_processors() {
    const auto v3 = target::find_cpu("x86-64-v3")->features, v4 = target::find_cpu("x86-64-v4")->features;
    QCOMPARE(target::cpu_name("AuthenticAMD", 0x1a, 2, v4), "znver5");
    QCOMPARE(target::cpu_name("AuthenticAMD", 0x19, 0x11, v4), "znver4");
    QCOMPARE(target::cpu_name("AuthenticAMD", 0x19, 0x21, v3), "znver3");
    QCOMPARE(target::cpu_name("GenuineIntel", 6, 0x8f, v4), "sapphirerapids");
    QCOMPARE(target::cpu_name("GenuineIntel", 6, 0x55, v4), "skylake-avx512");
    QCOMPARE(target::cpu_name("GenuineIntel", 6, 0x55, v4 | target::bit(X86Feature::avx512vnni)), "cascadelake");
    QCOMPARE(target::cpu_name("SomethingNew", 6, 1, v3), "x86-64-v3");
    QCOMPARE(target::cpu_name("GenuineIntel", 99, 1, v4), "x86-64-v4");
    QCOMPARE(target::cpu_name("GenuineIntel", 99, 1, 0), "x86-64");
  }

  void feature_lists() {
    const auto v3 = target::find_cpu("x86-64-v3")->features, v4 = target::find_cpu("x86-64-v4")->features;
    QCOMPARE(target::feature_delta(v3, v3).size(), size_t{0});
    const auto up = target::feature_delta(v3, v4);
    QCOMPARE(target::apply_features(v3, up), v4);
    QCOMPARE(target::apply_features(v4, target::feature_delta(v4, v3)), v3);
    QCOMPARE(up.front(), "+avx512f");
  }

  void caches_of_a_machine() {
    QTemporaryDir dir;
    const std::filesystem::path folder = dir.path().toStdString();
    write(folder, "index0", "1", "Data", "48K", "12");
    write(folder, "index1", "1", "Instruction", "32K", "8");
    write(folder, "index2", "2", "Unified", "1024K", "16");
    write(folder, "index3", "3", "Unified", "32M", "16");
    const auto c = target::caches_from_sysfs(folder);
    QCOMPARE(c.l1d_bytes, 48 * 1024);
    QCOMPARE(c.l1d_ways, 12);
    QCOMPARE(c.l2_bytes, 1024 * 1024);
    QCOMPARE(c.l3_bytes, 32 * 1024 * 1024);
    QCOMPARE(c.l3_cores, 0);  // not told
    std::ofstream(folder / "index3" / "shared_cpu_list") << "0-5,12-13\n";
    QCOMPARE(target::caches_from_sysfs(folder).l3_cores, 8);
    std::ofstream(folder / "index3" / "shared_cpu_list") << "nonsense\n";
    QCOMPARE(target::caches_from_sysfs(folder).l3_cores, 0);
    QCOMPARE(target::caches_from_sysfs(folder / "none").l1d_bytes, 0);
  }

  /// A container may have less time than processors.
  void time_of_control_groups() {
    QTemporaryDir dir;
    const std::filesystem::path mount = dir.path().toStdString();
    const auto write = [&](const std::filesystem::path& file, const char* text) {
      std::filesystem::create_directories((mount / file).parent_path());
      std::ofstream(mount / file) << text;
    };
    const std::string second = "0::/user.slice/one\n";
    QVERIFY(!target::quota_cores(mount, second));
    write("user.slice/one/cpu.max", "max 100000\n");
    QVERIFY(!target::quota_cores(mount, second));
    write("user.slice/cpu.max", "350000 100000\n");
    QCOMPARE(target::quota_cores(mount, second), std::optional(3));
    write("user.slice/one/cpu.max", "50000 100000\n");
    QCOMPARE(target::quota_cores(mount, second), std::optional(1));
    write("cpu.max", "200000 100000\n");
    QCOMPARE(target::quota_cores(mount, "0::/a/machine/s/own/path\n"), std::optional(2));
    const std::string first = "5:memory:/m\n4:cpu,cpuacct:/docker/x\nnonsense\n";
    QVERIFY(!target::quota_cores(mount, first));
    write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    QVERIFY(!target::quota_cores(mount, first));
    write("cpu,cpuacct/docker/x/cpu.cfs_quota_us", "600000\n");
    write("cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
    QCOMPARE(target::quota_cores(mount, first), std::optional(6));
    QVERIFY(target::host_cores() >= 1);
  }

  /// What a network may count on from one run to the next.
  void caches_that_are_kept() {
    Target t = *parse_target("znver4");
    QCOMPARE(t.l3_share_bytes, 4 * 1024 * 1024);  // 32 MiB for eight cores
    QCOMPARE(t.kept_bytes(), 4 * 1024 * 1024);
    t.cores = 3;
    QCOMPARE(t.kept_bytes(), 12 * 1024 * 1024);
    t = *parse_target("skylake-avx512");
    t.l2_bytes = 2 * t.l3_share_bytes;  // a cache of its own that is larger than the share
    QCOMPARE(t.kept_bytes(), t.l2_bytes);
    const Target gpu = *parse_target("cuda:a100");
    QCOMPARE(gpu.kept_bytes(), gpu.gpu->l2_bytes);
    for (const target::CpuInfo& c : target::cpu_table()) QVERIFY2(c.l3_cores >= 1 && c.l3_kb / c.l3_cores >= (c.arch == target::Arch::aarch64 ? 128 : 512), c.name);
    const Target here = host_target();
    QVERIFY(here.l3_share_bytes >= 1 && here.l3_share_bytes <= here.l3_bytes);
    Json old = to_json(here);
    QCOMPARE(*target_from_json(old), here);
    old.erase("l3_share_bytes");
    QCOMPARE(target_from_json(old)->l3_share_bytes, here.l3_bytes);
  }

  /// What register tiles are measured by.
  void pipes() {
    for (const target::CpuInfo& c : target::cpu_table()) QVERIFY2(c.pipes.latency >= 3 && c.pipes.fmas >= 1 && c.pipes.loads >= 1, c.name);
    QCOMPARE(target::pipes_of("haswell").in_flight(), 10);
    QCOMPARE(target::pipes_of("sapphirerapids").in_flight(), 8);
    QCOMPARE(target::pipes_of("znver4").in_flight(), 4);  // 512 bits in two halves
    QCOMPARE(target::pipes_of("znver5").in_flight(), 8);
    QCOMPARE(target::pipes_of("of another vendor").in_flight(), target::pipes_of("x86-64").in_flight());
  }

  /// The two ways to learn this machine's caches agree, and the target holds what was found.
  void this_machine() {
    const Target t = host_target();
    QVERIFY(target::find_cpu(t.cpu) != nullptr);
    QVERIFY(t.cores >= 1);
    const auto id = target::caches_from_cpuid();
    if (id.l1d_bytes > 0) QCOMPARE(t.l1d_bytes, id.l1d_bytes);
    if (id.l1d_ways > 0) QCOMPARE(t.l1d_ways, id.l1d_ways);
    QCOMPARE(target::apply_features(target::find_cpu(t.cpu)->features, t.features), target::host_features());
    const auto parsed = parse_target(t.str());
    QVERIFY(parsed);
    QCOMPARE(parsed->str(), t.str());
    QCOMPARE(*parse_target("llvm"), t);
    QCOMPARE(parse_target("llvm -num-cores=7")->cores, 7);
  }

  /// A processor's name does not say what a machine has: virtual machines leave features out.
  void missingFeatures() {
    const auto missing = [](const char* code, const char* machine) { return missing_features(*parse_target(code), *parse_target(machine)); };
    using Names = std::vector<std::string>;
    QCOMPARE(missing("llvm -mcpu=znver5", "llvm -mcpu=znver5"), Names{});
    QCOMPARE(missing("llvm -mcpu=znver5", "llvm -mcpu=znver5 -mattr=-avx512bf16,-gfni"), (Names{"avx512bf16", "gfni"}));
    QCOMPARE(missing("llvm -mcpu=x86-64-v3 -mattr=+avx512f", "llvm -mcpu=x86-64-v3"), Names{"avx512f"});
    QCOMPARE(missing("llvm -mcpu=x86-64-v2", "llvm -mcpu=znver2"), Names{});
    const Names wider = missing("llvm -mcpu=x86-64-v4", "llvm -mcpu=x86-64-v3");
    QVERIFY(std::count(wider.begin(), wider.end(), "avx512f") == 1 && std::count(wider.begin(), wider.end(), "avx2") == 0);
    QCOMPARE(missing("cuda:a100", "llvm -mcpu=znver2"), Names{});
  }
};

QTEST_APPLESS_MAIN(TargetTest)
#include "target_test.moc"
