// The front of the HCA: the host's accesses and their results, up to started commands. Registers by AXI4-Lite, VCB pages by AXI4, started
// commands as an AXI4-Stream, management commands as another; kick records, queuing structures and the mapping table of lanes in host
// memory by an AXI4 master. The queue pairs, and the blocks that execute commands, are outside. A command in send queue mode leaves as a
// post notice.
module hca_front #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,  // A power of two.
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,  // Of the pool.
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,
    parameter bit SCOREBOARD_VARIANT_DIRECT = 1'b0,
    parameter int unsigned FINISHES = 2,
    parameter int unsigned PORTS = 1,
    parameter logic [63:0] CLOCK_FREQUENCY = 64'd250_000_000,  // Unit: hertz.
    parameter logic [8*32-1:0] BOARD_NAME = '0,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned REGISTER_ADDRESS_WIDTH = 16 + $clog2(UNDERLYING_FUNCTIONS + 2)
) (
    input logic clock,
    input logic reset,  // For QUEUE_PAIRS clocks after it commands are collected and not yet started.

    // The same by register: with device_reset, one clock long, the blocks behind are to be reset too. It comes when what is under way has
    // ended and drained is set: they have no DMA under way, and begin none while resetting is set.
    output logic resetting,
    output logic device_reset,
    input logic drained,

    // Of a function, by register: as long as its bit is set its queue pairs are not found, the blocks behind end what is started of it, and
    // have appended none of its queue pairs. function_drained: none of its DMA is under way, and none begins before its bit is clear again.
    output logic [UNDERLYING_FUNCTIONS-1:0] function_resetting,
    input logic [UNDERLYING_FUNCTIONS-1:0] function_drained,

    // Registers, AXI4-Lite: identity at 0, control at 64 KiB, the page of function n at (n + 2) * 64 KiB.
    input logic [REGISTER_ADDRESS_WIDTH-1:0] register_awaddr,
    input logic register_awvalid,
    output logic register_awready,
    input logic [31:0] register_wdata,
    input logic [3:0] register_wstrb,
    input logic register_wvalid,
    output logic register_wready,
    output logic [1:0] register_bresp,
    output logic register_bvalid,
    input logic register_bready,
    input logic [REGISTER_ADDRESS_WIDTH-1:0] register_araddr,
    input logic register_arvalid,
    output logic register_arready,
    output logic [31:0] register_rdata,
    output logic [1:0] register_rresp,
    output logic register_rvalid,
    input logic register_rready,

    // VCB pages, AXI4. awuser: the function whose BAR was written, and in its highest bit whether that is known.
    input logic [VCB_WIDTH+11:0] collect_awaddr,
    input logic [7:0] collect_awlen,
    input logic [2:0] collect_awsize,
    input logic [FUNCTION_WIDTH:0] collect_awuser,
    input logic collect_awvalid,
    output logic collect_awready,
    input logic [BEAT_BYTES*8-1:0] collect_wdata,
    input logic [BEAT_BYTES-1:0] collect_wstrb,
    input logic collect_wlast,
    input logic collect_wvalid,
    output logic collect_wready,
    output logic [1:0] collect_bresp,
    output logic collect_bvalid,
    input logic collect_bready,
    input logic [7:0] collect_arlen,
    input logic collect_arvalid,
    output logic collect_arready,
    output logic [BEAT_BYTES*8-1:0] collect_rdata,
    output logic [1:0] collect_rresp,
    output logic collect_rlast,
    output logic collect_rvalid,
    input logic collect_rready,

    // Host memory, AXI4. awuser and aruser: the function whose memory it is.
    output logic [63:0] memory_awaddr,
    output logic [7:0] memory_awlen,
    output logic [2:0] memory_awsize,
    output logic [FUNCTION_WIDTH-1:0] memory_awuser,
    output logic memory_awvalid,
    input logic memory_awready,
    output logic [BEAT_BYTES*8-1:0] memory_wdata,
    output logic [BEAT_BYTES-1:0] memory_wstrb,
    output logic memory_wlast,
    output logic memory_wvalid,
    input logic memory_wready,
    input logic [1:0] memory_bresp,
    input logic memory_bvalid,
    output logic memory_bready,
    output logic [63:0] memory_araddr,
    output logic [7:0] memory_arlen,
    output logic [2:0] memory_arsize,
    output logic [FUNCTION_WIDTH-1:0] memory_aruser,
    output logic memory_arvalid,
    input logic memory_arready,
    input logic [BEAT_BYTES*8-1:0] memory_rdata,
    input logic [1:0] memory_rresp,
    input logic memory_rlast,
    input logic memory_rvalid,
    output logic memory_rready,

    // Commands that are started, AXI4-Stream: header, then payload. tuser: its kick.
    output logic command_tvalid,
    input logic command_tready,
    output logic [BEAT_BYTES*8-1:0] command_tdata,
    output logic [BEAT_BYTES-1:0] command_tkeep,
    output logic command_tlast,
    output hca_spec_pkg::kick_unit_t command_tuser,

    // Commands of management pages, AXI4-Stream: header, then payload. Their PCBs come back by themselves.
    output logic management_tvalid,
    input logic management_tready,
    output logic [BEAT_BYTES*8-1:0] management_tdata,
    output logic [BEAT_BYTES-1:0] management_tkeep,
    output logic management_tlast,
    output hca_spec_pkg::management_unit_t management_tuser,

    // Commands that send_queue_scheduler fetched, in dedicated PCBs.
    input logic kick_scheduled,
    output logic kick_scheduled_ready,
    input hca_spec_pkg::kick_unit_t kick_scheduled_unit,

    // A PCB whose command has been read comes back; ends of commands, which return credits.
    input logic release_command,
    output logic release_command_ready,
    input logic [PCB_WIDTH-1:0] release_command_physical_collect_buffer,
    input logic [FINISHES-1:0] finish,
    output logic [FINISHES-1:0] finish_ready,
    input logic [FINISHES*hca_spec_pkg::FINISH_UNIT_BYTES*8-1:0] finish_unit,

    // Kick records of what the others do: a scheduled kick, or the last packet of a command. `now`: the device clock.
    input logic record,
    output logic record_ready,
    input hca_spec_pkg::kick_record_type_t record_type,
    input hca_spec_pkg::kick_unit_t record_unit,
    input hca_spec_pkg::opcode_t record_opcode,
    input logic [63:0] record_begin,
    output logic [63:0] now,

    // Queuing structures: append, given, take and turn_out of the block of that name.
    input logic queuing_append,
    output logic queuing_append_ready,
    input hca_spec_pkg::schedule_request_t queuing_append_unit,
    output logic [2*UNDERLYING_FUNCTIONS-1:0] queuing_given,
    output logic queuing_any,
    input logic queuing_take,
    output logic queuing_take_ready,
    output logic queuing_taken,
    output hca_spec_pkg::schedule_request_t queuing_taken_unit,
    output logic queuing_condemned,
    output logic queuing_any_condemned,
    input logic queuing_turn_out,
    output logic queuing_turn_out_ready,
    output logic queuing_turned_out,
    output hca_spec_pkg::schedule_request_t queuing_turned_out_unit,
    output logic [7:0] queuing_turned_out_refusal,

    // Commands that lie in a send queue, and events. notice_credit: there is room for eight more of each.
    input logic notice_credit,
    output logic post_notice,
    output hca_spec_pkg::post_notice_t post_notice_unit,
    output logic refused,
    output hca_spec_pkg::event_unit_t refused_event,
    output logic half_written,
    output hca_spec_pkg::event_unit_t half_written_event,
    output logic fault,  // A DMA reached nothing.
    output hca_spec_pkg::event_unit_t fault_event,

    // Queue pairs: each answer in the next clock.
    output logic find,
    output logic [FUNCTION_WIDTH-1:0] find_underlying_function,
    output logic [23:0] find_queue_pair_number,
    input logic queue_pair_found,
    input hca_spec_pkg::quality_of_service_level_t queue_pair_quality_of_service_level,
    input logic [31:0] queue_pair_checksum_secret,
    output logic pin,
    output logic [23:0] pin_queue_pair_number,
    input logic pinned,
    output logic unpin,
    output logic [23:0] unpin_queue_pair_number
);
  if (BEAT_BYTES != 8 && BEAT_BYTES != 16 && BEAT_BYTES != 32 && BEAT_BYTES != 64
      || UNDERLYING_FUNCTIONS > hca_spec_pkg::UNDERLYING_FUNCTIONS) begin : gen_check
    $error("BEAT_BYTES can be 8, 16, 32 or 64; there are registers for as many functions as fpga/spec has at most");
  end

  localparam int unsigned PAGE_WIDTH = VCB_WIDTH + 1;
  localparam int unsigned COUNT_WIDTH = $clog2(PHYSICAL_COLLECT_BUFFERS + 1) + 2;
  localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES);
  localparam int unsigned COMPLETION_CREDITS = TRANSMIT_VIRTUAL_LANES * hca_spec_pkg::COMPLETION_CREDITS_PER_LANE
      + hca_spec_pkg::SHARED_COMPLETION_CREDITS;
  localparam int unsigned COMMANDS_WIDTH = $clog2(BUFFERS + COMPLETION_CREDITS + 1);

  logic block_reset, reset_request, enabled, control_granted, control, control_ready, control_done, set_bar, set_allotment,
      allotment_allowed;
  logic [63:0] half_written_limit;
  logic write, write_ready, write_allowed, idle;
  logic [FUNCTION_WIDTH-1:0] write_underlying_function, read_underlying_function;
  logic [15:0] write_offset, read_offset;
  logic [31:0] write_data;
  logic [63:0] inspect_value;
  logic [31:0] lane_value;
  logic select, select_done;
  logic [31:0] select_value;
  logic [PAGE_WIDTH-1:0] inspect_page;
  logic [PCB_WIDTH-1:0] inspect_physical_collect_buffer;
  logic [2:0] inspect_state;
  logic [7:0] inspect_refusal;
  logic [hca_spec_pkg::SEGMENTS-1:0] inspect_scoreboard, inspect_scoreboard_mask;
  logic [BUFFERS-1:0] free_buffers;
  logic kick_started, pages_arready;
  logic [2:0] control_command;
  logic [PAGE_WIDTH-1:0] control_page;
  logic [FUNCTION_WIDTH-1:0] set_underlying_function, counted_underlying_function;
  logic [VCB_WIDTH:0] set_bar_base, set_bar_count, set_bar_low, set_bar_high;
  logic [COUNT_WIDTH-1:0] set_allotment_low, set_allotment_high, set_allotment_shared;
  logic [11:0] identity_address;
  logic [31:0] identity_data;
  logic identity_known, write_unclaimed, write_dropped, command_cancelled, send_queue_mode_entered;
  logic kick, send_queue_mode_kick, kick_record;
  logic [VCB_WIDTH-1:0] kick_virtual_collect_buffer;
  hca_spec_pkg::opcode_t kick_opcode;
  logic [63:0] kick_first_write;
  hca_spec_pkg::kick_unit_t kick_unit;
  logic [PCB_WIDTH-1:0] read_physical_collect_buffer, control_physical_collect_buffer;
  logic [BEATS_WIDTH-1:0] read_beat;
  logic [BEAT_BYTES*8-1:0] read_data;

  identity_registers #(
      .BEAT_BYTES(BEAT_BYTES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(DEDICATED_PHYSICAL_COLLECT_BUFFERS),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS),
      .TRANSMIT_VIRTUAL_LANES(TRANSMIT_VIRTUAL_LANES),
      .QUEUE_PAIRS(QUEUE_PAIRS),
      .SCOREBOARD_VARIANT_DIRECT(SCOREBOARD_VARIANT_DIRECT),
      .PORTS(PORTS),
      .CLOCK_FREQUENCY(CLOCK_FREQUENCY),
      .BOARD_NAME(BOARD_NAME)
  ) i_identity_registers (
      .address(identity_address),
      .data(identity_data),
      .known(identity_known)
  );

  // Control commands of collect_buffer: of the registers, of locks, of resets of a function, of the device being disabled.
  logic [3:0] requests, requests_done;
  logic [11:0] request_commands;
  logic [4*PAGE_WIDTH-1:0] request_pages;
  logic disable_device, disable_done, host_writes;
  logic function_reset_request;
  logic [FUNCTION_WIDTH-1:0] function_reset_underlying_function, forget_underlying_function;
  logic [VCB_WIDTH:0] bar_base, bar_count;
  logic lock, unlock, break_lock, lock_done;
  logic [FUNCTION_WIDTH-1:0] lock_underlying_function;
  logic [7:0] break_physical_collect_buffer;
  logic [31:0] lock_value, dedicated_value;
  logic page_write, page_write_done, beat_unclaimed;
  logic [FUNCTION_WIDTH-1:0] page_write_underlying_function;
  logic [11:0] page_write_offset;
  logic [31:0] page_write_data;
  logic [3:0] page_write_strobes;

  logic moving, move_done, move_allowed, move_looks, wide_known, wide_now, wide_ready, wide_write, wide_allowed;
  logic [VCB_WIDTH:0] old_base, old_count, new_base, new_count;
  logic [VCB_WIDTH-1:0] move_virtual_collect_buffer;
  logic [PAGE_WIDTH-1:0] window_page;
  logic [15:0] wide_offset;
  logic [63:0] wide_value, lane_map_value, function_lanes_value, host_memory_value;
  logic [31:0] wide_low;
  logic set_lanes, set_shared_lanes, set_lanes_allowed, set_shared_lanes_allowed;
  logic [FUNCTION_WIDTH-1:0] set_lanes_underlying_function, query_lanes_underlying_function;
  hca_spec_pkg::quality_of_service_level_t set_lanes_quality_of_service_level, query_lanes_quality_of_service_level;
  logic [TRANSMIT_VIRTUAL_LANES-1:0] set_lanes_lanes, query_lanes, shared_lanes;
  logic set_lane_map_address, set_lane_map_address_ready, set_lane_map_address_allowed;
  logic [63:0] set_lane_map_address_address, lane_map_address, lanes_read_lanes;
  logic invalidate_lanes, fetch_lanes, lanes_read, lanes_read_known, fetched_lanes;
  logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries;
  logic [FUNCTION_WIDTH-1:0] fetch_lanes_underlying_function;
  hca_spec_pkg::quality_of_service_level_t fetch_lanes_quality_of_service_level;

  control_commands #(
      .PARTS(4),
      .PAGE_WIDTH(PAGE_WIDTH)
  ) i_control_commands (
      .reset(block_reset),
      .request(requests),
      .request_command(request_commands),
      .request_page(request_pages),
      .request_done(requests_done),
      .*
  );

  host_registers #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS)
  ) i_host_registers (
      .read_value(host_memory_value),
      .lanes_value(function_lanes_value),
      .window_value(inspect_value | lane_map_value | {32'd0, lane_value | dedicated_value}),
      .request(requests[0]),
      .request_command(request_commands[0*3+:3]),
      .request_page(request_pages[0*PAGE_WIDTH+:PAGE_WIDTH]),
      .request_done(requests_done[0]),
      .bar_underlying_function(forget_underlying_function),
      .counted({send_queue_mode_entered, command_cancelled, write_dropped, refused, send_queue_mode_kick, kick}),
      .*
  );

  bar_move #(
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS)
  ) i_bar_move (
      .done(move_done),
      .allowed(move_allowed),
      .looks(move_looks),
      .look_virtual_collect_buffer(move_virtual_collect_buffer),
      .look_state(inspect_state),
      .*
  );
  assign inspect_page = move_looks ? {1'b0, move_virtual_collect_buffer} : window_page;

  lane_map_registers #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .TRANSMIT_VIRTUAL_LANES(TRANSMIT_VIRTUAL_LANES)
  ) i_lane_map_registers (
      .control_read_value(lane_map_value),
      .function_read_value(function_lanes_value),
      .*
  );

  logic [2:0] dedicated_state;
  logic [FUNCTION_WIDTH-1:0] dedicated_function;
  logic [PCB_WIDTH-1:0] dedicated_queried;

  logic buffer_back, management_back, manages;
  logic [PCB_WIDTH-1:0] buffer_back_number, management_back_number;
  logic management;
  hca_spec_pkg::management_unit_t management_unit;

  management_locks #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(DEDICATED_PHYSICAL_COLLECT_BUFFERS),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS)
  ) i_management_locks (
      .reset(block_reset),
      .request(requests[1]),
      .request_command(request_commands[1*3+:3]),
      .request_page(request_pages[1*PAGE_WIDTH+:PAGE_WIDTH]),
      .request_done(requests_done[1]),
      .release_buffer(buffer_back),
      .release_physical_collect_buffer(buffer_back_number),
      .read_value(dedicated_value),
      .query_physical_collect_buffer(dedicated_queried),
      .query_state(dedicated_state),
      .query_underlying_function(dedicated_function),
      .*
  );

  logic forget_records, forget_records_done, forget_structures, forget_structures_done;
  logic [FUNCTION_WIDTH-1:0] commands_function;
  logic [COMMANDS_WIDTH-1:0] commands_of_function;

  function_reset #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .BUFFERS(BUFFERS),
      .COMMANDS_WIDTH(COMMANDS_WIDTH)
  ) i_function_reset (
      .reset(block_reset),
      .request(requests[2]),
      .request_command(request_commands[2*3+:3]),
      .request_page(request_pages[2*PAGE_WIDTH+:PAGE_WIDTH]),
      .request_done(requests_done[2]),
      .release_buffer(buffer_back),
      .release_physical_collect_buffer(buffer_back_number),
      .query_underlying_function(commands_function),
      .query_function_commands(commands_of_function),
      .*
  );

  host_memory #(
      .BEAT_BYTES(BEAT_BYTES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .QUEUE_PAIRS(QUEUE_PAIRS)
  ) i_host_memory (
      .reset(block_reset),
      .read_value(host_memory_value),
      .append(queuing_append),
      .append_ready(queuing_append_ready),
      .append_unit(queuing_append_unit),
      .given(queuing_given),
      .any(queuing_any),
      .take(queuing_take),
      .take_ready(queuing_take_ready),
      .taken(queuing_taken),
      .taken_unit(queuing_taken_unit),
      .condemned(queuing_condemned),
      .any_condemned(queuing_any_condemned),
      .turn_out(queuing_turn_out),
      .turn_out_ready(queuing_turn_out_ready),
      .turned_out(queuing_turned_out),
      .turned_out_unit(queuing_turned_out_unit),
      .turned_out_refusal(queuing_turned_out_refusal),
      .*
  );

  device_disable #(
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS)
  ) i_device_disable (
      .reset(block_reset),
      .request(requests[3]),
      .request_command(request_commands[3*3+:3]),
      .request_page(request_pages[3*PAGE_WIDTH+:PAGE_WIDTH]),
      .request_done(requests_done[3]),
      .*
  );

  // Resets. A burst that has begun goes on until it is answered, and so do an access to a lock and a command in a stream.
  logic is_quiet, reads_pages, writes_pages;
  assign block_reset = reset || device_reset;
  assign is_quiet = idle && drained && !writes_pages && !reads_pages && !kick_started && !command_tvalid && !management
      && !manages && !lock;
  always_ff @(posedge clock) begin
    if (reset) reads_pages <= 1'b0;
    else reads_pages <= collect_arvalid && collect_arready || reads_pages && !(collect_rvalid && collect_rready && collect_rlast);
  end

  device_reset i_device_reset (.*);

  inspect_window #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .BUFFERS(BUFFERS)
  ) i_inspect_window (
      .reset(block_reset),
      .read_value(inspect_value),
      .inspect_page(window_page),
      .inspect_taken(move_looks),
      .query_physical_collect_buffer(dedicated_queried),
      .query_state(dedicated_state),
      .query_underlying_function(dedicated_function),
      .*
  );

  // From the kick of a command to the streams. As long as the device is not enabled, writes bring nothing.
  logic unit_credit, stale_release, command_read, management_read;
  logic [4:0] kicks_waiting;
  logic [PCB_WIDTH-1:0] command_read_buffer, management_read_buffer;
  logic [BEATS_WIDTH-1:0] command_read_beat, management_read_beat;
  logic [7:0] stale_buffer;

  assign unit_credit = kicks_waiting <= 5'd8 && notice_credit;
  assign release_command_ready = !stale_release && !management_back;
  assign buffer_back = stale_release || management_back || release_command;
  assign buffer_back_number = stale_release ? PCB_WIDTH'(stale_buffer) :
      management_back ? management_back_number : release_command_physical_collect_buffer;

  // Told by the parts, and not asked for here.
  logic unused, collect_has_responses, collect_store_ready;
  logic [1:0] collect_responses;
  logic [VCB_WIDTH:0] beat_page;
  assign unused = &{1'b0, stale_buffer, management_unit, command_read, collect_responses, collect_has_responses, collect_store_ready, beat_page};

  logic [VCB_WIDTH+12:0] pages_awaddr;
  logic [7:0] pages_awlen;
  logic [2:0] pages_awsize;
  logic [FUNCTION_WIDTH:0] pages_awuser;
  logic beat_done, pages_awvalid, pages_awready, pages_wlast, pages_wvalid, pages_wready;
  logic [BEAT_BYTES*8-1:0] pages_wdata;
  logic [BEAT_BYTES-1:0] pages_wstrb;

  page_writes #(
      .BEAT_BYTES(BEAT_BYTES),
      .VCB_WIDTH(VCB_WIDTH),
      .FUNCTION_WIDTH(FUNCTION_WIDTH)
  ) i_page_writes (
      .reset(block_reset),
      .under_way(writes_pages),
      .collect_hold(resetting),
      .collect_enabled(enabled),
      .pages_beat_done(beat_done),
      .*
  );

  assign collect_arready = pages_arready && !resetting;

  collect_buffer #(
      .BEAT_BYTES(BEAT_BYTES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .VIRTUAL_COLLECT_BUFFERS(VIRTUAL_COLLECT_BUFFERS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(DEDICATED_PHYSICAL_COLLECT_BUFFERS),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS)
  ) i_collect_buffer (
      .reset(block_reset),
      .store('0),
      .store_ready(collect_store_ready),
      .store_physical_collect_buffer('0),
      .store_beat('0),
      .store_data('0),
      .scoreboard_variant(SCOREBOARD_VARIANT_DIRECT ? hca_spec_pkg::SCOREBOARD_VARIANT_DIRECT :
          hca_spec_pkg::SCOREBOARD_VARIANT_MASKED),
      .awaddr(pages_awaddr),
      .awlen(pages_awlen),
      .awsize(pages_awsize),
      .awuser(pages_awuser),
      .awvalid(pages_awvalid),
      .awready(pages_awready),
      .wdata(pages_wdata),
      .wstrb(pages_wstrb),
      .wlast(pages_wlast),
      .wvalid(pages_wvalid),
      .wready(pages_wready),
      .bresp(collect_responses),
      .bvalid(collect_has_responses),
      .bready(1'b1),
      .arlen(collect_arlen),
      .arvalid(collect_arvalid && !resetting),
      .arready(pages_arready),
      .rdata(collect_rdata),
      .rresp(collect_rresp),
      .rlast(collect_rlast),
      .rvalid(collect_rvalid),
      .rready(collect_rready),
      .release_buffer(buffer_back),
      .release_physical_collect_buffer(buffer_back_number),
      .*
  );

  kicked_commands #(
      .BEAT_BYTES(BEAT_BYTES),
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .TRANSMIT_VIRTUAL_LANES(TRANSMIT_VIRTUAL_LANES),
      .QUEUE_PAIRS(QUEUE_PAIRS),
      .BUFFERS(BUFFERS),
      .FINISHES(FINISHES),
      .COMMANDS_WIDTH(COMMANDS_WIDTH)
  ) i_kicked_commands (
      .reset(block_reset),
      .read(command_read),
      .read_ready(!management_read),
      .read_physical_collect_buffer(command_read_buffer),
      .read_beat(command_read_beat),
      .*
  );

  management_commands #(
      .BEAT_BYTES(BEAT_BYTES),
      .BUFFERS(BUFFERS),
      .COMMANDS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS)
  ) i_management_commands (
      .reset(block_reset),
      .is_under_way(manages),
      .read(management_read),
      .read_physical_collect_buffer(management_read_buffer),
      .read_beat(management_read_beat),
      .back(management_back),
      .back_number(management_back_number),
      .other_back(stale_release),
      .*
  );
  assign read_physical_collect_buffer = management_read ? management_read_buffer : command_read_buffer;
  assign read_beat = management_read ? management_read_beat : command_read_beat;
endmodule
