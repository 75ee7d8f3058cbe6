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
    parameter int unsigned OUTSTANDING = 64,  // Of host_port.
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,
    input logic [63:0] now,  // Clock ticks.

    // A kick of collect_buffer. Then a record of any other block, which knows no VCB: a scheduled kick, or the last packet of a command.
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

    // The ring of a function is forgotten, while no record is under way.
    input logic forget,
    input logic [FUNCTION_WIDTH-1:0] forget_underlying_function,
    output logic forget_done,

    // Registers of the functions, by offset in their page. A write is taken while no record is under way, and changes nothing where it is
    // not allowed. A register of 64 bits is written in halves and read whole, at its lower offset.
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

    // To host_port: a word is read, a line written.
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
    output logic answer_counts  // Its ring has not been turned off meanwhile.
);
  localparam int unsigned ENTRIES_LOG2_MAXIMUM = 16;
  localparam int unsigned NEARLY_FULL_LOG2 = 3;  // An eighth of the ring is left.
  localparam logic [15:0] NO_BUFFER = 16'hffff;
  localparam logic [FUNCTION_WIDTH-1:0] CONTROL_FUNCTION = '0;
  localparam logic [7:0] NO_LANE = 8'hff;
  localparam int unsigned PAGE_ALIGNMENT = 4096;
  localparam int unsigned ROUND_WIDTH = 4;
  localparam int unsigned WAITING = 8;
  localparam int unsigned KICK_WIDTH = hca_spec_pkg::KICK_UNIT_BYTES * 8;
  localparam int unsigned UNIT_WIDTH = 8 + KICK_WIDTH + 16 + 8 + 64 + 64 + 2 * ROUND_WIDTH;
  localparam logic [1:0] IDLE = 2'd0;
  localparam logic [1:0] READ_HEAD = 2'd1;
  localparam logic [1:0] AWAIT_HEAD = 2'd2;
  localparam logic [1:0] WRITE_RECORD = 2'd3;
  localparam int unsigned OUTSTANDING_WIDTH = $clog2(OUTSTANDING) + 1;

  // By function.
  logic [UNDERLYING_FUNCTIONS-1:0] enabled;
  logic [4:0] entries_log2[UNDERLYING_FUNCTIONS];
  logic [63:0] addresses[UNDERLYING_FUNCTIONS];
  logic [63:0] head_addresses[UNDERLYING_FUNCTIONS];
  logic [31:0] tails[UNDERLYING_FUNCTIONS];  // Records on their way, and written, modulo 2^32.
  logic [31:0] heads[UNDERLYING_FUNCTIONS];  // The host's, as of the last time it was read.
  logic [31:0] drops[UNDERLYING_FUNCTIONS];  // Since the ring began.
  logic [ROUND_WIDTH-1:0] rounds[UNDERLYING_FUNCTIONS];  // Rings begun: what waits since before belongs to none.
  logic [63:0] written_counts[UNDERLYING_FUNCTIONS];
  logic [63:0] dropped_counts[UNDERLYING_FUNCTIONS];

  logic all_functions;  // Records of all of them go to the ring of the control function,
  logic gathers;  // which is on.

  // Records that wait.
  logic [3:0] filling;
  logic has_place, pushes, overflows, has_record, pops;
  logic [FUNCTION_WIDTH-1:0] pushed_function, function_now;
  hca_spec_pkg::kick_record_type_t pushed_type, type_now;
  hca_spec_pkg::kick_unit_t pushed_unit, unit_now;
  logic [15:0] pushed_buffer, buffer_now;
  hca_spec_pkg::opcode_t pushed_opcode, opcode_now;
  logic [63:0] pushed_begin, begin_now, end_now;
  logic [ROUND_WIDTH-1:0] round_now, control_round_now;

  assign has_place = filling != 4'(WAITING);
  assign record_ready = has_place && !kick_record;
  assign pushed_type = kick_record ? hca_spec_pkg::KICK_RECORD_TYPE_KICKED : record_type;
  assign pushed_unit = kick_record ? kick_unit : record_unit;
  assign pushed_buffer = kick_record ? 16'(kick_virtual_collect_buffer) : NO_BUFFER;
  assign pushed_opcode = kick_record ? kick_opcode : record_opcode;
  assign pushed_begin = kick_record ? kick_first_write : record_begin;
  assign pushed_function = FUNCTION_WIDTH'(pushed_unit.underlying_function);
  assign gathers = enabled[CONTROL_FUNCTION] && all_functions;
  assign pushes = (kick_record || record) && has_place && (enabled[pushed_function] || gathers);
  assign overflows = kick_record && !has_place;

  unit_queue #(
      .UNIT_WIDTH(UNIT_WIDTH),
      .ENTRIES(WAITING)
  ) i_records (
      .push(pushes),
      .push_unit({
        pushed_type, pushed_unit, pushed_buffer, pushed_opcode, pushed_begin, now, rounds[pushed_function], rounds[CONTROL_FUNCTION]
      }),
      .valid(has_record),
      .unit({type_now, unit_now, buffer_now, opcode_now, begin_now, end_now, round_now, control_round_now}),
      .pop(pops),
      .*
  );

  // The one that is at work: for the ring of its function, then for that of the control function where it is to be there too.
  logic [1:0] state;
  logic is_gathered, finishes, is_to_be_gathered;
  logic [FUNCTION_WIDTH-1:0] ring_now;
  logic belongs, is_nearly_full, is_head, has_room, drops_now, begins_writing;
  logic [OUTSTANDING_WIDTH-1:0] outstanding;  // Records that wait for their answers.
  logic [31:0] entries, tail, used, slot;
  logic [63:0] address;

  assign function_now = FUNCTION_WIDTH'(unit_now.underlying_function);
  assign ring_now = is_gathered ? CONTROL_FUNCTION : function_now;
  assign is_to_be_gathered = gathers && function_now != CONTROL_FUNCTION && control_round_now == rounds[CONTROL_FUNCTION];
  assign belongs = is_gathered ? is_to_be_gathered : enabled[function_now] && round_now == rounds[function_now];
  assign entries = 32'd1 << entries_log2[ring_now];
  assign tail = tails[ring_now];
  assign used = tail - heads[ring_now];
  assign is_nearly_full = used >= entries - (entries >> NEARLY_FULL_LOG2);
  assign has_room = answer_ok && tail - answer_data[31:0] < entries;
  assign slot = tail & (entries - 32'd1);
  assign address = addresses[ring_now] + {26'd0, slot, 6'd0};

  assign request = (state == READ_HEAD || state == WRITE_RECORD) && belongs;
  assign request_is_write = state == WRITE_RECORD;
  assign request_underlying_function = ring_now;
  assign request_address = request_is_write ? address : head_addresses[ring_now];
  assign begins_writing = request && request_is_write && request_ready;
  assign is_head = answer && !answer_is_write;
  assign answer_counts = enabled[answer_underlying_function];
  assign finishes = state == IDLE && has_record && !belongs || is_head && !has_room || begins_writing;
  assign pops = finishes && (is_gathered || !is_to_be_gathered);
  assign drops_now = answer && answer_counts && !(answer_is_write ? answer_ok : has_room);

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
    request_record.dropped = drops[ring_now];
    request_record.phase = (tail >> entries_log2[ring_now] & 32'd1) == '0;
    request_record.sequence_ = tail[30:0];
  end

  always_ff @(posedge clock) begin
    if (reset) state <= IDLE;
    else
      case (state)
        IDLE: if (has_record && belongs && !write && !forget) state <= is_nearly_full ? READ_HEAD : WRITE_RECORD;
        READ_HEAD: if (!belongs) state <= IDLE;
        else if (request_ready) state <= AWAIT_HEAD;
        AWAIT_HEAD: if (is_head) state <= has_room ? WRITE_RECORD : IDLE;
        default: if (!belongs || request_ready) state <= IDLE;
      endcase
    if (reset) is_gathered <= 1'b0;
    else if (finishes) is_gathered <= !pops;
    if (reset) outstanding <= '0;
    else outstanding <= outstanding + OUTSTANDING_WIDTH'(begins_writing) - OUTSTANDING_WIDTH'(answer && answer_is_write);
  end

  // Registers.
  logic is_control, is_address, is_address_high, is_head_address, is_head_address_high, writes, turns_on;
  logic [4:0] entries_log2_written;
  hca_spec_pkg::underlying_function_kick_record_control_t control_written, control_read;
  logic unused_bits;

  assign is_control = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET;
  assign is_address = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET;
  assign is_address_high = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET + 4;
  assign is_head_address = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET;
  assign is_head_address_high = 32'(write_offset) == hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET + 4;
  assign control_written = write_data;
  assign entries_log2_written = control_written.entries_log2;
  assign turns_on = control_written.enable && entries_log2_written <= 5'(ENTRIES_LOG2_MAXIMUM);
  assign unused_bits = &{1'b0, control_written, answer_data[63:32], unit_now, kick_unit, record_unit};
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
    control_read.entries_log2 = entries_log2[read_underlying_function];
  end
  always_comb begin
    case (32'(read_offset))
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET: read_value = {32'd0, control_read};
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET: read_value = addresses[read_underlying_function];
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET: read_value = head_addresses[read_underlying_function];
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORDS_WRITTEN_OFFSET: read_value = written_counts[read_underlying_function];
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORDS_DROPPED_OFFSET: read_value = dropped_counts[read_underlying_function];
      default: read_value = '0;
    endcase
  end

  // Functions of which something changes; simulation has no work with the others.
  logic [UNDERLYING_FUNCTIONS-1:0] is_written, is_answered, is_dropped, overflows_here, is_forgotten, begins_here, changes;
  assign is_written = UNDERLYING_FUNCTIONS'(writes) << write_underlying_function;
  assign is_answered = UNDERLYING_FUNCTIONS'(answer && answer_counts) << answer_underlying_function;
  assign is_dropped = UNDERLYING_FUNCTIONS'(drops_now) << answer_underlying_function;
  assign overflows_here = UNDERLYING_FUNCTIONS'(overflows && enabled[pushed_function]) << pushed_function
      | UNDERLYING_FUNCTIONS'(overflows && gathers) << CONTROL_FUNCTION;
  assign is_forgotten = UNDERLYING_FUNCTIONS'(forget && forget_done) << forget_underlying_function;
  assign begins_here = UNDERLYING_FUNCTIONS'(begins_writing) << ring_now;
  assign changes = reset ? '1 : is_written | is_answered | overflows_here | is_forgotten | begins_here;

  always_ff @(posedge clock) begin
    if (reset || is_forgotten[CONTROL_FUNCTION]) all_functions <= 1'b0;
    else if (is_written[CONTROL_FUNCTION] && is_control) all_functions <= control_written.all_functions;
  end

  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    always_ff @(posedge clock) begin
      if (changes[number]) begin
        if (reset) begin
          enabled[number] <= 1'b0;
          entries_log2[number] <= '0;
          addresses[number] <= '0;
          head_addresses[number] <= '0;
          tails[number] <= '0;
          heads[number] <= '0;
          drops[number] <= '0;
          rounds[number] <= '0;
          written_counts[number] <= '0;
          dropped_counts[number] <= '0;
        end else begin
          if (is_written[number] && is_address) addresses[number][31:0] <= write_data;
          if (is_written[number] && is_address_high) addresses[number][63:32] <= write_data;
          if (is_written[number] && is_head_address) head_addresses[number][31:0] <= write_data;
          if (is_written[number] && is_head_address_high) head_addresses[number][63:32] <= write_data;
          if (is_forgotten[number]) begin
            addresses[number] <= '0;
            head_addresses[number] <= '0;
          end
          if (is_written[number] && is_control || is_forgotten[number]) begin
            enabled[number] <= turns_on && !is_forgotten[number];
            entries_log2[number] <= is_forgotten[number] ? '0 : entries_log2_written;
            tails[number] <= '0;
            heads[number] <= '0;
            drops[number] <= '0;
            rounds[number] <= rounds[number] + ROUND_WIDTH'(1);
          end else begin
            drops[number] <= drops[number] + 32'(is_dropped[number]) + 32'(overflows_here[number]);
            if (is_answered[number] && !answer_ok) enabled[number] <= 1'b0;
            if (is_answered[number] && !answer_is_write && answer_ok) heads[number] <= answer_data[31:0];
            if (begins_here[number]) tails[number] <= tail + 32'd1;
          end
          written_counts[number] <= written_counts[number] + 64'(is_answered[number] && answer_is_write && answer_ok);
          dropped_counts[number] <= dropped_counts[number] + 64'(is_dropped[number]) + 64'(overflows_here[number]);
        end
      end
    end
  end
endmodule
