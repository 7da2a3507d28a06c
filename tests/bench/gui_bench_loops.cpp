// SPDX-License-Identifier: GPL-3.0-or-later
// A product of matrices whose loops are played: what a picture of a moment takes of the GUI thread's processor time, from one to the next and anywhere else.
//   gui_bench_loops [--size 64]
// Ends with 1 if a picture takes longer than there is at 60 a second.
#include <QApplication>
#include <algorithm>
#include <ctime>
#include <random>

#include "engine/api/loop_play.h"
#include "tests/bench/bench.h"
#include "widgets/charts/loop_scene.h"
#include "widgets/theme/theme.h"

using namespace tw;

namespace {

constexpr double kFrame = 1.0 / 60;

double gui_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

records::Task product(int64_t n) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {n, n}, kFloat32), w = b.placeholder("w", {n, n}, kFloat32);
  const te::Tensor y = b.reduce("y", {n, n}, {n}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(r[0], s[1]); });
  return records::make_task("matmul", std::move(b).finish({y}), host_target());
}

int play(int64_t size) {
  const double begin = bench::now_s();
  const api::PlayedLoops played = bench::need(api::play_loops(product(size), {}));
  std::printf("%lldx%lldx%lld: %zu steps, ready in %.0f ms\n", static_cast<long long>(size), static_cast<long long>(size), static_cast<long long>(size),
              played.play->size(), 1e3 * (bench::now_s() - begin));
  widgets::LoopScene scene;
  scene.resize(1280, 640);
  scene.setPlay(played.play, {});
  bool met = true;
  const auto frames = [&](const char* what, auto&& next) {
    std::vector<double> times;
    for (int k = 0; k < 121; ++k) {
      const double before = gui_seconds();
      scene.seek(next());
      scene.grab();
      times.push_back(gui_seconds() - before);
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2], worst = times[times.size() * 95 / 100];
    met = met && worst <= kFrame;
    std::printf("  %-42s %6.2f ms, 95 of 100 below %6.2f ms  %s\n", what, 1e3 * median, 1e3 * worst, worst <= kFrame ? "met" : "MISSED");
  };
  size_t at = 0;
  std::mt19937_64 random(1);
  frames("a picture, one step later", [&] { return ++at; });
  frames("a picture, at 100,000 steps a second", [&] { return at += 1667; });
  frames("a picture anywhere else", [&] { return random() % played.play->size(); });
  return met ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  widgets::applyTheme(widgets::ThemeChoice::light);
  return play(bench::Options(argc, argv).integer("size", 64));
}
