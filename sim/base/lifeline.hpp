// Lets a callback outlive its target harmlessly.
//
// The owner holds a Lifeline; `bind` wraps a callable so that it does nothing once the owner is
// gone (a task that was cancelled, a process that was killed). One small allocation per owner, none
// per binding. Single-threaded, like everything in a run.
#pragma once

#include <cstdint>
#include <utility>

namespace tailrace::base {

class Lifeline {
  struct Control;

 public:
  Lifeline() : control_(new Control) {}
  ~Lifeline() {
    control_->alive = false;
    release(control_);
  }
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  class Watch {
   public:
    explicit Watch(const Lifeline& line) : control_(line.control_) { ++control_->references; }
    Watch(Watch&& other) noexcept : control_(std::exchange(other.control_, nullptr)) {}
    Watch(const Watch& other) : control_(other.control_) {
      if (control_ != nullptr) ++control_->references;
    }
    Watch& operator=(Watch other) noexcept {
      std::swap(control_, other.control_);
      return *this;
    }
    ~Watch() {
      if (control_ != nullptr) release(control_);
    }
    [[nodiscard]] bool alive() const { return control_ != nullptr && control_->alive; }

   private:
    friend class Lifeline;
    Control* control_;
  };

  [[nodiscard]] Watch watch() const { return Watch(*this); }

  // The wrapped callable does nothing once this Lifeline is gone.
  template <typename F>
  [[nodiscard]] auto bind(F callable) const {
    return [watch = Watch(*this), callable = std::move(callable)](auto&&... args) mutable {
      if (watch.alive()) callable(std::forward<decltype(args)>(args)...);
    };
  }

 private:
  struct Control {
    bool alive = true;
    std::uint32_t references = 1;
  };
  static void release(Control* control) {
    if (--control->references == 0) delete control;
  }

  Control* control_;
};

}  // namespace tailrace::base
