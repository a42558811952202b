#include "engine/checkpoint/f120/checkpoint_deletion.hpp"

#include <cstddef>
#include <utility>

namespace tailrace::engine {
namespace {

struct Batch {
  CheckpointDeletion deletion;
  CheckpointStorage* storage;
  std::size_t left = 0;
};
using BatchPtr = std::shared_ptr<Batch>;

void delete_location(const BatchPtr& batch, IoExecutor::Done thread_free) {
  struct End {
    BatchPtr batch;
    IoExecutor::Done thread_free;
  };
  auto end = std::make_unique<End>(End{batch, std::move(thread_free)});
  batch->deletion.location([end = std::move(end)]() mutable {
    if (end->batch->deletion.done) end->batch->deletion.done();
    end->thread_free();
  });
}

void delete_file(const BatchPtr& batch, std::size_t index, IoExecutor::Done thread_free) {
  struct End {
    BatchPtr batch;
    IoExecutor::Done thread_free;
    std::size_t index;
  };
  auto end = std::make_unique<End>(End{batch, std::move(thread_free), index});
  batch->storage->delete_file(*batch->deletion.files[index], [end = std::move(end)]() mutable {
    Batch& of = *end->batch;
    if (--of.left == 0) {
      delete_location(end->batch, std::move(end->thread_free));
    } else if (of.deletion.parallel) {
      end->thread_free();
    } else {
      delete_file(end->batch, end->index + 1, std::move(end->thread_free));
    }
  });
}

}  // namespace

void delete_on(IoExecutor& executor, CheckpointStorage& storage, CheckpointDeletion deletion) {
  const auto batch = std::make_shared<Batch>(Batch{std::move(deletion), &storage, 0});
  batch->left = batch->deletion.files.size();
  if (batch->left == 0) {
    executor.execute([batch](IoExecutor::Done done) { delete_location(batch, std::move(done)); });
    return;
  }
  const std::size_t works = batch->deletion.parallel ? batch->left : 1;
  for (std::size_t i = 0; i < works; ++i) {
    executor.execute([batch, i](IoExecutor::Done done) { delete_file(batch, i, std::move(done)); });
  }
}

}  // namespace tailrace::engine
