// A recorded graph and its plan as rows. Generic values, so that the content hash covers exactly
// what is stored. Knows no SQL and no ids of the database.
#pragma once
#include <array>

#include "framework/profile/profile_sink.h"
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// A table of rows that belong to one graph; its first column, graph_id, is the writer's.
struct GraphTable {
  std::string_view name;
  std::string_view columns;
  std::size_t column_count;
};
inline constexpr std::array<GraphTable, 10> kGraphTables{{
    {"nodes",
     "idx,op,family,label,scope,attributes_json,flops,read_bytes,write_bytes,level,src_file,src_"
     "line,"
     "src_func",
     13},
    {"steps", "idx,node_idx,kind,kernel_id,grid_x,grid_y,grid_z,push", 8},
    {"tensors",
     "idx,name,dtype,shape_json,strides_json,nbytes,role,pool_idx,offset_bytes,first_use,last_use,"
     "alias_of",
     12},
    {"node_tensors", "node_idx,slot,operand,tensor_idx,access", 5},
    {"edges", "src,dst,tensor_idx,kind", 4},
    {"barriers",
     "ordinal,before_step,required,emitted,cause_src,cause_dst,kind,pool_idx,offset_bytes,"
     "size_bytes,reason",
     11},
    {"pools", "idx,kind,size_bytes", 3},
    {"state_fields", "idx,name,type,count,offset_bytes,owner,expression", 7},
    {"pass_decisions", "pass,ordinal,kind,node_idx,applied,reason", 6},
    {"barrier_causes", "barrier,idx,src_step,kind,pool_idx,offset_bytes,size_bytes", 7},
}};
inline constexpr std::size_t kStepsTable = 1;
inline constexpr std::size_t kStepKernelColumn = 3;
inline constexpr std::size_t kBarrierCausesTable = 9;

struct KernelRow {
  std::string name, spirv_hash, spec_json;
  std::optional<KernelInfo> info;  // empty if the device gave none
};

struct GraphRows {
  static constexpr std::string_view kColumns =
      "content_hash,structure_hash,name,node_count,step_count,edge_count,barrier_count,arena_bytes,"
      "naive_bytes,live_peak_bytes,weights_bytes";
  std::string content_hash;
  std::vector<Value> graph;        // the columns after content_hash
  std::vector<KernelRow> kernels;  // steps.kernel_id is an index here
  std::array<std::vector<Value>, kGraphTables.size()> tables;
};

GraphRows rows_of(const RecordingRecord& record, const DeviceInfo& device);

}  // namespace reprise::profile
