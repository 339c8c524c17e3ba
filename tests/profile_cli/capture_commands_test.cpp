// `reprise db timeline`, `memory` and `barriers`: everything they print about one known graph.
#include "debugger/cli/db_commands.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using cli::CaptureOptions;
using cli::Format;
using test::error_of;
using test::printed;
using test::write_run;

class CaptureCommands : public test::TimedDatabase {
 protected:
  template <class Command>
  std::string output(Command command, const CaptureSelector& wish = {},
                     Format format = Format::table) {
    return printed([&] { command(CaptureOptions{path(), wish, format}); });
  }
};

TEST_F(CaptureCommands, TimelineHasEveryNodeOfTheLastTimedReplay) {
  write_run(path_);
  EXPECT_EQ(output(cli::print_timeline),
            "run 1, graph 1 'decode', replay 4, prepare 0.5 us, submit 1.5 us, wait 20.0 us, "
            "device 15.0 us\n"
            "node  op     scope         start us   us     %  GB/s  source\n"
            "   0  norm   layer.3/attn       0.0  1.0   6.7  1.92  model.cpp:10\n"
            "   1  add    layer.3            1.0  2.0  13.3  1.15  model.cpp:11\n"
            "   2  scale  layer.3            3.0  7.0  46.7  0.27  model.cpp:13\n"
            "   3  norm                     10.0  5.0  33.3  0.38  model.cpp:12\n");
  EXPECT_EQ(output(cli::print_timeline, {{}, 1}, Format::csv),
            "node,op,label,scope,start_ns,duration_ns,share,gb_per_s,source\n"
            "0,norm,attn,layer.3/attn,0,1000,0.06666666666666667,1.92,model.cpp:10\n"
            "1,add,layer.3,layer.3,1000,2000,0.13333333333333333,1.152,model.cpp:11\n"
            "2,scale,layer.3,layer.3,3000,7000,0.4666666666666667,0.2742857142857143,model.cpp:13\n"
            "3,norm,,,10000,5000,0.3333333333333333,0.384,model.cpp:12\n");
}

TEST_F(CaptureCommands, TimelineAsJson) {
  write_run(path_, {.replays = 1});
  test::sql(path_, "DELETE FROM nodes WHERE idx>0");
  EXPECT_EQ(output(cli::print_timeline, {}, Format::json),
            "{\n"
            "  \"run\": 1,\n"
            "  \"graph\": 1,\n"
            "  \"graph_name\": \"decode\",\n"
            "  \"replay\": 1,\n"
            "  \"phase\": \"decode\",\n"
            "  \"timing_mode\": \"node\",\n"
            "  \"warm_up\": true,\n"
            "  \"prepare_ns\": 500,\n"
            "  \"submit_ns\": 1500,\n"
            "  \"wait_ns\": 20000,\n"
            "  \"device_ns\": 15000,\n"
            "  \"slices\": [\n"
            "    {\n"
            "      \"node\": 0,\n"
            "      \"op\": \"norm\",\n"
            "      \"label\": \"attn\",\n"
            "      \"scope\": \"layer.3/attn\",\n"
            "      \"start_ns\": 0,\n"
            "      \"duration_ns\": 1000,\n"
            "      \"share\": 1.0,\n"
            "      \"gb_per_s\": 1.92,\n"
            "      \"source\": \"model.cpp:10\"\n"
            "    }\n"
            "  ]\n"
            "}\n");
}

TEST_F(CaptureCommands, MemoryHasPlacesAndBuffers) {
  write_run(path_);
  EXPECT_EQ(output(cli::print_memory),
            "run 1, graph 1 'decode', replay 4: arena 2.25 KiB, most in use 2.25 KiB at step 1, "
            "without sharing 3.75 KiB\n"
            "tensor  name               role        dtype  shape   pool  kind    offset  bytes  "
            "first  last  alias of  at peak\n"
            "     0  x                  input       f32    [2,96]     0  arena        0    768     "
            " 0     4            yes\n"
            "     1  attn_norm          param       f32    [96]       1  buffer       0    384     "
            " 0     4            no\n"
            "     2  state              state       i32    [3]        2  state        0     12     "
            " 0     4            no\n"
            "     3  layer.3/attn/norm  activation  f32    [2,96]     0  arena      768    768     "
            " 0     1            yes\n"
            "     4  layer.3/add        activation  f32    [2,96]     0  arena     1536    768     "
            " 1     3            yes\n"
            "     5  logits             output      f32    [2,96]     0  arena     1536    768     "
            " 4     4            no\n"
            "     6  layer.3/scale      activation  f32    [2,96]     0  arena      768    768     "
            " 2     4            no\n"
            "\n"
            "buffers\n"
            "buffer  name             kind    bytes  pool\n"
            "     2  arena of decode  device   2304     0\n");
  EXPECT_EQ(output(cli::print_memory, {}, Format::csv),
            "tensor,name,role,dtype,shape,pool,pool_kind,offset_bytes,bytes,first_step,last_step,"
            "alias_of,at_peak\n"
            "0,x,input,f32,\"[2,96]\",0,arena,0,768,0,4,,1\n"
            "1,attn_norm,param,f32,[96],1,buffer,0,384,0,4,,0\n"
            "2,state,state,i32,[3],2,state,0,12,0,4,,0\n"
            "3,layer.3/attn/norm,activation,f32,\"[2,96]\",0,arena,768,768,0,1,,1\n"
            "4,layer.3/add,activation,f32,\"[2,96]\",0,arena,1536,768,1,3,,1\n"
            "5,logits,output,f32,\"[2,96]\",0,arena,1536,768,4,4,,0\n"
            "6,layer.3/scale,activation,f32,\"[2,96]\",0,arena,768,768,2,4,,0\n");
}

TEST_F(CaptureCommands, BarriersSayWhoWaitsForWhom) {
  write_run(path_);
  EXPECT_EQ(output(cli::print_barriers),
            "run 1, graph 1 'decode', replay 4: 4 required, 4 emitted, 0 missing\n"
            "barrier  before step  kind  node  op     scope    waits for  op     scope         "
            "tensors            bytes  required  emitted  reason\n"
            "      0            1  RAW      1  add    layer.3          0  norm   layer.3/attn  "
            "layer.3/attn/norm    768  yes       yes      norm (layer.3/attn) wrote what add "
            "(layer.3) rea...\n"
            "      1            2  RAW      2  scale  layer.3          1  add    layer.3       "
            "layer.3/add          768  yes       yes      add (layer.3) wrote what scale (layer.3) "
            "reads\n"
            "      2            3  WAW      2  scale  layer.3          2  scale  layer.3       "
            "layer.3/scale        768  yes       yes      scale (layer.3) wrote what scale "
            "(layer.3) overw...\n"
            "      3            4  RAW      3  norm                    2  scale  layer.3       "
            "layer.3/scale        768  yes       yes      scale (layer.3) wrote what norm reads\n");
  EXPECT_EQ(output(cli::print_barriers, {}, Format::csv),
            "barrier,before_step,kind,node,op,scope,cause_node,cause_op,cause_scope,tensors,pool,"
            "offset_bytes,bytes,required,emitted,verdict,reason\n"
            "0,1,RAW,1,add,layer.3,0,norm,layer.3/attn,layer.3/attn/"
            "norm,0,768,768,1,1,emitted,norm (layer.3/attn) wrote what add (layer.3) reads\n"
            "1,2,RAW,2,scale,layer.3,1,add,layer.3,layer.3/add,0,1536,768,1,1,emitted,add "
            "(layer.3) wrote what scale (layer.3) reads\n"
            "2,3,WAW,2,scale,layer.3,2,scale,layer.3,layer.3/scale,0,768,768,1,1,emitted,scale "
            "(layer.3) wrote what scale (layer.3) overwrites\n"
            "3,4,RAW,3,norm,,2,scale,layer.3,layer.3/scale,0,768,768,1,1,emitted,scale (layer.3) "
            "wrote what norm reads\n");
}

TEST_F(CaptureCommands, TheLastReplayWithTimesIsTakenUnlessAGraphOrReplayIsNamed) {
  write_run(path_, {.label = "first"});
  write_run(path_, {.label = "other", .graph = {.name = "other", .scales = 1}});
  write_run(path_, {.label = "untimed", .mode = TimingMode::off});
  const auto heading = [&](const CaptureSelector& wish) {
    const std::string text = output(cli::print_timeline, wish);
    return text.substr(0, text.find(", prepare"));
  };
  EXPECT_EQ(heading({}), "run 2, graph 2 'other', replay 8");
  EXPECT_EQ(heading({1, {}}), "run 1, graph 1 'decode', replay 4");
  EXPECT_EQ(heading({{}, 2}), "run 1, graph 1 'decode', replay 2");
  EXPECT_EQ(heading({1, 2}), "run 1, graph 1 'decode', replay 2");
  EXPECT_EQ(heading({{}, 9}), "run 3, graph 1 'decode', replay 9");
}

TEST_F(CaptureCommands, WhatIsNotThereIsSaid) {
  write_run(path_);
  write_run(path_, {.graph = {.name = "other", .scales = 1}});
  EXPECT_EQ(error_of([&] {
              output(cli::print_memory, {7, {}});
            }),
            "The profiling database (" + path() + ") has no recording of graph (7); it has 1, 2.");
  EXPECT_EQ(error_of([&] {
              output(cli::print_barriers, {{}, 99});
            }),
            "The profiling database (" + path() +
                ") has no replay (99); `reprise db replays` lists them.");
  EXPECT_EQ(error_of([&] {
              output(cli::print_timeline, {2, 1});
            }),
            "The replay (1) is of graph (1), not of graph (2).");
  const std::filesystem::path empty = folder_ / "empty.db";
  open_profile(empty, {});
  EXPECT_EQ(error_of([&] { cli::print_timeline({empty.string()}); }),
            "The profiling database (" + empty.string() + ") has no graphs.");
}

TEST_F(CaptureCommands, ATimelineWithoutTimesSaysWhereTheyComeFrom) {
  write_run(path_, {.graph = {.scope = "a\x1B[31m"}, .mode = TimingMode::off});
  EXPECT_EQ(output(cli::print_timeline),
            "run 1, graph 1 'decode'\n"
            "node  op    scope          start us  us  %  GB/s  source\n"
            "   0  norm  a?[31m.3/attn                         model.cpp:10\n"
            "   1  add   a?[31m.3                              model.cpp:11\n"
            "   2  norm                                        model.cpp:12\n"
            "No step times: they come from replays in the timing mode node that were kept; "
            "`reprise db replays` says which.\n");
}

TEST_F(CaptureCommands, DamageIsSaidAndTheRestIsPrinted) {
  write_run(path_);
  test::sql(path_,
            "UPDATE barriers SET before_step=77 WHERE ordinal=0; UPDATE step_timings SET "
            "data=zeroblob(3)");
  const std::string text = output(cli::print_barriers);
  EXPECT_NE(text.find("'decode', replay 4: 3 required, 3 emitted, 0 missing\n"), std::string::npos)
      << text;
  EXPECT_NE(output(cli::print_timeline).find("The file is damaged: "), std::string::npos);
}

}  // namespace
}  // namespace reprise
