// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "engine/base/assert.h"
#include "engine/base/normal.h"
#include "engine/base/worker_pool.h"

namespace tw::frontends {

namespace {

constexpr size_t kRoom = size_t{16} << 20;    ///< bytes of a piece
constexpr int64_t kBlock = int64_t{1} << 16;  ///< numbers that one thread draws before it takes the next of them

/// Fills one piece while the one before is written.
class PieceWriter {
 public:
  PieceWriter(const OnnxModel::Sink& sink, int64_t bytes) : sink_(sink) {
    const size_t room = std::min(kRoom, static_cast<size_t>(std::max<int64_t>(bytes, sizeof(float))));
    for (Piece* piece : {&filled_, &full_}) piece->bytes = std::make_unique_for_overwrite<char[]>(room);
    room_ = room;
  }

  void add(std::string_view bytes) {
    while (!bytes.empty() && !failed_) {
      const std::string_view some = bytes.substr(0, room_ - filled_.size);
      std::memcpy(filled_.bytes.get() + filled_.size, some.data(), some.size());
      filled_.size += some.size();
      bytes.remove_prefix(some.size());
      if (filled_.size == room_) turn();
    }
  }
  void add(OnnxModel::Normal array) {
    while (array.elements > 0 && !failed_) {
      const int64_t count = std::min({array.elements, kBlock, static_cast<int64_t>((room_ - filled_.size) / sizeof(float))});
      if (count > 0) {
        filled_.blocks.push_back({filled_.size, {count, array.mean, array.deviation, array.rng}});
        filled_.size += static_cast<size_t>(count) * sizeof(float);
        array.elements -= count;
        array.rng.skip(2 * static_cast<uint64_t>(count));  // numbers that make a normal one
      } else {
        turn();
      }
    }
  }
  Expected<void> finish() {
    turn();
    turn();
    return failed_ ? Expected<void>(*failed_) : Expected<void>();
  }

 private:
  struct Block {
    size_t at;  ///< its place in the piece
    OnnxModel::Normal numbers;
  };
  struct Piece {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
    std::vector<Block> blocks;  ///< that are still to be drawn
  };

  /// Draws what the piece at hand lacks while the one before is written, and begins another.
  void turn() {
    if (failed_) return;
    const auto task = [&](size_t i) {
      if (i == 0)
        hand_over();
      else
        draw(filled_.blocks[i - 1]);
    };
    const size_t tasks = 1 + filled_.blocks.size();
    if (tasks <= 2) {
      for (size_t i = 0; i < tasks; ++i) task(i);
    } else {
      if (!pool_) pool_.emplace(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
      pool_->run(tasks, task);
    }
    filled_.blocks.clear();
    std::swap(filled_, full_);
    filled_.size = 0;
  }
  void hand_over() {
    if (full_.size == 0) return;
    if (auto done = sink_({full_.bytes.get(), full_.size}); !done) failed_ = done.error();
  }
  void draw(const Block& block) {
    Rng rng = block.numbers.rng;
    char* at = filled_.bytes.get() + block.at;  // of any alignment
    std::array<float, 1024> some;
    for (int64_t left = block.numbers.elements; left > 0;) {
      const auto count = std::min<int64_t>(left, static_cast<int64_t>(some.size()));
      fill_normal(rng, block.numbers.mean, block.numbers.deviation, some.data(), count);
      std::memcpy(at, some.data(), static_cast<size_t>(count) * sizeof(float));
      at += static_cast<size_t>(count) * sizeof(float);
      left -= count;
    }
  }

  const OnnxModel::Sink& sink_;
  size_t room_ = 0;
  Piece filled_, full_;  ///< `full_` is written next
  std::optional<WorkerPool> pool_;
  std::optional<Error> failed_;
};

}  // namespace

void OnnxModel::append(std::string bytes) {
  if (!bytes.empty()) parts_.emplace_back(std::move(bytes));
}

void OnnxModel::append(OnnxModel model) { std::move(model.parts_.begin(), model.parts_.end(), std::back_inserter(parts_)); }

int64_t OnnxModel::size() const {
  int64_t bytes = 0;
  for (const auto& part : parts_) {
    const auto* text = std::get_if<std::string>(&part);
    bytes += text ? static_cast<int64_t>(text->size()) : std::get<Normal>(part).elements * static_cast<int64_t>(sizeof(float));
  }
  return bytes;
}

Expected<void> OnnxModel::write(const Sink& sink) const {
  PieceWriter writer(sink, size());
  for (const auto& part : parts_) std::visit([&](const auto& p) { writer.add(p); }, part);
  return writer.finish();
}

std::string OnnxModel::bytes() const {
  std::string all;
  all.reserve(static_cast<size_t>(size()));
  const auto done = write([&](std::string_view piece) -> Expected<void> {
    all += piece;
    return {};
  });
  TW_ASSERT(done.has_value(), "memory takes all bytes");
  return all;
}

}  // namespace tw::frontends
