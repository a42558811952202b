// The sending end of one connection.
//
// Flink PartitionRequestQueue, CreditBasedSequenceNumberingViewReader (spec barriers.md 6.5).
// Readers with something to send stand in a queue; the first one sends one item and goes to the
// end. The next item is taken only after the previous one has been written. Priority events have no
// precedence here.
// Invariant Q1: no reader's credit is ever negative.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/network/netty_message.hpp"
#include "engine/network/network_semantics.hpp"
#include "engine/network/pipelined_subpartition.hpp"
#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

class PartitionRequestQueue {
 public:
  // Everything outlives the queue.
  PartitionRequestQueue(MessageSink& sink, WirePool& pool, const NetworkSemantics& semantics);
  ~PartitionRequestQueue();
  PartitionRequestQueue(const PartitionRequestQueue&) = delete;
  PartitionRequestQueue& operator=(const PartitionRequestQueue&) = delete;

  // A consumer's channel wants a subpartition, whose index the messages carry; it has `credit` free
  // buffers.
  void add_reader(InputChannelId receiver, std::int32_t credit, PipelinedSubpartition& subpartition,
                  std::int32_t subpartition_index = 0);
  // A receiver that is unknown has been cancelled in the meantime: ignored.
  void add_credit(InputChannelId receiver, std::int32_t credit);
  // 1.20; an unknown receiver as above. A reader whose channel has no buffers of its own begins
  // again without credit. Requires: its subpartition is blocked.
  void resume_consumption(InputChannelId receiver);
  void notify_new_buffer_size(InputChannelId receiver, std::int32_t bytes);
  void acknowledge_all_records_processed(InputChannelId receiver);
  // The consumer has released its channel.
  void cancel(InputChannelId receiver);
  // The last flow-controlled message has left.
  void on_written();

  struct ReaderState {
    std::int32_t credit = 0;
    bool is_queued = false;
  };
  [[nodiscard]] std::optional<ReaderState> find_reader(InputChannelId receiver) const;
  // Receivers of the queued readers, first one first.
  [[nodiscard]] std::vector<InputChannelId> queued_readers() const;
  [[nodiscard]] std::size_t reader_count() const { return readers_.size(); }

 private:
  class ViewReader;

  void enqueue(ViewReader& reader);
  void write_next();

  MessageSink& sink_;
  WirePool& pool_;
  const NetworkSemantics& semantics_;
  std::map<InputChannelId, std::unique_ptr<ViewReader>> readers_;
  RingQueue<InputChannelId> available_;  // may hold ids of readers that have gone
  bool writing_ = false;
  NetworkItem in_write_;  // its segment goes home when it is written
};

}  // namespace tailrace::engine
