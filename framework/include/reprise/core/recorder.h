// Recorder: the interface that op functions call. One virtual call per op; checks and inference are
// shared by all recorders.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/core/operand.h"

namespace reprise {

class Recorder;
struct OpCall;
struct Outputs;

/// A recorder plus the place it was used. Every op takes this first: a caller passes its Recorder
/// and the compiler fills in file, function and line. A composite op passes its own on.
struct Site {
  Site(Recorder& r, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
       const char* function = __builtin_FUNCTION(), std::uint32_t line = __builtin_LINE())
      : recorder(r), where{file, function, line} {}
  Site(const Site& other) : recorder(other.recorder), where(other.where) {}
  Site& operator=(const Site&) = delete;
  ~Site();
  Recorder& recorder;
  SourceLocation where;
  mutable bool kept = false;  // the recorder knows of it until it dies
};

/// Names everything recorded while it lives.
/// Lifetime: scopes end in reverse order of beginning.
class [[nodiscard]] Scope {
 public:
  Scope(Recorder& recorder, std::uint32_t outer) : recorder_(recorder), outer_(outer) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

 private:
  Recorder& recorder_;
  std::uint32_t outer_;
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Begins a scope: "layer.3" for scope("layer", 3). Nested ones are joined by '/'.
  Scope scope(std::string_view name, std::int32_t index = -1);
  /// Returns a field of the state as a dynamic attribute.
  /// Errors: unknown_name.
  StateField state(std::string_view field, SourceLocation where = SourceLocation::here());
  /// Returns the first dimension of shapes whose rows a field of the state counts: one of
  /// SessionOptions::extents.
  /// Errors: unknown_name.
  Extent extent(std::string_view field, SourceLocation where = SourceLocation::here());
  /// Returns the state block itself as an i32 tensor, for ops that write fields.
  /// Errors: invalid_argument if the session has none.
  Tensor state_block(SourceLocation where = SourceLocation::here());
  /// Returns an array of the state: a tensor [count] whose elements are those of each launch.
  /// Errors: unknown_name.
  Tensor state_array(std::string_view array, SourceLocation where = SourceLocation::here());

  /// Checks operands against the schema, infers results, records. An error has the full context and
  /// invalidates the session.
  void call(const OpCall& call, std::span<Tensor> results);
  /// Records a call with one result, of a statement that has not ended; for op files.
  Tensor call(const Site& site, const OpCall& call);
  /// Runs checks that come before such a call, for op files. Errors are those of the call.
  template <class F>
  void check(std::string_view op, SourceLocation where, F&& checks) {
    in_context(op, where, std::forward<F>(checks));
  }
  /// Returns "'ffn_norm'" or "result of op 7 matmul,"; empty if unknown. Used by messages only.
  virtual std::string tensor_name(const TensorRecord& tensor) const = 0;
  bool invalidated() const { return !reason_.empty(); }
  /// Returns why the session is invalidated; empty if it is not.
  const std::string& reason() const { return reason_; }
  /// Where the session was invalidated.
  struct Failure {
    std::uint32_t op = 0;
    std::string label;  // what failed, and its scope: "rms_norm (layer.3/attn)"
    SourceLocation where;
  };
  const Failure& failure() const { return failure_; }

 protected:
  virtual void append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) = 0;
  /// Checks that recording is still possible.
  /// Errors: invalid_argument if nothing can be recorded any more.
  virtual void require_open() const = 0;
  // A recorder that names no state has none of these: they throw invalid_argument.
  virtual StateField find_state(std::string_view field) const;
  virtual Extent find_extent(std::string_view field) const;
  virtual Tensor find_block();
  virtual Tensor find_array(std::string_view array);
  virtual std::uint32_t open_scope(std::uint32_t outer, std::string_view name,
                                   std::int32_t index) = 0;
  virtual std::string scope_path(std::uint32_t scope) const = 0;
  virtual std::string_view session_name() const = 0;
  virtual std::uint32_t op_count() const = 0;
  /// Receives every error on its way to the caller.
  virtual void note_failure(const Error& /*error*/) const noexcept {}
  /// Checks that the session may be used.
  /// Errors: invalid_argument if it is invalidated or finished.
  void require_usable() const;
  /// Runs a call. Appends to an error what the session was doing and where, and invalidates the
  /// session.
  template <class F>
  auto in_context(std::string_view what, SourceLocation where, F&& f) {
    try {
      require_usable();
      return f();
    } catch (const Error& cause) {
      fail(what, where, cause);
    }
  }
  /// Rethrows `cause` with the current place appended and invalidates the session.
  [[noreturn]] void fail(std::string_view what, SourceLocation where, const Error& cause);

  std::uint32_t current_scope_ = 0;
  std::uint64_t owner_ = 0;  // serial of this session; its transients carry it
  /// Whether several operands of the current call are results of calls in its own statement. C++
  /// does not say which of those comes first.
  bool arguments_unordered_ = false;

 private:
  friend class Scope;
  friend struct Site;
  /// Returns how many operands of a call are results of unfinished statements.
  std::size_t unfinished_operands(const OpCall& call) const;
  void forget_unfinished(const Site& site) noexcept;
  void check_operands(const OpCall& call) const;
  /// Results of unfinished statements: the sites that their calls were made with still live.
  std::vector<std::pair<const Site*, const TensorRecord*>> unfinished_;
  std::string reason_;
  Failure failure_;
};

inline Scope::~Scope() { recorder_.current_scope_ = outer_; }
inline Site::~Site() {
  if (kept) {
    recorder.forget_unfinished(*this);
  }
}

}  // namespace reprise
