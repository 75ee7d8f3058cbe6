// Kick records: a ring of each function in host memory, with a record for every kick and for every command whose last packet has left. A
// full ring drops and counts records, and no block ever waits for it; a ring that DMA cannot reach is switched off. The block reads the
// host's head only when its copy shows that the ring is nearly full. Where the control function asks for them, a record of another function
// goes to that function's ring, and then to the ring of the control function as well.
//
// Up to eight records wait for the DMA; a kick beyond them is dropped and counted. Records are issued one behind the other, and their
// answers arrive later. After a record of a ring has failed, the others in flight do not count, because the host reads in order and stops
// at the missing one.
module kick_records #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned OUTSTANDING = 64,  // Requests that host_port may have in flight.
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,
    input logic [63:0] now,  // Clock ticks.

    // A kick of collect_buffer; below, a record of another block, which knows no VCB: a scheduled kick, or the last packet of a command.
    input logic kick_record,
    input hca_spec_pkg::kick_unit_t kick_unit,
    input logic [VCB_WIDTH-1:0] kick_virtual_collect_buffer,
    input hca_spec_pkg::opcode_t kick_opcode,
    input logic [63:0] kick_first_write,
    input logic record,
    output logic record_ready,
    input hca_spec_pkg::kick_record_type_t record_type,
    input hca_spec_pkg::kick_unit_t record_unit,
    input hca_spec_pkg::opcode_t record_opcode,
    input logic [63:0] record_begin,  // Clock ticks.

    // Forgets the ring of a function, while no record is in flight.
    input logic forget,
    input logic [FUNCTION_WIDTH-1:0] forget_underlying_function,
    output logic forget_done,

    // Registers of the functions, by offset in their page. A write is accepted while no record is in flight; a forbidden write changes
    // nothing. A register of 64 bits is written in halves and read whole, at its lower offset.
    input logic write,
    output logic write_ready,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [15:0] write_offset,
    input logic [31:0] write_data,
    output logic write_known,
    output logic write_allowed,
    input logic [FUNCTION_WIDTH-1:0] read_underlying_function,
    input logic [15:0] read_offset,
    output logic [63:0] read_value,

    // Requests to host_port: reads of a word, writes of a line.
    output logic request,
    input logic request_ready,
    output logic request_is_write,
    output logic [FUNCTION_WIDTH-1:0] request_underlying_function,
    output logic [63:0] request_address,
    output hca_spec_pkg::kick_record_t request_record,
    input logic answer,
    input logic answer_is_write,
    input logic answer_ok,
    input logic [FUNCTION_WIDTH-1:0] answer_underlying_function,
    input logic [63:0] answer_data,
    output logic answer_counts  // The ring of the answered request is still on.
);
  localparam int unsigned ENTRIES_LOG2_MAXIMUM = 16;
  localparam int unsigned NEARLY_FULL_LOG2 = 3;  // The ring is nearly full when an eighth of it is left.
  localparam logic [15:0] NO_BUFFER = 16'hffff;
  localparam logic [FUNCTION_WIDTH-1:0] CONTROL_FUNCTION = '0;
  localparam logic [7:0] NO_LANE = 8'hff;
  localparam int unsigned PAGE_ALIGNMENT = 4096;
  localparam int unsigned ROUND_WIDTH = 4;
  localparam int unsigned WAITING = 8;
  localparam int unsigned KICK_WIDTH = hca_spec_pkg::KICK_UNIT_BYTES * 8;
  localparam int unsigned RECORD_WIDTH = 8 + KICK_WIDTH + 16 + 8 + 64 + 64;
  localparam int unsigned UNIT_WIDTH = RECORD_WIDTH + 2 * ROUND_WIDTH;
  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] LOOK = 3'd1;
  localparam logic [2:0] WRITE_RECORD = 3'd2;
  localparam logic [2:0] READ_HEAD = 3'd3;
  localparam logic [2:0] AWAIT_HEAD = 3'd4;
  localparam logic [2:0] CHECK_HEAD = 3'd5;
  localparam int unsigned PLACES = 2 << FUNCTION_WIDTH;
  localparam int unsigned OUTSTANDING_WIDTH = $clog2(OUTSTANDING) + 1;

  // By function. Memories hold the register values that records are made of; a bit of each says whether the value is not zero.
  logic [UNDERLYING_FUNCTIONS-1:0] enabled, has_written, has_size;
  logic [UNDERLYING_FUNCTIONS*ROUND_WIDTH-1:0] rounds;  // Counts rings: a record that waited since an earlier ring belongs to none.
  logic [UNDERLYING_FUNCTIONS*32-1:0] drops;  // Records dropped since the ring began.
  logic [UNDERLYING_FUNCTIONS*64-1:0] dropped_counts;
  logic [PLACES-1:0] has_low, has_high;  // Halves of the addresses of the ring and of its head that are not zero.

  logic all_functions;  // Records of all functions go to the control function's ring as well.
  logic gathers;  // all_functions, and that ring is on.

  // Waiting records.
  logic [3:0] filling;
  logic has_place, pushes, overflows, has_record, loads;
  logic [RECORD_WIDTH-1:0] next_record;
  logic [FUNCTION_WIDTH-1:0] pushed_function, kicked_function, next_function;
  hca_spec_pkg::kick_record_type_t pushed_type, type_now;
  hca_spec_pkg::kick_unit_t pushed_unit, next_unit, unit_now;
  logic [15:0] pushed_buffer, buffer_now;
  logic [RECORD_WIDTH-1:0] record_now;
  hca_spec_pkg::opcode_t pushed_opcode, opcode_now;
  logic [63:0] pushed_begin, begin_now, end_now;
  logic [ROUND_WIDTH-1:0] control_round, next_round, next_control_round;

  assign has_place = filling != 4'(WAITING);
  assign record_ready = has_place && !kick_record;
  assign pushed_type = kick_record ? hca_spec_pkg::KICK_RECORD_TYPE_KICKED : record_type;
  assign pushed_unit = kick_record ? kick_unit : record_unit;
  assign pushed_buffer = kick_record ? 16'(kick_virtual_collect_buffer) : NO_BUFFER;
  assign pushed_opcode = kick_record ? kick_opcode : record_opcode;
  assign pushed_begin = kick_record ? kick_first_write : record_begin;
  assign pushed_function = FUNCTION_WIDTH'(pushed_unit.underlying_function);
  assign kicked_function = FUNCTION_WIDTH'(kick_unit.underlying_function);
  assign control_round = rounds[CONTROL_FUNCTION*ROUND_WIDTH+:ROUND_WIDTH];
  assign gathers = enabled[CONTROL_FUNCTION] && all_functions;
  assign pushes = (kick_record || record) && has_place && (enabled[pushed_function] || gathers);
  assign overflows = kick_record && !has_place;

  unit_queue #(
      .UNIT_WIDTH(UNIT_WIDTH),
      .ENTRIES(WAITING)
  ) i_records (
      .push(pushes),
      .push_unit({
        pushed_type, pushed_unit, pushed_buffer, pushed_opcode, pushed_begin, now, rounds[pushed_function*ROUND_WIDTH+:ROUND_WIDTH], control_round
      }),
      .valid(has_record),
      .unit({next_record, next_round, next_control_round}),
      .pop(loads),
      .*
  );

  // The record in progress: for the ring of its function, then for the ring of the control function where it goes there too. The state of
  // a ring is read one clock earlier.
  logic [2:0] state;
  logic is_gathered, finishes, goes_on, is_current, is_current_of_all, has_read;
  logic [FUNCTION_WIDTH-1:0] ring, drops_head_ring;
  logic belongs, is_nearly_full, is_nearly_full_now, asks_head, is_head, has_room, drops_head, begins_writing;
  logic [OUTSTANDING_WIDTH-1:0] outstanding;  // Records that wait for their answers.
  logic [31:0] tail, head;  // Modulo 2^32: records issued; the host's head as last read.
  logic [31:0] used_then;
  logic ok_then, counts_then;
  logic [15:0] slots;  // The entries of the ring, minus one.
  logic [16:0] threshold, threshold_written;  // The used entries at which the ring counts as nearly full.
  logic [63:0] base;  // Of the ring, or of its head: looked up in the clock before.

  assign {type_now, unit_now, buffer_now, opcode_now, begin_now, end_now} = record_now;
  assign next_unit = next_record[RECORD_WIDTH-9-:KICK_WIDTH];
  assign next_function = FUNCTION_WIDTH'(next_unit.underlying_function);
  assign belongs = is_gathered ? is_current_of_all && enabled[CONTROL_FUNCTION] : is_current && enabled[ring];
  assign is_nearly_full_now = tail - head >= 32'(threshold);
  assign has_room = ok_then && used_then[31:16] == '0 && (used_then[15:0] & ~slots) == '0;

  assign asks_head = is_nearly_full && !has_read;
  assign request = (state == READ_HEAD || state == WRITE_RECORD && !asks_head) && belongs;
  assign request_is_write = state == WRITE_RECORD;
  assign request_underlying_function = ring;
  assign request_address = base + (request_is_write ? {42'd0, tail[15:0] & slots, 6'd0} : 64'd0);
  assign begins_writing = request && request_is_write && request_ready;
  assign is_head = answer && !answer_is_write;
  assign answer_counts = enabled[answer_underlying_function];
  assign finishes = (state == WRITE_RECORD || state == READ_HEAD) && !belongs || state == CHECK_HEAD && !has_room || begins_writing;
  assign goes_on = !is_gathered && is_current_of_all && enabled[CONTROL_FUNCTION];
  assign loads = (state == IDLE || finishes && !goes_on) && has_record && !write && !forget;

  always_comb begin
    request_record = '0;
    request_record.type_ = type_now;
    request_record.underlying_function = 8'(unit_now.underlying_function);
    request_record.quality_of_service_level = unit_now.quality_of_service_level;
    request_record.origin = unit_now.origin;
    request_record.status = unit_now.status;
    request_record.kick_number = unit_now.kick_number;
    request_record.virtual_collect_buffer = buffer_now;
    request_record.physical_collect_buffer = unit_now.origin == hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE ? NO_BUFFER :
        16'(unit_now.physical_collect_buffer);
    request_record.transmit_virtual_lane = type_now == hca_spec_pkg::KICK_RECORD_TYPE_KICKED ? NO_LANE :
        unit_now.transmit_virtual_lane;
    request_record.opcode = opcode_now;
    request_record.send_queue_sequence_number = unit_now.send_queue_sequence_number;
    request_record.queue_pair_number = unit_now.queue_pair_number;
    request_record.length = 32'(unit_now.length);
    request_record.begin_ = begin_now;
    request_record.end_ = end_now;
    request_record.written = now;
    request_record.dropped = drops[ring*32+:32];
    request_record.phase = (tail[16:0] & ({slots, 1'b1} ^ {1'b0, slots})) == '0;
    request_record.sequence_ = tail[30:0];
  end

  always_ff @(posedge clock) begin
    if (reset) state <= IDLE;
    else if (loads || finishes && goes_on) state <= LOOK;
    else if (finishes) state <= IDLE;
    else
      case (state)
        LOOK: state <= WRITE_RECORD;
        WRITE_RECORD: if (asks_head) state <= READ_HEAD;
        READ_HEAD: if (request_ready) state <= AWAIT_HEAD;
        AWAIT_HEAD: if (is_head) state <= CHECK_HEAD;
        CHECK_HEAD: state <= WRITE_RECORD;
        default: ;
      endcase
    if (loads) begin
      record_now <= next_record;
      ring <= next_function;
      is_gathered <= 1'b0;
      is_current <= next_round == rounds[next_function*ROUND_WIDTH+:ROUND_WIDTH];
      is_current_of_all <= all_functions && next_function != CONTROL_FUNCTION && next_control_round == control_round;
    end else if (finishes) begin
      ring <= CONTROL_FUNCTION;
      is_gathered <= 1'b1;
    end
    is_nearly_full <= is_nearly_full_now;
    drops_head <= !reset && state == CHECK_HEAD && counts_then && !has_room;
    drops_head_ring <= ring;
    has_read <= state == CHECK_HEAD || has_read && state != LOOK;
    if (is_head) begin
      used_then <= tail - answer_data[31:0];
      ok_then <= answer_ok;
      counts_then <= answer_counts;
    end
    if (reset) outstanding <= '0;
    else outstanding <= outstanding + OUTSTANDING_WIDTH'(begins_writing) - OUTSTANDING_WIDTH'(answer && answer_is_write);
  end

  // Registers.
  logic is_control, is_address, is_address_high, is_head_address, is_head_address_high, writes, turns_on;
  logic [4:0] entries_log2_written, entries_log2_read;
  logic [16:0] entries_written;
  hca_spec_pkg::underlying_function_kick_record_control_t control_written, control_read;
  logic unused_bits;

  assign is_control = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET;
  assign is_address = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET;
  assign is_address_high = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET + 4;
  assign is_head_address = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET;
  assign is_head_address_high = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET + 4;
  assign control_written = write_data;
  assign entries_log2_written = control_written.entries_log2;
  assign entries_written = 17'd1 << (turns_on ? entries_log2_written : 5'd0);
  assign threshold_written = entries_written - (entries_written >> NEARLY_FULL_LOG2);
  assign turns_on = control_written.enable && entries_log2_written <= 5'(ENTRIES_LOG2_MAXIMUM);
  assign unused_bits = &{1'b0, control_written, answer_data[63:32], unit_now, next_unit, kick_unit, record_unit};
  assign write_known = is_control || is_address || is_address_high || is_head_address || is_head_address_high;
  assign write_allowed = is_control || is_address_high || is_head_address_high
      || is_address && write_data % PAGE_ALIGNMENT == '0
      || is_head_address && write_data % hca_spec_pkg::RING_HEAD_BYTES == '0;
  assign forget_done = state == IDLE && outstanding == '0;
  assign write_ready = forget_done && !forget;
  assign writes = write && write_ready && write_allowed;

  always_comb begin
    control_read = '0;
    control_read.enable = enabled[read_underlying_function];
    control_read.all_functions = all_functions && read_underlying_function == CONTROL_FUNCTION;
    control_read.entries_log2 = has_size[read_underlying_function] ? entries_log2_read : '0;
  end
  logic [63:0] written, read_written, read_address;
  always_comb begin
    case (32'(read_offset))
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET: read_value = {32'd0, control_read};
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET: read_value = read_address;
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET: read_value = read_address;
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORDS_WRITTEN_OFFSET: read_value = has_written[read_underlying_function] ? read_written : '0;
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORDS_DROPPED_OFFSET: read_value = dropped_counts[read_underlying_function*64+:64];
      default: read_value = '0;
    endcase
  end

  // Events, by function.
  logic counts_written, counted_written, sets_ring;
  logic [FUNCTION_WIDTH-1:0] counted_function;  // A clock later.
  logic [63:0] written_before, written_now;
  logic [UNDERLYING_FUNCTIONS-1:0] is_written, is_failed, is_dropped, is_dropped_head, overflows_here, is_forgotten, begins_ring;
  assign is_written = UNDERLYING_FUNCTIONS'(writes) << write_underlying_function;
  assign is_failed = UNDERLYING_FUNCTIONS'(answer && !answer_ok) << answer_underlying_function;
  assign is_dropped = UNDERLYING_FUNCTIONS'(answer && answer_counts && answer_is_write && !answer_ok) << answer_underlying_function;
  assign is_dropped_head = UNDERLYING_FUNCTIONS'(drops_head) << drops_head_ring;
  assign overflows_here = UNDERLYING_FUNCTIONS'(overflows && enabled[kicked_function]) << kicked_function
      | UNDERLYING_FUNCTIONS'(overflows && gathers) << CONTROL_FUNCTION;
  assign is_forgotten = UNDERLYING_FUNCTIONS'(forget && forget_done) << forget_underlying_function;
  assign begins_ring = (is_control ? is_written : '0) | is_forgotten;
  assign counts_written = answer && answer_counts && answer_is_write && answer_ok;
  assign sets_ring = writes && is_control;

  always_ff @(posedge clock) begin
    if (reset || is_forgotten[CONTROL_FUNCTION]) all_functions <= 1'b0;
    else if (is_written[CONTROL_FUNCTION] && is_control) all_functions <= control_written.all_functions;
    if (reset) begin
      enabled <= '0;
      has_size <= '0;
      has_written <= '0;
    end else begin
      enabled <= (enabled | (turns_on && is_control ? is_written : '0)) & ~is_failed & ~is_forgotten & ~(is_control && !turns_on ? is_written : '0);
      has_size <= (has_size | (is_control ? is_written : '0)) & ~is_forgotten;
      if (counted_written) has_written[counted_function] <= 1'b1;
    end
    counted_written <= counts_written && !reset;
    counted_function <= answer_underlying_function;
    written_before <= counted_written && counted_function == answer_underlying_function ? written_now :
        has_written[answer_underlying_function] ? written : '0;
  end
  assign written_now = written_before + 64'd1;

  // Something is lost, or was in the clock before, or a ring begins: else simulation has no work with any function.
  logic loses, has_lost, changes;
  assign loses = answer && !answer_ok || drops_head || overflows;
  assign changes = reset || loses || has_lost || sets_ring || forget;
  always_ff @(posedge clock) has_lost <= loses;

  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    logic [1:0] lost, lost_then, lost_of_ring;  // Counted one clock later.
    always_comb begin
      lost = '0;
      if (changes) lost = 2'(is_dropped[number]) + 2'(is_dropped_head[number]) + 2'(overflows_here[number]);
    end
    always_ff @(posedge clock) begin
      if (changes) begin
        lost_then <= reset ? '0 : lost;
        lost_of_ring <= reset || begins_ring[number] ? '0 : lost;
        if (reset) begin
          rounds[number*ROUND_WIDTH+:ROUND_WIDTH] <= '0;
          drops[number*32+:32] <= '0;
          dropped_counts[number*64+:64] <= '0;
        end else if (begins_ring[number] || lost_then != '0) begin
          if (begins_ring[number]) rounds[number*ROUND_WIDTH+:ROUND_WIDTH] <= rounds[number*ROUND_WIDTH+:ROUND_WIDTH] + ROUND_WIDTH'(1);
          drops[number*32+:32] <= begins_ring[number] ? '0 : drops[number*32+:32] + 32'(lost_of_ring);
          dropped_counts[number*64+:64] <= dropped_counts[number*64+:64] + 64'(lost_then);
        end
      end
    end
  end

  // Rings.
  lut_memory #(
      .WIDTH(16 + 17),
      .SIZE(1 << FUNCTION_WIDTH)
  ) i_sizes (
      .write(sets_ring),
      .write_address(write_underlying_function),
      .write_data({16'(entries_written - 17'd1), threshold_written}),
      .read_addresses(ring),
      .read_data({slots, threshold}),
      .*
  );

  lut_memory #(
      .WIDTH(5),
      .SIZE(1 << FUNCTION_WIDTH)
  ) i_sizes_written (
      .write(sets_ring),
      .write_address(write_underlying_function),
      .write_data(entries_log2_written),
      .read_addresses(read_underlying_function),
      .read_data(entries_log2_read),
      .*
  );

  lut_memory #(
      .WIDTH(32),
      .SIZE(1 << FUNCTION_WIDTH)
  ) i_tails (
      .write(sets_ring || begins_writing),
      .write_address(sets_ring ? write_underlying_function : ring),
      .write_data(sets_ring ? '0 : tail + 32'd1),
      .read_addresses(ring),
      .read_data(tail),
      .*
  );

  lut_memory #(
      .WIDTH(32),
      .SIZE(1 << FUNCTION_WIDTH)
  ) i_heads (
      .write(sets_ring || is_head && answer_ok && answer_counts),
      .write_address(sets_ring ? write_underlying_function : ring),
      .write_data(sets_ring ? '0 : answer_data[31:0]),
      .read_addresses(ring),
      .read_data(head),
      .*
  );

  lut_memory #(
      .WIDTH(64),
      .SIZE(1 << FUNCTION_WIDTH),
      .READERS(2)
  ) i_written (
      .write(counted_written),
      .write_address(counted_function),
      .write_data(written_now),
      .read_addresses({read_underlying_function, answer_underlying_function}),
      .read_data({read_written, written}),
      .*
  );

  // Addresses: of a ring, and of its head.
  logic [FUNCTION_WIDTH:0] written_place, read_place, place;
  logic [PLACES-1:0] written_bit, forgotten_bits;
  logic [31:0] base_low, base_high, read_low, read_high;
  assign written_place = {write_underlying_function, is_head_address || is_head_address_high};
  assign written_bit = PLACES'(1) << written_place;
  assign forgotten_bits = PLACES'(3) << {forget_underlying_function, 1'b0};
  assign read_place = {read_underlying_function, 32'(read_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET};
  assign place = {ring, state == READ_HEAD || state == WRITE_RECORD && asks_head};
  always_ff @(posedge clock) base <= {has_high[place] ? base_high : 32'd0, has_low[place] ? base_low : 32'd0};
  assign read_address = {has_high[read_place] ? read_high : 32'd0, has_low[read_place] ? read_low : 32'd0};
  always_ff @(posedge clock) begin
    if (reset) begin
      has_low <= '0;
      has_high <= '0;
    end else if (forget && forget_done) begin
      has_low <= has_low & ~forgotten_bits;
      has_high <= has_high & ~forgotten_bits;
    end else if (writes) begin
      if (is_address || is_head_address) has_low <= has_low | written_bit;
      if (is_address_high || is_head_address_high) has_high <= has_high | written_bit;
    end
  end

  lut_memory #(
      .WIDTH(32),
      .SIZE(PLACES),
      .READERS(2)
  ) i_low (
      .write(writes && (is_address || is_head_address)),
      .write_address(written_place),
      .write_data(write_data),
      .read_addresses({read_place, place}),
      .read_data({read_low, base_low}),
      .*
  );

  lut_memory #(
      .WIDTH(32),
      .SIZE(PLACES),
      .READERS(2)
  ) i_high (
      .write(writes && (is_address_high || is_head_address_high)),
      .write_address(written_place),
      .write_data(write_data),
      .read_addresses({read_place, place}),
      .read_data({read_high, base_high}),
      .*
  );
endmodule
