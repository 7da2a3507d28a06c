// SPDX-License-Identifier: Apache-2.0
#include "app/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/cli/console.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

constexpr auto kBarEvery = std::chrono::milliseconds(100);
constexpr auto kLineEvery = std::chrono::seconds(5);
constexpr int kBarWidth = 24;

std::string clock_text(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60) : fmt::format("{}:{:02}", s / 60, s % 60);
}

size_t columns() {
  winsize w{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 100;
}

}  // namespace

Progress::Progress(std::string what, int64_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO) != 0), began_(Clock::now()), last_(began_) {}

Progress::~Progress() { finish(); }

std::string Progress::estimate() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  std::string text = clock_text(seconds);
  if (total_ > 0 && done_ > start_ && done_ < total_) {
    text += fmt::format(", about {} left", clock_text(seconds / static_cast<double>(done_ - start_) * static_cast<double>(total_ - done_)));
  }
  return text;
}

void Progress::draw(const std::string& detail) {
  last_ = Clock::now();
  drawn_ = true;
  drawn_done_ = done_;
  std::string text = what_;
  if (total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    const int full = static_cast<int>(share * kBarWidth);
    if (terminal_) text += fmt::format(" [{}{}]", std::string(full, '#'), std::string(kBarWidth - full, '.'));
    text += fmt::format(" {}/{}", done_, total_);
  } else if (done_ > 0) {
    text += fmt::format(" {}", done_);
  }
  text += fmt::format(" ({})", estimate());
  if (!detail.empty()) text += " " + printable(detail);
  if (terminal_) {
    if (text.size() >= columns()) text.resize(columns() - 1);
    show("\r\x1b[K" + text);
  } else {
    show(text + "\n");
  }
}

void Progress::update(int64_t done, const std::string& detail) {
  done_ = done;
  detail_ = detail;
  const auto since = Clock::now() - last_;
  if (terminal_ ? (!drawn_ || since >= kBarEvery) : since >= kLineEvery) draw(detail);
}

void Progress::line(const std::string& text) {
  if (terminal_ && drawn_) show("\r\x1b[K");
  say(printable(text) + "\n");
  if (terminal_ && drawn_) draw(detail_);
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  if (terminal_ ? drawn_ : (drawn_ && drawn_done_ != done_)) draw(detail_);
  if (terminal_ && drawn_) show("\n");
}

}  // namespace tw::cli
