// Takes kicks and emits the stream of started commands: kicks wait for their lane, lanes start commands, and the block reads started
// commands from their PCBs. Credits and lists keep their initial division and no command is dropped, so those ports of virtual_kick end
// here.
module kicked_commands #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned FINISHES = 2,
    parameter int unsigned COMMANDS_WIDTH = 10,  // As in virtual_kick.
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    // Kicks of collect_buffer and the number that wait; kicks of send_queue_scheduler.
    input logic kick,
    input hca_spec_pkg::kick_unit_t kick_unit,
    output logic [4:0] kicks_waiting,
    input logic kick_scheduled,
    output logic kick_scheduled_ready,
    input hca_spec_pkg::kick_unit_t kick_scheduled_unit,

    // Started commands, AXI4-Stream; their data arrive in the clock after an accepted read.
    output logic kick_started,
    output logic read,
    input logic read_ready,
    output logic [PCB_WIDTH-1:0] read_physical_collect_buffer,
    output logic [BEATS_WIDTH-1:0] read_beat,
    input logic [BEAT_BYTES*8-1:0] read_data,
    output logic command_tvalid,
    input logic command_tready,
    output logic [BEAT_BYTES*8-1:0] command_tdata,
    output logic [BEAT_BYTES-1:0] command_tkeep,
    output logic command_tlast,
    output hca_spec_pkg::kick_unit_t command_tuser,

    input logic [FINISHES-1:0] finish,
    output logic [FINISHES-1:0] finish_ready,
    input logic [FINISHES*hca_spec_pkg::FINISH_UNIT_BYTES*8-1:0] finish_unit,
    output logic pin,
    output logic [23:0] pin_queue_pair_number,
    input logic pinned,
    output logic unpin,
    output logic [23:0] unpin_queue_pair_number,

    // The PCB of a command that was not listed is released, one clock after virtual_kick says so.
    output logic stale_release,
    output logic [7:0] stale_buffer,

    // Mapping table, see virtual_kick.
    input logic set_lanes,
    input logic [FUNCTION_WIDTH-1:0] set_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t set_lanes_quality_of_service_level,
    input logic set_shared_lanes,
    input logic [TRANSMIT_VIRTUAL_LANES-1:0] set_lanes_lanes,
    output logic set_lanes_allowed,
    output logic set_shared_lanes_allowed,
    input logic [FUNCTION_WIDTH-1:0] query_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t query_lanes_quality_of_service_level,
    output logic [TRANSMIT_VIRTUAL_LANES-1:0] query_lanes,
    output logic [TRANSMIT_VIRTUAL_LANES-1:0] shared_lanes,
    input logic invalidate_lanes,
    input logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries,
    output logic fetch_lanes,
    output logic [FUNCTION_WIDTH-1:0] fetch_lanes_underlying_function,
    output hca_spec_pkg::quality_of_service_level_t fetch_lanes_quality_of_service_level,
    input logic fetched_lanes,

    // State of the lanes for reads by the control function; the number of kicked, unfinished commands of a function.
    input logic [15:0] read_offset,
    output logic [31:0] lane_value,
    input logic [FUNCTION_WIDTH-1:0] commands_function,
    output logic [COMMANDS_WIDTH-1:0] commands_of_function
);
  localparam int unsigned LANE_WIDTH = TRANSMIT_VIRTUAL_LANES > 1 ? $clog2(TRANSMIT_VIRTUAL_LANES) : 1;
  localparam int unsigned ENTRY_COUNT_WIDTH = $clog2(BUFFERS + 1);
  localparam int unsigned COMPLETION_CREDITS = TRANSMIT_VIRTUAL_LANES * hca_spec_pkg::COMPLETION_CREDITS_PER_LANE
      + hca_spec_pkg::SHARED_COMPLETION_CREDITS;
  localparam int unsigned CREDIT_WIDTH = $clog2(COMPLETION_CREDITS
      + TRANSMIT_VIRTUAL_LANES * hca_spec_pkg::EXECUTION_CREDITS_PER_LANE + hca_spec_pkg::SHARED_EXECUTION_CREDITS + 1);

  logic has_kick, kick_collected_ready, kick_started_credit, release_buffer;
  logic [7:0] release_physical_collect_buffer;
  hca_spec_pkg::kick_unit_t kick_collected_unit, kick_started_unit;

  // Outputs of virtual_kick that this block does not use.
  logic unused_kick_corrupted, unused_listed, unused_starting, unused_starting_execution_shared, unused_starting_completion_shared, unused_left, unused_command_stale, unused_dropping, unused_dropped,
      unused_discarded, unused_outlook_lane_invalid, unused_outlook_has_fetched;
  logic [LANE_WIDTH-1:0] unused_kick_corrupted_lane, unused_listed_lane, unused_starting_lane, unused_left_lane, unused_inspect_lane,
      unused_discarded_lane, unused_outlook_lane;
  logic [7:0] unused_discarded_buffer;
  logic [FUNCTION_WIDTH-1:0] unused_counted_function;
  logic [COMMANDS_WIDTH-1:0] unused_inspect_commands;
  logic [ENTRY_COUNT_WIDTH-1:0] unused_outlook_room;
  logic [CREDIT_WIDTH-1:0] unused_outlook_credits;
  linked_list_queue_pkg::linked_list_queue_counters_t unused_counters;

  // The state of a lane in the lane window.
  logic [LANE_WIDTH-1:0] query_lane;
  logic [ENTRY_COUNT_WIDTH-1:0] query_commands;
  logic [CREDIT_WIDTH-1:0] query_execution_credits_held, query_shared_execution_credits_held, query_completion_credits_held,
      query_shared_completion_credits_held, shared_execution_credits_held, shared_completion_credits_held;

  lane_window #(
      .TRANSMIT_VIRTUAL_LANES(TRANSMIT_VIRTUAL_LANES),
      .COMMANDS_WIDTH(ENTRY_COUNT_WIDTH),
      .CREDIT_WIDTH(CREDIT_WIDTH)
  ) i_lane_window (
      .read_value(lane_value),
      .*
  );

  unit_queue #(
      .UNIT_WIDTH(hca_spec_pkg::KICK_UNIT_BYTES * 8),
      .ENTRIES(16)
  ) i_kicks (
      .push(kick),
      .push_unit(kick_unit),
      .valid(has_kick),
      .unit(kick_collected_unit),
      .pop(has_kick && kick_collected_ready),
      .filling(kicks_waiting),
      .*
  );

  virtual_kick #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .TRANSMIT_VIRTUAL_LANES(TRANSMIT_VIRTUAL_LANES),
      .ENTRIES(BUFFERS),
      .QUEUE_PAIRS(QUEUE_PAIRS),
      .FINISHES(FINISHES),
      .DIVISIBLE(1'b0)
  ) i_virtual_kick (
      .kick_collected(has_kick),
      .kick_corrupted(unused_kick_corrupted),
      .kick_corrupted_lane(unused_kick_corrupted_lane),
      .listed(unused_listed),
      .listed_lane(unused_listed_lane),
      .starting(unused_starting),
      .starting_lane(unused_starting_lane),
      .starting_execution_shared(unused_starting_execution_shared),
      .starting_completion_shared(unused_starting_completion_shared),
      .left(unused_left),
      .left_lane(unused_left_lane),
      .command_stale(unused_command_stale),
      .counted_underlying_function(unused_counted_function),
      .drop('0),
      .drop_queue_pair_number('0),
      .dropping(unused_dropping),
      .dropped(unused_dropped),
      .discarded(unused_discarded),
      .discarded_lane(unused_discarded_lane),
      .discarded_physical_collect_buffer(unused_discarded_buffer),
      .set_entry_credits('0),
      .set_entry_credits_underlying_function('0),
      .set_entry_credits_credits('0),
      .set_list_size('0),
      .set_list_size_lane('0),
      .set_list_size_commands('0),
      .set_execution_credits('0),
      .set_completion_credits('0),
      .set_credits_lane('0),
      .set_credits_own('0),
      .set_credits_shared_cap('0),
      .set_shared_execution_credits('0),
      .set_shared_completion_credits('0),
      .set_shared_credits('0),
      .outlook_underlying_function('0),
      .outlook_quality_of_service_level(hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW),
      .outlook_lane(unused_outlook_lane),
      .outlook_lane_invalid(unused_outlook_lane_invalid),
      .outlook_room(unused_outlook_room),
      .outlook_credits(unused_outlook_credits),
      .outlook_has_fetched(unused_outlook_has_fetched),
      .inspect_queue_pair('0),
      .inspect_commands(unused_inspect_commands),
      .inspect_lane(unused_inspect_lane),
      .query_underlying_function(commands_function),
      .query_function_commands(commands_of_function),
      .counters(unused_counters),
      .*
  );

  always_ff @(posedge clock) begin
    stale_release <= !reset && release_buffer;
    stale_buffer <= release_physical_collect_buffer;
  end

  command_stream #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(BUFFERS)
  ) i_command_stream (.*);
endmodule
