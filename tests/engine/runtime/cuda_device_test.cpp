// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstring>

#include "engine/runtime/cuda_device.h"
#include "engine/runtime/cuda_driver.h"
#include "engine/runtime/gpu_monitor.h"

using namespace tw;
using runtime::DeviceAddress;
using runtime::GpuArray;
using runtime::GpuDevice;

namespace {

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> out(values.size() * sizeof(float));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// Two arguments, four floats; the fake driver reads the image as text up to its zero byte.
runtime::GpuFunction function_doing(const std::string& action) {
  runtime::GpuFunction f;
  f.symbol = "k";
  f.arguments = 2;
  f.launches = {{"k", {1, 1, 1}, {32, 1, 1}, 0, {0, 1}}};
  const std::string text = "k " + action;
  for (const char c : text) f.images[90].push_back(static_cast<std::byte>(c));
  f.images[90].push_back(std::byte{0});
  return f;
}

}  // namespace

/// The way through the driver, against a stand-in for it (tests/support/fake_cuda.cpp).
class CudaDeviceTest : public QObject {
  Q_OBJECT

  std::unique_ptr<GpuDevice> device_;
  static void set(const char* machine) { qputenv("TW_FAKE_CUDA", machine); }

 private Q_SLOTS:
  void initTestCase() { qputenv("TW_CUDA_DRIVER", TW_FAKE_CUDA_LIBRARY); }
  void init() {
    set("");
    auto opened = runtime::open_cuda_device(0);
    QVERIFY2(opened.has_value(), opened ? "" : opened.error().text().c_str());
    device_ = std::move(*opened);
  }
  void cleanup() { device_.reset(); }

  void properties() {
    const runtime::GpuProperties& p = device_->properties();
    QCOMPARE(p.name, std::string("NVIDIA H200"));
    QVERIFY(p.capability == 90 && p.multiprocessors == 132 && p.clock_mhz == 1980 && p.shared_opt_in == 227 * 1024);
    QCOMPARE(p.uuid, std::string("10101010101010101010101010101010"));
    QCOMPARE(runtime::cuda_driver_version().value(), std::string("13.0"));
    QCOMPARE(runtime::open_cuda_device(1).error().message, std::string("Expected a GPU from cuda:0 to cuda:0, found 'cuda:1'"));
  }

  void condition() {
    qputenv("TW_NVML", TW_FAKE_CUDA_LIBRARY);
    const auto monitor = runtime::GpuMonitor::open(device_->properties().uuid);
    QVERIFY2(monitor.has_value(), monitor ? "" : monitor.error().text().c_str());
    const runtime::GpuCondition c = monitor->condition().value();
    QVERIFY(c.clock_mhz == 1980 && c.most_mhz == 1980 && c.celsius == 41 && c.slowed == 0 && c.strangers == 0);
    QCOMPARE(runtime::GpuMonitor::open("20").error().message, std::string("Expected 'GPU-20' in NVIDIA's management library, found error 6"));

    const std::pair<const char*, bool> machines[] = {{"", false},         {"clock=1600", false}, {"clock=1500", true}, {"clock=1500 slowed=4", false},
                                                     {"slowed=64", true}, {"strangers=2", true}, {"slowed=1", false}};
    for (const auto& [machine, expected] : machines) {
      set(machine);
      QTest::qSleep(6);  // it is asked no more often
      QVERIFY2(device_->disturbed() == expected, machine);
    }
  }

  void memory_is_kept_for_the_next() {
    const DeviceAddress first = device_->allocate(1000).value();
    QCOMPARE(first % 256, DeviceAddress{0});
    device_->release(first);
    QCOMPARE(device_->allocate(1001).value(), first);  // the same size class
    const DeviceAddress other = device_->allocate(3000).value();
    QVERIFY(other != first);
    QVERIFY(device_->allocate(0).has_value());  // an array may have no elements
    QCOMPARE(device_->allocate(-1).error().message, std::string("Expected a size in bytes, found -1"));
  }

  /// What the pool keeps is given back before memory is said to be out.
  void memory_runs_out() {
    set("memory=8388608");
    const DeviceAddress kept = device_->allocate(5 << 20).value();
    device_->release(kept);
    const DeviceAddress large = device_->allocate(7 << 20).value();
    const auto more = device_->allocate(5 << 20);
    QVERIFY(!more);
    QCOMPARE(more.error().code, ErrorCode::out_of_memory);
    QVERIFY(more.error().message.find("CUDA_ERROR_OUT_OF_MEMORY (2)") != std::string::npos);
    device_->release(large);
  }

  void launches_and_times() {
    const GpuArray x = GpuArray::make(*device_, 16).value(), y = GpuArray::make(*device_, 16).value();
    device_->upload(x.at(), bytes_of({1, 2, 3, 4})).value();
    const auto loaded = device_->load(function_doing("double 4")).value();
    QCOMPARE(loaded->resources.at(0).registers, 32);
    const int from = device_->mark().value();
    const std::vector<DeviceAddress> args{x.at(), y.at()};
    device_->launch(*loaded, args).value();
    const int to = device_->mark().value();
    std::vector<std::byte> got(16);
    device_->download(y.at(), got).value();
    QVERIFY(got == bytes_of({2, 4, 6, 8}));
    QVERIFY(qAbs(device_->seconds_between(from, to).value() - 1e-7) < 1e-11);
  }

  void recordings_are_replayed() {
    const GpuArray x = GpuArray::make(*device_, 16).value(), y = GpuArray::make(*device_, 16).value();
    device_->upload(x.at(), bytes_of({1, 2, 3, 4})).value();
    device_->fill(y.at(), std::byte{0}, 16).value();
    const auto loaded = device_->load(function_doing("double 4")).value();
    const std::vector<DeviceAddress> args{x.at(), y.at()};
    const auto recording = device_->record([&] { return device_->launch(*loaded, args); }).value();
    std::vector<std::byte> got(16);
    device_->download(y.at(), got).value();
    QVERIFY(got == bytes_of({0, 0, 0, 0}));  // recorded, not run
    device_->replay(*recording).value();
    device_->download(y.at(), got).value();
    QVERIFY(got == bytes_of({2, 4, 6, 8}));
  }

  void refusals() {
    runtime::GpuFunction f = function_doing("double 4");
    f.launches[0].kernel = "other";
    QCOMPARE(device_->load(f).error().code, ErrorCode::infrastructure);
    f = function_doing("double 4");
    f.launches[0].dynamic_shared_bytes = 300 * 1024;
    QCOMPARE(device_->load(f).error().code, ErrorCode::resource_limit);
    f = function_doing("double 4");
    f.images[90] = {std::byte{'k'}, std::byte{0}};
    QCOMPARE(device_->load(f).error().code, ErrorCode::unsupported);  // no image
    f = function_doing("double 4");
    f.images = {{80, f.images[90]}};
    QCOMPARE(device_->load(f).error().message, std::string("Expected machine code for sm_90 in 'k', found none"));
    f = function_doing("double 4");
    const auto loaded = device_->load(f).value();
    set("launch=701");
    const auto launched = device_->launch(*loaded, std::vector<DeviceAddress>{256, 512});
    QCOMPARE(launched.error().code, ErrorCode::resource_limit);
    QVERIFY(launched.error().message.find("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES") != std::string::npos);
  }

  /// Last: the stand-in stays lost to this process, as a context would.
  void lost_devices_say_so_at_every_call() {
    const auto loaded = device_->load(function_doing("fail 700")).value();
    device_->launch(*loaded, std::vector<DeviceAddress>{256, 512}).value();  // what goes wrong shows later
    const auto waited = device_->synchronize();
    QCOMPARE(waited.error().code, ErrorCode::crash);
    QVERIFY(waited.error().message.find("CUDA_ERROR_ILLEGAL_ADDRESS (700)") != std::string::npos);
    QCOMPARE(device_->allocate(16).error().message, std::string("Expected cuda:0 to be usable, found it lost by an earlier error"));
    QCOMPARE(device_->mark().error().code, ErrorCode::crash);
  }
};

QTEST_APPLESS_MAIN(CudaDeviceTest)
#include "cuda_device_test.moc"
