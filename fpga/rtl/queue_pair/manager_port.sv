// The control port: AXI4-Lite registers through which the resource manager creates, changes and destroys queue pairs and sets tables. The
// manager writes subject, place and data, then the command; the block answers that write when the command has been executed. It executes one
// write at a time, and a read waits for the write before it. It answers SLVERR to other offsets, to writes of part of a DWORD and to unknown
// commands. A command whose subject or place does not exist has no effect, and status reports that.
module manager_port #(
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,
    parameter int unsigned FUNCTION_WIDTH = 3,
    parameter int unsigned PINS_WIDTH = 16,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned ADDRESS_WIDTH = $clog2(hca_spec_pkg::MANAGER_PORT_BYTES),
    localparam int unsigned PORT_WIDTH = $clog2(hca_spec_pkg::PORTS),
    localparam int unsigned INDEX_WIDTH = $clog2(hca_spec_pkg::GID_TABLE_ENTRIES)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset; accesses wait until it ends.

    input logic [ADDRESS_WIDTH-1:0] register_awaddr,
    input logic register_awvalid,
    output logic register_awready,
    input logic [31:0] register_wdata,
    input logic [3:0] register_wstrb,
    input logic register_wvalid,
    output logic register_wready,
    output logic [1:0] register_bresp,
    output logic register_bvalid,
    input logic register_bready,
    input logic [ADDRESS_WIDTH-1:0] register_araddr,
    input logic register_arvalid,
    output logic register_arready,
    output logic [31:0] register_rdata,
    output logic [1:0] register_rresp,
    output logic register_rvalid,
    input logic register_rready,

    // Commands to queue_pair_directory, and the queue pairs that became quiet.
    output logic control,
    input logic control_ready,
    output logic control_create,
    output logic control_quiesce,
    output logic control_resume,
    output logic control_destroy,
    output logic [NUMBER_WIDTH-1:0] control_number,
    output logic [FUNCTION_WIDTH-1:0] control_underlying_function,
    input logic controlled,
    input logic controlled_done,
    input logic [FUNCTION_WIDTH-1:0] controlled_underlying_function,
    input logic controlled_quiescing,
    input logic [PINS_WIDTH-1:0] controlled_pins,
    input logic quiet,
    input logic [NUMBER_WIDTH-1:0] quiet_number,
    output logic quiet_waits,  // For an interrupt.

    // Rows of queue_pair_contexts.
    output logic row_write,
    input logic row_write_ready,
    output logic [CONTEXT_WIDTH-1:0] row_write_context,
    output logic [2:0] row_write_row,
    output logic [511:0] row_write_data,
    input logic row_written,
    output logic row_read,
    input logic row_read_ready,
    output logic [CONTEXT_WIDTH-1:0] row_read_context,
    output logic [2:0] row_read_row,
    input logic row_answer,
    input logic [511:0] row_answer_data,

    // Tables of destination_check.
    output logic bind_write,
    output logic [NUMBER_WIDTH-1:0] bind_number,
    output logic bind_bound,
    output logic [NUMBER_WIDTH-1:0] bind_queue_pair,
    output logic wait_write,
    output logic [NUMBER_WIDTH-1:0] wait_number,
    output logic wait_waits,
    output logic gid_write,
    output logic identifier_write,
    output logic key_write,
    output logic [PORT_WIDTH-1:0] write_port,
    output logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    output logic [INDEX_WIDTH-1:0] write_index,
    output logic [127:0] write_data
);
  localparam int unsigned DATA_END = hca_spec_pkg::MANAGER_PORT_DATA_OFFSET + hca_spec_pkg::MANAGER_PORT_DATA_COUNT * 4;
  localparam int unsigned INDEX_BITS = hca_spec_pkg::QUEUE_PAIR_INDEX_BITS;
  localparam int unsigned ROWS = hca_spec_pkg::QUEUE_PAIR_CONTEXT_SPARE_LSB / 512;

  // The subject of a command.
  logic [511:0] data;
  hca_spec_pkg::manager_port_subject_t subject;
  hca_spec_pkg::manager_port_place_t place;
  hca_spec_pkg::manager_port_status_t status;
  logic unused_bits;
  assign unused_bits = &{1'b0, place, subject};

  // A write: address and data arrive in any order and wait here.
  logic has_address, has_data, acts, is_whole, writes_data, writes_subject, writes_place, writes_command, is_known_command;
  logic [ADDRESS_WIDTH-1:0] address;
  logic [31:0] value;
  logic [3:0] strobe;
  assign register_awready = !has_address && !clearing;
  assign register_wready = !has_data && !clearing;
  assign is_whole = strobe == 4'hf;
  assign writes_data = is_whole && 32'(address) < DATA_END && address[1:0] == '0;
  assign writes_subject = is_whole && 32'(address) == hca_spec_pkg::MANAGER_PORT_SUBJECT_OFFSET;
  assign writes_place = is_whole && 32'(address) == hca_spec_pkg::MANAGER_PORT_PLACE_OFFSET;
  assign is_known_command = value[31:8] == '0 && value[7:0] <= hca_spec_pkg::MANAGER_COMMAND_SET_PARTITION_KEY;
  assign writes_command = is_whole && 32'(address) == hca_spec_pkg::MANAGER_PORT_COMMAND_OFFSET && is_known_command;

  // States of a write: accepted; for a command, checked, begun, and waiting for the answer of its block; answered. After a destroy, the block
  // clears the first row of the context.
  typedef enum logic [2:0] {
    IDLE,
    CHECKS,
    BEGINS,
    WAITS,
    CLEARS,
    ANSWERS
  } state_t;
  state_t state;
  logic [7:0] command;  // A manager_command_t.
  logic is_of_directory, is_row_read, is_row_write, is_of_number, is_gid, is_identifier, is_key, is_in_reach, begins, clears;
  logic has_number, has_function, has_row, has_entry, has_port, has_owner;
  assign acts = state == IDLE && has_address && has_data;
  assign is_of_directory = command <= hca_spec_pkg::MANAGER_COMMAND_DESTROY;
  assign is_row_read = command == hca_spec_pkg::MANAGER_COMMAND_READ_CONTEXT;
  assign is_row_write = command == hca_spec_pkg::MANAGER_COMMAND_WRITE_CONTEXT;
  assign is_of_number = command <= hca_spec_pkg::MANAGER_COMMAND_END_TIME_WAIT;
  assign is_gid = command == hca_spec_pkg::MANAGER_COMMAND_SET_GID;
  assign is_identifier = command == hca_spec_pkg::MANAGER_COMMAND_SET_LOCAL_IDENTIFIER;
  assign is_key = command == hca_spec_pkg::MANAGER_COMMAND_SET_PARTITION_KEY;
  assign begins = state == BEGINS && is_in_reach;
  assign clears = state == WAITS && controlled && controlled_done && control_destroy;
  assign has_owner = command == hca_spec_pkg::MANAGER_COMMAND_CREATE || is_gid || is_identifier;
  always_ff @(posedge clock) begin
    // In CHECKS: the registers written before hold their values.
    has_number <= INDEX_BITS'(subject.number[CONTEXT_WIDTH-1:0]) == subject.number[INDEX_BITS-1:0];
    has_function <= 32'(subject.underlying_function) < 1 << FUNCTION_WIDTH;
    has_row <= 32'(place.index) < ROWS;
    has_entry <= 32'(place.index) < (is_key ? hca_spec_pkg::PARTITION_KEY_TABLE_ENTRIES : hca_spec_pkg::GID_TABLE_ENTRIES);
    has_port <= place.port != '0 && 32'(place.port) <= hca_spec_pkg::PORTS;
  end
  assign is_in_reach = (!is_of_number || has_number) && (!has_owner || has_function) && (!(is_row_read || is_row_write) || has_row) &&
      (!(is_gid || is_key) || has_entry) && (is_of_number || has_port);
  always_ff @(posedge clock) begin
    if (register_awvalid && register_awready) address <= register_awaddr;
    if (register_wvalid && register_wready) begin
      value <= register_wdata;
      strobe <= register_wstrb;
    end
    has_address <= !reset && (register_awvalid && register_awready || has_address && !acts);
    has_data <= !reset && (register_wvalid && register_wready || has_data && !acts);
    register_bvalid <= !reset && (state == ANSWERS && !register_bvalid || register_bvalid && !register_bready);
    if (acts) register_bresp <= writes_data || writes_subject || writes_place || writes_command ? 2'd0 : 2'd2;
    if (acts && writes_command) command <= value[7:0];
    control <= !reset && (begins && is_of_directory || control && !control_ready);
    row_read <= !reset && (begins && is_row_read || row_read && !row_read_ready);
    row_write <= !reset && (begins && is_row_write || clears || row_write && !row_write_ready);
    if (reset) state <= IDLE;
    else
      case (state)
        IDLE: if (acts) state <= writes_command ? CHECKS : ANSWERS;
        CHECKS: state <= BEGINS;
        BEGINS: state <= is_in_reach && (is_of_directory || is_row_read || is_row_write) ? WAITS : ANSWERS;
        WAITS:
        if (clears) state <= CLEARS;
        else if (controlled || row_answer || row_written) state <= ANSWERS;
        CLEARS: if (row_written) state <= ANSWERS;
        default: if (register_bvalid && register_bready) state <= IDLE;
      endcase
  end

  always_ff @(posedge clock) begin
    for (int unsigned word = 0; word < hca_spec_pkg::MANAGER_PORT_DATA_COUNT; word++)
    if (reset) data[word*32+:32] <= '0;
    else if (row_answer) data[word*32+:32] <= row_answer_data[word*32+:32];
    else if (acts && writes_data && 32'(address[5:2]) == word) data[word*32+:32] <= value;
    if (reset) subject <= '0;
    else if (acts && writes_subject) subject <= value;
    if (reset) place <= '0;
    else if (acts && writes_place) place <= value & 32'hffff;
    if (reset || state == BEGINS || controlled) status <= '0;
    if (!reset && begins && !is_of_directory) status.done <= 1'b1;
    if (!reset && controlled) begin
      status.done <= controlled_done;
      status.quiescing <= controlled_quiescing;
      status.underlying_function <= 8'(controlled_underlying_function);
      status.pins <= 16'(controlled_pins);
    end
  end

  // Requests to blocks are stable from before their valid signal until they are accepted.
  always_ff @(posedge clock) begin
    control_create <= command == hca_spec_pkg::MANAGER_COMMAND_CREATE;
    control_quiesce <= command == hca_spec_pkg::MANAGER_COMMAND_QUIESCE;
    control_resume <= command == hca_spec_pkg::MANAGER_COMMAND_RESUME;
    control_destroy <= command == hca_spec_pkg::MANAGER_COMMAND_DESTROY;
    row_write_row <= control_destroy ? 3'd0 : place.index[2:0];
    row_write_data <= control_destroy ? '0 : data;
    bind_write <= !reset && begins &&
        (command == hca_spec_pkg::MANAGER_COMMAND_BIND_NUMBER || command == hca_spec_pkg::MANAGER_COMMAND_UNBIND_NUMBER);
    bind_bound <= command == hca_spec_pkg::MANAGER_COMMAND_BIND_NUMBER;
    wait_write <= !reset && begins &&
        (command == hca_spec_pkg::MANAGER_COMMAND_BEGIN_TIME_WAIT || command == hca_spec_pkg::MANAGER_COMMAND_END_TIME_WAIT);
    wait_waits <= command == hca_spec_pkg::MANAGER_COMMAND_BEGIN_TIME_WAIT;
    gid_write <= !reset && begins && is_gid;
    identifier_write <= !reset && begins && is_identifier;
    key_write <= !reset && begins && is_key;
    write_port <= PORT_WIDTH'(place.port - 8'd1);
    // Tables hold the first byte of a GID in the highest bits; numbers keep their order.
    for (int unsigned each = 0; each < 16; each++) write_data[each*8+:8] <= is_gid ? data[120-each*8+:8] : data[each*8+:8];
  end
  assign control_number = subject.number;
  assign control_underlying_function = subject.underlying_function[FUNCTION_WIDTH-1:0];
  assign row_write_context = subject.number[CONTEXT_WIDTH-1:0];
  assign row_read_context = subject.number[CONTEXT_WIDTH-1:0];
  assign row_read_row = place.index[2:0];
  assign bind_number = subject.number;
  assign bind_queue_pair = data[NUMBER_WIDTH-1:0];
  assign wait_number = subject.number;
  assign write_underlying_function = subject.underlying_function[FUNCTION_WIDTH-1:0];
  assign write_index = place.index[INDEX_WIDTH-1:0];

  // Queue pairs that became quiet.
  logic takes_quiet, quiet_busy;
  logic [NUMBER_WIDTH-1:0] next_quiet;
  quiet_list #(
      .CONTEXTS(CONTEXTS)
  ) i_quiet (
      .busy(quiet_busy),
      .valid(quiet_waits),
      .number(next_quiet),
      .take(takes_quiet),
      .*
  );

  // Reads.
  logic reads, has_read, is_read;
  logic [ADDRESS_WIDTH-1:0] read_address;
  logic [31:0] read_value;
  assign register_arready = !has_read && !register_rvalid && !clearing;
  assign reads = has_read && state == IDLE && !quiet_busy;
  assign takes_quiet = reads && quiet_waits && 32'(read_address) == hca_spec_pkg::MANAGER_PORT_QUIET_OFFSET;
  always_comb begin
    is_read = 1'b1;
    case (32'(read_address))
      hca_spec_pkg::MANAGER_PORT_SUBJECT_OFFSET: read_value = subject;
      hca_spec_pkg::MANAGER_PORT_PLACE_OFFSET: read_value = place;
      hca_spec_pkg::MANAGER_PORT_COMMAND_OFFSET: read_value = '0;
      hca_spec_pkg::MANAGER_PORT_STATUS_OFFSET: read_value = status;
      hca_spec_pkg::MANAGER_PORT_QUIET_OFFSET: read_value = quiet_waits ? {1'b1, 7'd0, next_quiet} : '0;
      default: begin
        is_read = 32'(read_address) < DATA_END && read_address[1:0] == '0;
        read_value = is_read ? data[read_address[5:2]*32+:32] : '0;
      end
    endcase
  end
  always_ff @(posedge clock) begin
    if (register_arvalid && register_arready) read_address <= register_araddr;
    has_read <= !reset && (register_arvalid && register_arready || has_read && !reads);
    register_rvalid <= !reset && (reads || register_rvalid && !register_rready);
    if (reads) begin
      register_rdata <= read_value;
      register_rresp <= is_read ? 2'd0 : 2'd2;
    end
  end
endmodule
