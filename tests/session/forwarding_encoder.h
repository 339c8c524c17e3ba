// An encoder in front of another one, for tests that change what is encoded or watch it.
#pragma once
#include "reprise/reprise.h"

namespace reprise::testing {

class ForwardingEncoder : public Encoder {
 public:
  explicit ForwardingEncoder(std::unique_ptr<Encoder> to) : to_(std::move(to)) {}
  void barrier() override { to_->barrier(); }
  void step(const StepList& steps, std::size_t index,
            std::span<const std::shared_ptr<Buffer>> pools) override {
    to_->step(steps, index, pools);
  }
  void reset(const std::shared_ptr<Timestamps>& stamps) override { to_->reset(stamps); }
  void stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) override {
    to_->stamp(stamps, index);
  }
  void resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
               const std::shared_ptr<Buffer>& to, std::uint64_t offset) override {
    to_->resolve(stamps, count, to, offset);
  }
  void begin_label(std::string_view name) override { to_->begin_label(name); }
  void end_label() override { to_->end_label(); }
  std::unique_ptr<Encoding> finish() override { return to_->finish(); }

 private:
  std::unique_ptr<Encoder> to_;
};

}  // namespace reprise::testing
