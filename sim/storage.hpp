// An object store: how long requests take, and whether they fail. Contents are kept elsewhere.
//
// A request waits for the request latency, then transfers its bytes. Active transfers share the
// total bandwidth equally, none getting more than the bandwidth of one connection (processor
// sharing). All get the same rate, so that one counter, the bytes served to each, tells who is done
// when: O(log transfers) a request, however many there are. The counter is fixed-point, 2^-20 byte;
// a transfer on its own takes bytes / bandwidth rounded up, and every change of the number of
// transfers costs the others at most 2^-20 byte of rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/rate.hpp"
#include "sim/owner.hpp"
#include "sim/random.hpp"
#include "sim/ratio.hpp"
#include "sim/simulation.hpp"

namespace tailrace::sim {

enum class StorageStatus : std::uint8_t { kOk, kFailed };

struct StorageConfig {
  base::BytesPerSecond total;
  base::BytesPerSecond per_connection;
  Duration request_latency;
};

class ObjectStore final : public EventHandler {
 public:
  using Done = base::InplaceFunction<void(StorageStatus)>;

  // `seed` and `name` give the stream from which failures are drawn.
  ObjectStore(Simulation& simulation, StorageConfig config, std::uint64_t seed,
              std::string_view name);
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;
  ~ObjectStore();

  // `done` runs when the last byte is through, or earlier with kFailed. Requires: bytes >= 0.
  void put(std::int64_t bytes, OwnerTag owner, Done done);
  void get(std::int64_t bytes, OwnerTag owner, Done done);
  // More bytes of a request that is under way: no latency.
  void put_part(std::int64_t bytes, OwnerTag owner, Done done);
  void get_part(std::int64_t bytes, OwnerTag owner, Done done);
  // A request without a transfer (a deletion, a listing).
  void touch(OwnerTag owner, Done done) { request(0, owner, std::move(done), latency(), false); }

  // Drops all requests of the owner; their callbacks are destroyed. Cost: O(requests).
  void cancel(OwnerTag owner);

  // While switched off, requests fail when their latency has passed, and running transfers when
  // their last byte would have been through.
  void set_failing(bool failing) { failing_ = failing; }
  // Each request fails with that probability, in parts per million, when its latency has passed.
  void set_error_ppm(std::int64_t ppm);
  // Divides both bandwidths, also of running transfers, and multiplies the latency of requests to
  // come. Parts below 2^20.
  void set_slow_down(Ratio slow_down);

  [[nodiscard]] std::size_t active_transfers() const { return heap_.size(); }
  [[nodiscard]] std::size_t pending_requests() const { return pending_; }
  // Of transfers that have ended well.
  [[nodiscard]] std::int64_t bytes_put() const { return bytes_put_; }
  [[nodiscard]] std::int64_t bytes_got() const { return bytes_got_; }

  void on_event(std::uint64_t argument) override;

 private:
  __extension__ using Served = __int128;  // bytes times 2^20

  struct Request {
    bool used = false;
    bool is_put = false;
    std::int64_t bytes = 0;
    OwnerTag owner;
    EventId event;  // the end of the latency; none while it transfers
    Done done;
  };
  struct Transfer {
    Served end;
    std::uint64_t sequence;
    std::uint32_t request;
  };
  struct Rate {
    std::int64_t numerator;  // bytes per second
    std::int64_t denominator;
  };

  static constexpr std::uint64_t kTransferDone = ~std::uint64_t{0};

  static bool later(const Transfer& a, const Transfer& b) {
    return a.end != b.end ? a.end > b.end : a.sequence > b.sequence;
  }

  void request(std::int64_t bytes, OwnerTag owner, Done done, Duration latency, bool is_put);
  [[nodiscard]] Duration latency() const { return scale_up(config_.request_latency, slow_down_); }
  void on_latency_passed(std::uint32_t index);
  void on_transfer_done();
  void finish(std::uint32_t index, StorageStatus status);
  [[nodiscard]] Rate rate() const;
  void advance();
  void rearm();

  Simulation* simulation_;
  StorageConfig config_;
  RandomStream stream_;
  bool failing_ = false;
  std::int64_t error_ppm_ = 0;
  Ratio slow_down_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_;
  std::size_t pending_ = 0;
  std::vector<Transfer> heap_;
  std::uint64_t next_sequence_ = 0;
  Served served_ = 0;  // to each transfer that has been active all the time, as of since_
  Time since_;
  EventId event_;  // the end of the next transfer
  std::int64_t bytes_put_ = 0;
  std::int64_t bytes_got_ = 0;
};

}  // namespace tailrace::sim
