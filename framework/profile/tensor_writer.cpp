#include "framework/profile/tensor_writer.h"

#include "framework/graph/structure_hash.h"
#include "framework/graph/tensor_names.h"
#include "framework/profile/json.h"
#include "framework/profile/snapshot_hash.h"
#include "framework/profile/tensor_file.h"
#include "framework/profile/tensor_place.h"
#include "framework/profile/words.h"

namespace reprise::profile {
namespace {

std::span<const std::byte> bytes_of(const TensorsRecord& record,
                                    const TensorsRecord::Tensor& tensor) {
  return std::span(record.bytes).subspan(tensor.offset, tensor.spec.bytes());
}

}  // namespace

TensorWriter::TensorWriter(Database& database, std::uint64_t snapshot_bytes, LogCallback log,
                           DropCallback dropped)
    : database_(database),
      sql_(database),
      contents_left_(snapshot_bytes),
      log_(std::move(log)),
      dropped_(std::move(dropped)) {}

TensorWriter::Waiting::iterator TensorWriter::erase(Waiting::iterator waiting) {
  waiting_bytes_ -= waiting->second->bytes.size();
  return waiting_.erase(waiting);
}

TensorWriter::Waiting::iterator TensorWriter::drop(Waiting::iterator waiting,
                                                   std::string_view reason) {
  dropped_("tensors", reason, waiting->second->tensors.size());
  return erase(waiting);
}

void TensorWriter::add(std::shared_ptr<const TensorsRecord> record) {
  const Key key{record->recording, record->sequence, record->iteration};
  if (const auto same = waiting_.find(key); same != waiting_.end()) {
    drop(same, "without replay");
  }
  while (!waiting_.empty() && waiting_bytes_ + record->bytes.size() > kMaxWaitingBytes) {
    drop(waiting_.begin(), "without replay");
  }
  waiting_bytes_ += record->bytes.size();
  waiting_.emplace(key, std::move(record));
}

void TensorWriter::write(const ReplayRecord& of, const Replay& replay) {
  const Key key{of.recording, of.sequence, of.iteration};
  for (auto it = waiting_.lower_bound({of.recording, 0, 0});
       it != waiting_.end() && it->first <= key;) {
    if (it->first != key || !replay.row) {
      it = drop(it, "without replay");
    } else if (!accepts(database_, [&] { write(*it->second, replay); })) {
      it = drop(it, "refused");
    } else {
      it = erase(it);
    }
  }
}

void TensorWriter::finish() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    it = drop(it, "without replay");
  }
}

void TensorWriter::write(const TensorsRecord& record, const Replay& replay) {
  const std::vector<std::string> names =
      record.contents ? tensor_names(*record.plan->graph) : std::vector<std::string>();
  bool all_finite = true;
  for (const TensorsRecord::Tensor& tensor : record.tensors) {
    if (tensor.rows) {
      check_rows(record, tensor, replay);
      continue;
    }
    const TensorStatistics values = statistics_of(tensor.spec.dtype, bytes_of(record, tensor));
    const auto& finite = values.finite;
    const auto known = [&](double value) { return finite ? std::optional(value) : std::nullopt; };
    const TensorStatistics::Finite f = finite.value_or(TensorStatistics::Finite());
    sql_.insert(
        "tensor_stats(replay_id,graph_id,tensor_idx,node_idx,n,min,max,mean,rms,nan_count,"
        "inf_count,zero_count,hist)",
        *replay.row, replay.graph, tensor.tensor, tensor.node, values.count, known(f.min),
        known(f.max), known(f.mean), known(f.rms), values.nan, values.infinite, values.zero,
        finite ? std::optional(blob_of(f.histogram)) : std::nullopt);
    if (record.not_finite && all_finite && values.nan + values.infinite > 0) {
      all_finite = false;
      write_not_finite(record, tensor, values, replay);
    }
    if (record.contents) {
      write_contents(record, tensor, replay, names[tensor.tensor]);
    }
  }
}

void TensorWriter::write_contents(const TensorsRecord& record, const TensorsRecord::Tensor& tensor,
                                  const Replay& replay, const std::string& name) {
  const std::span<const std::byte> bytes = bytes_of(record, tensor);
  if (bytes.size() > contents_left_) {
    dropped_("snapshot", "budget", 1);
    return;
  }
  const std::string shape = json_of(tensor.spec.shape);
  const std::string hash = snapshot_hash(name_of(tensor.spec.dtype), shape, bytes);
  std::optional<std::string> place;
  if (bytes.size() > kInlineBytes) {
    const std::filesystem::path database = database_.path();
    place = tensor_place(database, hash);
    const std::filesystem::path file = database.parent_path() / *place;
    std::error_code error;
    std::filesystem::create_directory(file.parent_path(), error);
    try {
      if (!std::filesystem::exists(file, error)) {
        write_tensor_file(file, name, tensor.spec, bytes);
      }
    } catch (const Error&) {
      dropped_("snapshot", "file not written", 1);
      return;
    }
  }
  contents_left_ -= bytes.size();
  sql_.insert(
      "snapshots(replay_id,graph_id,tensor_idx,node_idx,t_ns,dtype,shape_json,nbytes,content_hash,"
      "data,external_path)",
      *replay.row, replay.graph, tensor.tensor, tensor.node, record.time_ns,
      name_of(tensor.spec.dtype), std::string_view(shape), bytes.size(), std::string_view(hash),
      place ? std::nullopt : std::optional(bytes),
      place ? std::optional<std::string_view>(*place) : std::nullopt);
}

void TensorWriter::write_not_finite(const TensorsRecord& record,
                                    const TensorsRecord::Tensor& tensor,
                                    const TensorStatistics& values, const Replay& replay) {
  warn("not_finite", record, tensor, replay,
       "the result of " + describe_node(*record.plan->graph, tensor.node) + " holds (" +
           std::to_string(values.nan) + ") NaN and (" + std::to_string(values.infinite) +
           ") infinite values of " + std::to_string(values.count) +
           ", the first watched one that does.");
}

void TensorWriter::check_rows(const TensorsRecord& record, const TensorsRecord::Tensor& tensor,
                              const Replay& replay) {
  const std::span<const std::byte> bytes = bytes_of(record, tensor);
  const std::size_t size = info_of(tensor.spec.dtype).block_bytes;
  std::uint64_t outside = 0;
  std::uint64_t first_at = 0;
  std::int64_t first = 0;
  for (std::uint64_t i = 0; i < bytes.size() / size; ++i) {
    const std::int64_t row = integer_at(tensor.spec.dtype, bytes, i);
    if ((row < 0 || row >= *tensor.rows) && outside++ == 0) {
      first_at = i;
      first = row;
    }
  }
  if (outside > 0) {
    warn("rows_outside", record, tensor, replay,
         describe_node(*record.plan->graph, tensor.node) + " is given (" + std::to_string(outside) +
             ") row numbers outside of 0 to " + std::to_string(*tensor.rows - 1) + ", the first (" +
             std::to_string(first) + ") in place " + std::to_string(first_at) + ".");
  }
}

void TensorWriter::warn(std::string_view code, const TensorsRecord& record,
                        const TensorsRecord::Tensor& tensor, const Replay& replay,
                        const std::string& found) {
  const std::string message = "Replay (" + std::to_string(record.sequence) + ") of the graph '" +
                              record.plan->graph->name + "': " + found;
  sql_.insert("events(run_id,t_ns,severity,source,code,message,graph_id,node_idx,replay_id)",
              replay.run, record.time_ns, static_cast<int>(LogLevel::warning), "numerics", code,
              std::string_view(message), replay.graph, tensor.node, *replay.row);
  if (log_) {
    try {
      log_(LogLevel::warning, message);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a log that throws has nobody else to tell
    }
  }
}

}  // namespace reprise::profile
