#include "framework/profile/run_writer.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <unistd.h>

#include "framework/profile/build_facts.h"
#include "framework/profile/host_info.h"
#include "framework/profile/json.h"
#include "framework/profile/profile_snapshot.h"

namespace reprise::profile {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// ISO 8601, to the second.
std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// Version 4 of RFC 9562: random but for six bits.
std::string random_uuid() {
  std::random_device random;
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-4%03x-%04x-%08x%04x", random(),
                random() & 0xFFFFU, random() & 0xFFFU, 0x8000U | (random() & 0x3FFFU), random(),
                random() & 0xFFFFU);
  return text.data();
}

/// What waits for a record that may have been dropped: the oldest go, as ids count up.
template <class T>
void insert_bounded(std::multimap<std::uint64_t, T>& waiting, std::uint64_t key, T value) {
  constexpr std::size_t kMaxWaiting = 4096;
  waiting.emplace(key, std::move(value));
  if (waiting.size() > kMaxWaiting) {
    waiting.erase(waiting.begin());
  }
}

std::optional<std::string_view> filled(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Inserts a row of these values after `key`.
template <class Key>
void insert_row(Statement& insert, const Key& key, std::span<const Value> values) {
  insert.bind(1, key);
  for (std::size_t c = 0; c < values.size(); ++c) {
    insert.bind_value(static_cast<int>(c) + 2, values[c]);
  }
  insert.finish();
}

}  // namespace

RunWriter::RunWriter(Database& database, const RunInfo& run, const ProfileLimits& limits,
                     LogCallback log, DropCallback dropped)
    : database_(database),
      sql_(database),
      replays_(database, limits.step_timing_bytes),
      tensors_(database, limits.snapshot_bytes, std::move(log), std::move(dropped)) {
  require_schema(database, database.path());  // later errors only stop the writing
  const std::string utc = now_utc();
  sql_.insert_new("meta(key,value)", "created_utc", utc);
  sql_.insert_new("meta(key,value)", "created_by", "reprise " + std::string(build_facts().version));
  // The file is locked, so nobody is still writing these.
  database.execute("UPDATE runs SET exit_state='crashed' WHERE exit_state IS NULL");
  const std::int64_t start = now_ns();
  sql_.insert(
      "runs(run_uuid,host_id,build_id,app,argv_json,env_json,pid,rank,world_size,model_path,"
      "model_hash,quant,label,notes,t_start_ns,start_utc,heartbeat_ns)",
      random_uuid(), add_host(), add_build(), run.app, json_of(run.arguments),
      json_of(run.environment), getpid(), run.rank, run.world_size, filled(run.model_path),
      filled(run.model_hash), filled(run.quantisation), filled(run.label), filled(run.notes), start,
      utc, start);
  run_ = database.last_insert_id();
  first_id_ = database.integer(
      "SELECT max(coalesce((SELECT max(id) FROM sessions),0),coalesce((SELECT max(id) FROM "
      "buffers),0),coalesce((SELECT max(id) FROM recordings),0),coalesce((SELECT max(id) FROM "
      "scopes),0))");
}

std::int64_t RunWriter::add_host() {
  const HostInfo host = host_info();
  // One row per machine, with the latest facts.
  sql_(
      "INSERT INTO hosts(hostname,os,kernel,cpu_model,cores,ram_bytes,machine_id_hash) "
      "VALUES(?,?,?,?,?,?,?) ON CONFLICT(machine_id_hash) DO UPDATE SET "
      "hostname=excluded.hostname,os=excluded.os,kernel=excluded.kernel,"
      "cpu_model=excluded.cpu_model,cores=excluded.cores,ram_bytes=excluded.ram_bytes")
      .run(host.hostname, host.os, host.kernel, host.cpu_model, host.cores, host.ram_bytes,
           host.machine_id_hash);
  return sql_("SELECT id FROM hosts WHERE machine_id_hash=?").find(host.machine_id_hash).value();
}

std::int64_t RunWriter::add_build() {
  const BuildFacts& b = build_facts();
  sql_.insert_new("builds(version,git_commit,git_dirty,compiler,build_type,flags)", b.version,
                  b.git_commit, b.git_dirty, b.compiler, b.build_type, b.flags);
  return sql_(
             "SELECT id FROM builds WHERE "
             "(version,git_commit,git_dirty,compiler,build_type,flags)=(?,?,?,?,?,?)")
      .find(b.version, b.git_commit, b.git_dirty, b.compiler, b.build_type, b.flags)
      .value();
}

std::int64_t RunWriter::row_id(std::uint64_t record) const {
  return std::bit_cast<std::int64_t>(std::bit_cast<std::uint64_t>(first_id_) + record);
}

std::optional<std::int64_t> RunWriter::graph_of(std::uint64_t recording) {
  return recording == 0 ? std::nullopt : replays_.graph_of(row_id(recording));
}

bool RunWriter::write(const Record& record) {
  return accepts(database_, [&] { std::visit([&](const auto& r) { write_row(r); }, record); });
}

void RunWriter::write_row(const std::shared_ptr<const DeviceInfo>& info) {
  info_ = info;
  device_.reset();
  device_id();
}

std::int64_t RunWriter::device_id() {
  if (!device_) {
    const DeviceInfo& d = *info_;
    const std::uint32_t bits = d.timestamp_valid_bits;
    sql_.insert_new(
        "devices(backend,name,device_uuid,driver_uuid,driver_version,driver_info,vendor_id,"
        "device_id,driver_name,api_version,type,timestamp_period_ns,timestamp_valid_bits,"
        "limits_json,features_json)",
        d.backend, d.name, d.device_uuid, d.driver_uuid, d.driver_version, d.driver_info,
        d.vendor_id, d.device_id, filled(d.driver_name), filled(d.api_version), filled(d.type),
        bits == 0 ? std::nullopt : std::optional(d.timestamp_period_ns), bits, json_of(d.limits),
        json_of(d.features));
    device_ =
        sql_(
            "SELECT id FROM devices WHERE "
            "(backend,name,device_uuid,driver_uuid,driver_version,driver_info)=(?,?,?,?,?,?)")
            .find(d.backend, d.name, d.device_uuid, d.driver_uuid, d.driver_version, d.driver_info);
  }
  return device_.value();
}

void RunWriter::write_row(const SessionRecord& r) {
  const std::int64_t id = row_id(r.id);
  sql_.insert(
      "sessions(id,run_id,device_id,mode,name,t_begin_ns,t_end_ns,ops,barriers,encode_ns,submit_ns,"
      "wait_ns,device_ns,submits,arena_growths,outcome,precision,thread)",
      id, run_, device_id(), r.recorded ? "recorded" : "direct", r.name, r.begin_ns, r.end_ns,
      r.ops, r.barriers, r.encode_ns, r.submit_ns, r.wait_ns, r.device_ns, r.submits,
      r.arena_growths, r.outcome, name_of(r.precision), filled(r.thread));
  const auto [first, last] = waiting_.equal_range(r.id);
  for (auto it = first; it != last; ++it) {
    sql_("UPDATE recordings SET session_id=? WHERE id=?").run(id, row_id(it->second));
    link_session(row_id(it->second), id);
  }
  waiting_.erase(first, last);
}

void RunWriter::link_session(std::int64_t recording, std::int64_t session) {
  sql_("UPDATE sessions SET graph_id=(SELECT graph_id FROM recordings WHERE id=?) WHERE id=?")
      .run(recording, session);
}

void RunWriter::write_row(const BufferRecord& r) {
  sql_.insert("buffers(id,run_id,device_id,name,kind,size_bytes,t_alloc_ns)", row_id(r.id), run_,
              device_id(), r.name, r.kind, r.bytes, r.allocated_ns);
}

void RunWriter::write_row(const BufferFreedRecord& r) {
  sql_("UPDATE buffers SET t_free_ns=? WHERE id=?").run(r.time_ns, row_id(r.id));
}

void RunWriter::write_row(const RecordingRecord& r) {
  if (!r.plan) {
    return;
  }
  const std::int64_t id = row_id(r.id);
  const std::int64_t graph = graph_id(r);
  const auto session = r.session == 0
                           ? std::nullopt
                           : sql_("SELECT id FROM sessions WHERE id=?").find(row_id(r.session));
  sql_.insert(
      "recordings(id,run_id,graph_id,session_id,device_id,record_ns,plan_ns,encode_ns,t_ns,"
      "key_json)",
      id, run_, graph, session, device_id(), r.record_ns, r.plan_ns, r.encode_ns, r.time_ns,
      filled(r.key_json));
  if (session) {
    link_session(id, *session);
  } else if (r.session != 0) {
    insert_bounded(waiting_, r.session, r.id);
  }
  for (std::size_t p = 0; p < r.pool_buffers.size(); ++p) {
    const std::uint64_t buffer = r.pool_buffers[p];
    sql_.insert(
        "recording_pools(recording_id,pool_idx,buffer_id,base_bytes)", id, p,
        buffer == 0 ? std::nullopt : sql_("SELECT id FROM buffers WHERE id=?").find(row_id(buffer)),
        0);
  }
  replays_.add_graph(graph, *r.plan, info_);
  const auto [first, last] = unlinked_.equal_range(r.id);
  for (auto event = first; event != last; ++event) {
    sql_("UPDATE events SET graph_id=?,node_idx=? WHERE id=?")
        .run(graph, event->second.node, event->second.row);
  }
  unlinked_.erase(first, last);
}

std::int64_t RunWriter::graph_id(const RecordingRecord& record) {
  GraphRows rows = rows_of(record, *info_);
  if (const auto known =
          sql_("SELECT id FROM graphs WHERE content_hash=?").find(rows.content_hash)) {
    return *known;
  }
  insert_row(sql_.inserting(GraphRows::kGraph), std::string_view(rows.content_hash), rows.graph);
  const std::int64_t graph = database_.last_insert_id();
  std::vector<std::int64_t> kernels;
  for (const KernelRow& kernel : rows.kernels) {
    kernels.push_back(kernel_id(kernel));
  }
  std::vector<Value>& steps = rows.tables[kStepsTable];
  for (std::size_t k = kStepKernelColumn; k < steps.size();
       k += columns_of(kGraphTables[kStepsTable])) {
    if (const auto* ordinal = std::get_if<std::int64_t>(&steps[k])) {
      steps[k] = kernels[static_cast<std::size_t>(*ordinal)];
    }
  }
  for (std::size_t t = 0; t < kGraphTables.size(); ++t) {
    const std::size_t columns = columns_of(kGraphTables[t]);
    Statement& insert = sql_.inserting(kGraphTables[t]);
    for (std::size_t row = 0; row < rows.tables[t].size(); row += columns) {
      insert_row(insert, graph, std::span(rows.tables[t]).subspan(row, columns));
    }
  }
  return graph;
}

std::int64_t RunWriter::kernel_id(const KernelRow& kernel) {
  const KernelInfo info = kernel.info.value_or(KernelInfo{});
  const auto known = [&](std::uint64_t value) {
    return kernel.info ? std::optional(value) : std::nullopt;
  };
  sql_.insert_new(
      "kernels(name,spirv_hash,spec_json,device_id,local_x,local_y,local_z,push_bytes,spirv,"
      "pipeline_create_ns,shared_bytes,source)",
      kernel.name, kernel.spirv_hash, kernel.spec_json, device_id(), known(info.local_size[0]),
      known(info.local_size[1]), known(info.local_size[2]), known(info.push_bytes),
      info.spirv.empty() ? std::nullopt : std::optional(std::as_bytes(info.spirv)),
      known(info.pipeline_create_ns), info.shared_bytes,
      info.source.empty() ? std::nullopt : std::optional(info.source));
  return sql_(
             "SELECT id FROM kernels WHERE (name,spirv_hash,spec_json,device_id)=(?,?,?,?) AND "
             "entry='main'")
      .find(kernel.name, kernel.spirv_hash, kernel.spec_json, device_id())
      .value();
}

void RunWriter::write_row(const TimestampBiasRecord& r) { replays_.timestamp_bias(r.bias_ns); }

void RunWriter::write_row(const HostScopeRecord& r) {
  sql_.insert("scopes(id,run_id,parent_id,thread,name,category,t_start_ns,dur_ns)", row_id(r.id),
              run_, r.parent == 0 ? std::nullopt : std::optional(row_id(r.parent)),
              filled(r.thread), r.name, filled(r.category), r.start_ns, r.duration_ns);
}

void RunWriter::write_row(const EventRecord& r) {
  const auto graph = graph_of(r.recording);
  sql_.insert("events(run_id,t_ns,severity,source,code,message,session_id,graph_id,node_idx)", run_,
              r.time_ns, static_cast<int>(r.severity), r.source, filled(r.code), r.message,
              r.session == 0 ? std::nullopt : std::optional(row_id(r.session)), graph,
              graph ? r.node : std::nullopt);
  if (r.recording != 0 && !graph) {
    insert_bounded(unlinked_, r.recording, UnlinkedEvent{database_.last_insert_id(), r.node});
  }
}

void RunWriter::write_row(const ClockRecord& r) {
  sql_.insert_new(
      "clock_sync(run_id,device_id,t_host_ns,device_ticks,realtime_ns,max_deviation_ns)", run_,
      device_id(), r.host_ns, std::bit_cast<std::int64_t>(r.device_ticks), r.realtime_ns,
      r.max_deviation_ns);
}

void RunWriter::write_row(const BenchmarkRecord& r) {
  sql_.insert(
      "benchmarks(run_id,test,n_prompt,n_gen,n_depth,n_batch,n_threads,backend,device_id,precision,"
      "model_type,model_size_bytes,model_n_params,reps,avg_ns,stddev_ns,avg_ts,stddev_ts,median_ts,"
      "samples_ns_json,peer,test_time)",
      run_, r.test, r.n_prompt, r.n_gen, r.n_depth, r.n_batch, r.n_threads, info_->backend,
      device_id(), filled(r.precision), r.model_type, r.model_size_bytes, r.model_n_params,
      r.samples_ns.size(), std::llround(r.avg_ns), std::llround(r.stddev_ns), r.avg_ts, r.stddev_ts,
      r.median_ts, json_of(r.samples_ns), filled(r.peer), r.test_time);
}

void RunWriter::write_row(const RecordingEndRecord& r) {
  sql_("UPDATE recordings SET evicted_t_ns=?,evicted_reason=?,stale_reason=? WHERE id=?")
      .run(r.time_ns, filled(r.evicted_reason), filled(r.stale_reason), row_id(r.id));
}

void RunWriter::write_row(const CacheCounterRecord& r) {
  sql_.insert("cache_counters(run_id,t_ns,counter,reason,key_json,value)", run_, r.time_ns,
              r.counter, r.reason, filled(r.key_json), r.value);
}

void RunWriter::write_row(const ExpertRecord& r) {
  sql_.insert(
      "expert_residency(recording_id,run_seq,layer,t_ns,tokens_device,tokens_host,calls_device,"
      "calls_host,hits,misses,promotions,demotions,bytes_moved,stall_ns)",
      row_id(r.recording), r.run, r.layer, r.time_ns, r.tokens_device, r.tokens_host,
      r.calls_device, r.calls_host, r.hits, r.misses, r.promotions, r.demotions, r.bytes_moved,
      r.stall_ns);
}

void RunWriter::write_row(const MemoryRecord& r) {
  const auto add = [&](const auto&... values) {
    sql_.insert(
        "memory_samples(run_id,device_id,t_ns,heap,purpose,used_bytes,peak_bytes,buffers,"
        "size_bytes,driver_used_bytes,driver_budget_bytes)",
        run_, device_id(), r.time_ns, values...);
  };
  for (std::size_t h = 0; h < r.info.heaps.size(); ++h) {
    const HeapInfo& heap = r.info.heaps[h];
    add(h, nullptr, heap.used.bytes, heap.used.peak, heap.used.buffers, heap.bytes,
        heap.driver_used, heap.driver_budget);
  }
  for (std::size_t p = 0; p < kMemoryPurposes; ++p) {
    const MemoryUse& use = r.info.by_purpose[p];
    add(nullptr, name_of(static_cast<MemoryPurpose>(p)), use.bytes, use.peak, use.buffers, nullptr,
        nullptr, nullptr);
  }
}

void RunWriter::write_row(const CounterRecord& r) {
  sql_.insert_new("counters(name,unit)", r.name, r.unit);
  sql_.insert("counter_values(counter_id,run_id,t_ns,value)",
              sql_("SELECT id FROM counters WHERE name=? AND unit=?").find(r.name, r.unit).value(),
              run_, r.time_ns, r.value);
}

void RunWriter::write_row(const std::shared_ptr<const TensorsRecord>& r) { tensors_.add(r); }

void RunWriter::write_row(const ComparisonRecord& r) {
  const auto finite = [](double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  };
  sql_.insert(
      "comparisons(run_id,t_ns,graph_id,recording_id,node_idx,tensor_idx,name,reference,max_abs,"
      "max_rel,rmse,cosine,first_bad_index,input_differs,tolerance,pass)",
      run_, r.time_ns, graph_of(r.recording), row_id(r.recording), r.node, r.tensor, r.name,
      r.reference, finite(r.max_abs), finite(r.max_rel), finite(r.rmse), finite(r.cosine),
      r.first_bad, r.input_differs, r.tolerance, r.pass);
}

ReplayWriter::Written RunWriter::write(const ReplayRecord& record) {
  const ReplayWriter::Written written = replays_.write(record, row_id(record.recording));
  if (tensors_.waiting()) {
    tensors_.write(record, {run_, graph_of(record.recording).value_or(0),
                            record.status == ReplayStatus::ran ? written.row : std::nullopt});
  }
  return written;
}

void RunWriter::beat(const WriterHealth& health) {
  const std::int64_t now = now_ns();
  sql_("UPDATE runs SET heartbeat_ns=? WHERE id=?").run(now, run_);
  replays_.write_stats(run_);
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  sql_.insert(
      "writer_health(run_id,t_ns,queue_bytes,queue_high_bytes,commit_ns,batch_replays,wal_bytes,"
      "cpu_ns,timestamp_bias_ns)",
      run_, now, health.queue_bytes, health.queue_high_bytes, health.commit_ns,
      health.batch_replays, health.log_bytes,
      std::int64_t{cpu.tv_sec} * 1'000'000'000 + cpu.tv_nsec, replays_.timestamp_bias());
}

void RunWriter::drop(std::string_view what, std::string_view reason, std::uint64_t count) {
  sql_.insert("drops(run_id,t_ns,what,reason,count)", run_, now_ns(), what, reason, count);
}

void RunWriter::finish(std::string_view exit_state) {
  const std::int64_t now = now_ns();
  sql_("UPDATE runs SET heartbeat_ns=?,t_end_ns=?,exit_state=? WHERE id=?")
      .run(now, now, exit_state, run_);
}

}  // namespace reprise::profile
