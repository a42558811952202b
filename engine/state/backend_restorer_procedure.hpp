// Tries the alternatives that a backend can be restored from, one after the other.
//
// Flink 1.10 BackendRestorerProcedure (spec state.md 7.4). Streams are fetched one by one in virtual
// time, of each no more than is read; an attempt whose stream cannot be had or read fails, and the next is tried. The error is
// that of the first attempt, with the others behind it.
//
// Destroying a running procedure abandons it: its callback never runs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.hpp"
#include "engine/state/fetched_stream.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/lifeline.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

class BackendRestorerProcedure {
 public:
  struct StreamToFetch {
    StreamStateHandlePtr handle;
    std::vector<ByteRange> ranges;  // empty: all of it
  };
  // What the procedure needs to know of the alternatives.
  class Options {
   public:
    virtual ~Options() = default;
    [[nodiscard]] virtual std::size_t count() const = 0;
    // Streams of one alternative, in the order of its handles; null ones are not fetched.
    [[nodiscard]] virtual std::vector<StreamToFetch> streams(std::size_t option) const = 0;
    // Builds the backend. On failure nothing is left of the attempt.
    virtual base::Result<Work, std::string> create(std::size_t option,
                                                   const std::vector<FetchedStream>& streams) = 0;
  };
  using Done = base::InplaceFunction<void(base::Result<Work, std::string>)>;

  // Requires: options.count() >= 1; both references outlive this.
  BackendRestorerProcedure(const Ports& ports, Options& options)
      : ports_(ports), options_(options) {}

  // `done` runs inside the call if no stream lies in a file. Once. Destroying this from inside
  // `done` is allowed.
  void create_and_restore(Done done);

 private:
  void attempt();
  void fetch_next();
  void fetch(const StreamToFetch& stream);
  void fail(const std::string& cause);

  const Ports& ports_;
  Options& options_;
  Done done_;
  std::size_t option_ = 0;
  std::vector<StreamToFetch> wanted_;
  std::vector<FetchedStream> streams_;
  FetchedStream current_;  // the next one of `streams_`
  std::size_t range_ = 0;  // how many of its ranges are there
  std::string errors_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
