// A job manager's way to the highly available store.
//
// One per process of a job manager, with one `HighAvailableJob` for each of its jobs. What a dead
// process has sent still arrives and is applied; its answer is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/ha/checkpoint_handle_store.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/high_availability_services.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// A job as the store had it.
struct RecoveredJob {
  JobId id;
  HighAvailabilityServices::Job job;
  CheckpointId next_checkpoint = 1;
};

class HighAvailabilityClient {
 public:
  using Kind = HighAvailabilityServices::Kind;

  // `ports`: of the job manager's process.
  HighAvailabilityClient(const Ports& ports, HighAvailabilityServices& services);
  ~HighAvailabilityClient();
  HighAvailabilityClient(const HighAvailabilityClient&) = delete;
  HighAvailabilityClient& operator=(const HighAvailabilityClient&) = delete;

  // Runs when this process leads. Its session is kept alive as long as the process lives.
  void contend(HighAvailabilityServices::Granted granted);
  // Task managers hear of it.
  void publish_leader(RpcAddress<JobMasterGateway> address);
  void put_job(JobId id, HighAvailabilityServices::Job job, base::InplaceFunction<void()> done);
  void remove_job(JobId id);
  // In the order of their ids.
  void get_jobs(base::InplaceFunction<void(std::vector<RecoveredJob>)> done);
  // Runs once everything asked for so far, and because of it, has been answered.
  void when_idle(base::InplaceFunction<void()> done);

  [[nodiscard]] const Ports& ports() const { return ports_; }
  [[nodiscard]] const HighAvailabilityConfig& config() const { return services_.config(); }

  // Runs `apply(services)` in the store, then `done(its result)` here.
  template <typename Answer, typename Apply>
  void ask(Kind kind, Apply apply, base::InplaceFunction<void(Answer), 128> done);

 private:
  void ping();
  void answered();

  Ports ports_;
  HighAvailabilityServices& services_;
  TimerId ping_;
  std::size_t unanswered_ = 0;
  std::vector<base::InplaceFunction<void()>> waiting_for_idle_;
  base::Lifeline lifeline_;
};

// Entries and counter of one job. `client` outlives this.
class HighAvailableJob final : public CheckpointHandleStore, public SharedCount {
 public:
  // `next_checkpoint`: what the counter stands at.
  HighAvailableJob(HighAvailabilityClient& client, JobId job, CheckpointId next_checkpoint,
                   HandleStoreSemantics semantics);

  void add_and_lock(CompletedCheckpointPtr checkpoint, Added done) override;
  void release_and_try_remove(CheckpointId id, Removed done) override;
  void get_all_and_lock(AllRead done) override;
  void clear_entries() override;

  void get_and_increment(Next done) override;
  void set_count(CheckpointId next, Set done) override;
  [[nodiscard]] CheckpointId get() const override { return known_count_; }
  void remove() override;

 private:
  struct Adding;
  struct Reading;
  using Kind = HighAvailabilityServices::Kind;

  void write_pointer(std::shared_ptr<Adding> adding);
  void write_entry(std::shared_ptr<Adding> adding);
  void read_next(std::shared_ptr<Reading> reading);

  HighAvailabilityClient& client_;
  JobId job_;
  CheckpointId known_count_;
  HandleStoreSemantics semantics_;
  base::Lifeline lifeline_;
};

template <typename Answer, typename Apply>
void HighAvailabilityClient::ask(Kind kind, Apply apply,
                                 base::InplaceFunction<void(Answer), 128> done) {
  struct Request {
    HighAvailabilityServices& services;
    ProcessId client;
    Apply apply;
    base::InplaceFunction<void(Answer), 128> done;
    base::Lifeline::Watch watch;
    HighAvailabilityClient* self;
  };
  ++unanswered_;
  const auto request = std::shared_ptr<Request>(new Request{
      services_, ports_.self, std::move(apply), std::move(done), lifeline_.watch(), this});
  ports_.calls->send(services_.process(), kRpcBytes, [request, kind] {
    request->services.serve(request->client, kind, [request] {
      auto result = std::make_unique<Answer>(request->apply(request->services));
      request->services.answer(request->client, [request, result = std::move(result)] {
        if (!request->watch.alive()) return;
        request->done(std::move(*result));
        if (request->watch.alive()) request->self->answered();
      });
    });
  });
}

}  // namespace tailrace::engine
