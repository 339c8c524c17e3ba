// A recorded graph and its plan as rows. Generic values, so that the content hash covers exactly
// what is stored. Knows no SQL and no ids of the database.
#pragma once
#include <algorithm>
#include <array>

#include "framework/profile/profile_sink.h"
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// The tables of rows that belong to one graph; the value of graph_id is the writer's.
inline constexpr std::array<std::string_view, 10> kGraphTables{
    "nodes(graph_id,idx,op,family,label,scope,attributes_json,flops,read_bytes,write_bytes,level,"
    "src_file,src_line,src_func)",
    "steps(graph_id,idx,node_idx,kind,kernel_id,grid_x,grid_y,grid_z,push)",
    "tensors(graph_id,idx,name,dtype,shape_json,strides_json,nbytes,role,pool_idx,offset_bytes,"
    "first_use,last_use,alias_of)",
    "node_tensors(graph_id,node_idx,slot,operand,tensor_idx,access)",
    "edges(graph_id,src,dst,tensor_idx,kind)",
    "barriers(graph_id,ordinal,before_step,required,emitted,cause_src,cause_dst,kind,pool_idx,"
    "offset_bytes,size_bytes,reason)",
    "pools(graph_id,idx,kind,size_bytes)",
    "state_fields(graph_id,idx,name,type,count,offset_bytes,owner,expression)",
    "pass_decisions(graph_id,pass,ordinal,kind,node_idx,applied,reason)",
    "barrier_causes(graph_id,barrier,idx,src_step,kind,pool_idx,offset_bytes,size_bytes)"};
/// Without graph_id.
constexpr std::size_t columns_of(std::string_view graph_table) {
  return static_cast<std::size_t>(std::ranges::count(graph_table, ','));
}
inline constexpr std::size_t kStepsTable = 1;
inline constexpr std::size_t kStepKernelColumn = 3;
inline constexpr std::size_t kBarrierCausesTable = 9;

struct KernelRow {
  std::string name, spirv_hash, spec_json;
  std::optional<KernelInfo> info;  // empty if the device gave none
};

struct GraphRows {
  static constexpr std::string_view kGraph =
      "graphs(content_hash,structure_hash,name,node_count,step_count,edge_count,barrier_count,"
      "arena_bytes,naive_bytes,live_peak_bytes,weights_bytes)";
  std::string content_hash;
  std::vector<Value> graph;        // the columns after content_hash
  std::vector<KernelRow> kernels;  // steps.kernel_id is an index here
  std::array<std::vector<Value>, kGraphTables.size()> tables;
};

GraphRows rows_of(const RecordingRecord& record, const DeviceInfo& device);

}  // namespace reprise::profile
