// Recorder: what an op function talks to. One virtual call per op; checks and inference are shared
// by all recorders.
#pragma once
#include "reprise/core/op.h"

namespace reprise {

class Recorder;

/// A recorder plus the place it was used. Every op takes this first, so a caller passes its
/// Recorder and the compiler fills in file, function and line. A composite op passes its own on.
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

/// Names everything recorded while it lives. Ends in reverse order of beginning.
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
  /// "layer.3" for scope("layer", 3); nested ones are joined by '/'.
  Scope scope(std::string_view name, std::int32_t index = -1);
  /// A dynamic attribute. Errors: unknown_name.
  StateField state(std::string_view field, SourceLocation where = SourceLocation::here());
  /// The first dimension of shapes whose rows a field of the state counts: one of
  /// SessionOptions::extents. Errors: unknown_name.
  Extent extent(std::string_view field, SourceLocation where = SourceLocation::here());
  /// The state block itself as an i32 tensor, for ops that write fields. Throws invalid_argument if
  /// the session has none.
  Tensor state_block(SourceLocation where = SourceLocation::here());
  /// An array of the state: a tensor [count] whose elements are those of each launch.
  /// Errors: unknown_name.
  Tensor state_array(std::string_view array, SourceLocation where = SourceLocation::here());

  /// Checks operands against the schema, infers, records. Throws Error with full context, and
  /// invalidates the session.
  void call(const OpCall& call, std::span<Tensor> results);
  /// "'ffn_norm'" or "result of op 7 matmul,"; empty if unknown. Used by messages only.
  virtual std::string tensor_name(const TensorRecord& tensor) const = 0;
  bool invalidated() const { return !reason_.empty(); }
  /// Why the session is invalidated; empty if it is not.
  const std::string& reason() const { return reason_; }
  /// Where it became so.
  struct Failure {
    std::uint32_t op = 0;
    std::string label;  // what failed, and its scope: "rms_norm (layer.3/attn)"
    SourceLocation where;
  };
  const Failure& failure() const { return failure_; }

 protected:
  virtual void append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) = 0;
  /// Throws invalid_argument if nothing can be recorded any more.
  virtual void require_open() const = 0;
  virtual StateField find_state(std::string_view field) const = 0;
  virtual Extent find_extent(std::string_view field) const = 0;
  virtual Tensor find_block() = 0;
  virtual Tensor find_array(std::string_view array) = 0;
  virtual std::uint32_t open_scope(std::uint32_t outer, std::string_view name,
                                   std::int32_t index) = 0;
  virtual std::string scope_path(std::uint32_t scope) const = 0;
  virtual std::string_view session_name() const = 0;
  virtual std::uint32_t op_count() const = 0;
  /// Told of every error on its way to the caller.
  virtual void note_failure(const Error& /*error*/) const noexcept {}
  /// Throws invalid_argument if the session is invalidated or finished.
  void require_usable() const;
  /// Runs a call; its error says what the session was at and where, and invalidates it.
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
  /// Of the call that is appended: several of its operands are results of calls in its own
  /// statement, and C++ does not say which of those comes first.
  bool arguments_unordered_ = false;

 private:
  friend class Scope;
  friend struct Site;
  template <class A, std::size_t N>
  friend Tensor record(const Site& site, const OpDef& op, const TensorRef (&inputs)[N],
                       const A& attributes);
  /// A result whose statement is not over: the parameter that its call was made with still lives.
  struct UnfinishedStatement {
    const Site* site;
    const TensorRecord* result;
  };
  /// How many operands of a call are results of unfinished statements.
  std::size_t unfinished_operands(const OpCall& call) const;
  void keep_unfinished(const Site& site, const OpCall& call, const Tensor& result);
  void forget_unfinished(const Site& site) noexcept;
  void check_operands(const OpCall& call) const;
  std::vector<UnfinishedStatement> unfinished_;
  std::string reason_;
  Failure failure_;
};

inline Scope::~Scope() { recorder_.current_scope_ = outer_; }
inline Site::~Site() {
  if (kept) {
    recorder.forget_unfinished(*this);
  }
}

/// For op files: records a call with one result.
template <class A, std::size_t N>
Tensor record(const Site& site, const OpDef& op, const TensorRef (&inputs)[N],
              const A& attributes) {
  static_assert(std::is_trivially_copyable_v<A> && std::is_standard_layout_v<A>);
  Tensor result;
  const OpCall call{site.recorder, op, inputs, std::as_bytes(std::span(&attributes, 1)),
                    site.where};
  site.recorder.call(call, {&result, 1});
  site.recorder.keep_unfinished(site, call, result);
  return result;
}

/// For op files: records a call that writes one of its operands and has no result.
template <class A, std::size_t N>
void record_in_place(const Site& site, const OpDef& op, const TensorRef (&inputs)[N],
                     const A& attributes) {
  static_assert(std::is_trivially_copyable_v<A> && std::is_standard_layout_v<A>);
  site.recorder.call(
      {site.recorder, op, inputs, std::as_bytes(std::span(&attributes, 1)), site.where}, {});
}

}  // namespace reprise
