// Checks the destination of arrived packets, as packet_receiver of the device model does (InfiniBand 9.6.1). A packet passes if a queue pair has its
// destination number and provides its service, and if port, addresses and P_Key are those of the queue pair and its peer; for a datagram, if port,
// address, P_Key and Q_Key are those of the queue pair. The block replaces the number by the queue pair's own (US7095750), pins the queue pair and
// forwards the packet. It drops and counts all others. Packets stay in order. Multicast groups are not implemented.
module destination_check #(
    parameter int unsigned CONTEXTS = hca_spec_pkg::QUEUE_PAIR_CONTEXTS_CACHED,  // Number of contexts, a power of two.
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned PACKET_WIDTH = 7,
    localparam int unsigned NUMBER_WIDTH = 24,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS),
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    localparam int unsigned PORT_WIDTH = $clog2(hca_spec_pkg::PORTS),
    localparam int unsigned INDEX_WIDTH = $clog2(hca_spec_pkg::GID_TABLE_ENTRIES)
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset, until the tables are empty; no packet enters.

    // A packet of packet_receiver. Ports count from 0 here.
    input logic packet_valid,
    output logic packet_ready,
    input logic [PACKET_WIDTH-1:0] packet,
    input logic [PORT_WIDTH-1:0] packet_port,
    input packet_fields_pkg::packet_fields_t packet_fields,
    input logic [12:0] packet_payload_bytes,

    // A reader port of queue_pair_contexts, and the pins of queue_pair_directory.
    output logic read,
    input logic read_ready,
    output logic [NUMBER_WIDTH-1:0] read_number,
    input logic answer,
    input logic answer_found,
    input hca_spec_pkg::queue_pair_control_t answer_control,
    output logic pin,
    input logic pin_ready,
    output logic [NUMBER_WIDTH-1:0] pin_number,
    input logic pinned,
    input logic pinned_done,

    // A packet that passes. Its queue pair holds a pin for it.
    output logic checked_valid,
    input logic checked_ready,
    output logic [PACKET_WIDTH-1:0] checked_packet,
    output packet_fields_pkg::packet_fields_t checked_fields,  // destination_queue_pair is the queue pair's own number.
    output logic [12:0] checked_payload_bytes,
    output logic [FUNCTION_WIDTH-1:0] checked_underlying_function,

    // A dropped packet: its buffer must be freed.
    output logic dropped_valid,
    input logic dropped_ready,
    output logic [PACKET_WIDTH-1:0] dropped_packet,

    // Dropped packets by reason (packet_drop_t), a clock later; wrong keys by port.
    input logic [4:0] count_reason,
    output logic [63:0] count,
    output logic [hca_spec_pkg::PORTS*64-1:0] bad_partition_keys,
    output logic [hca_spec_pkg::PORTS*64-1:0] bad_queue_keys,

    // The control port: binds a number to a queue pair at the index of the number, starts and ends the time-wait of a number, writes the tables of
    // ports.
    input logic bind_write,
    input logic [NUMBER_WIDTH-1:0] bind_number,
    input logic bind_bound,
    input logic [NUMBER_WIDTH-1:0] bind_queue_pair,
    input logic wait_write,
    input logic [NUMBER_WIDTH-1:0] wait_number,
    input logic wait_waits,
    input logic gid_write,
    input logic identifier_write,
    input logic key_write,
    input logic [PORT_WIDTH-1:0] write_port,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [INDEX_WIDTH-1:0] write_index,
    input logic [127:0] write_data  // A GID, first byte highest; a LID or P_Key in the lowest bits.
);
  if (CONTEXTS < 8 || CONTEXTS != 1 << CONTEXT_WIDTH || CONTEXTS > 256) begin : gen_check
    $error("CONTEXTS has to be a power of two from 8 to 256: there is a bit for each of their numbers");
  end
  localparam int unsigned ENTRIES = 16;  // Packets in flight.
  localparam int unsigned ENTRY_WIDTH = $clog2(ENTRIES);
  localparam int unsigned INDEX_BITS = hca_spec_pkg::QUEUE_PAIR_INDEX_BITS;
  localparam int unsigned GENERATION_WIDTH = NUMBER_WIDTH - INDEX_BITS;
  localparam int unsigned WAIT_WIDTH = GENERATION_WIDTH + CONTEXT_WIDTH;
  localparam logic [NUMBER_WIDTH-1:0] MULTICAST = '1;
  localparam logic [7:0] FIRST_OF_MULTICAST = 8'hff;  // First byte of a multicast GID (RFC 4291, 2.7).
  localparam logic [95:0] IPV4 = 96'hffff;  // ::ffff:a.b.c.d.
  localparam logic [3:0] IPV4_MULTICAST = 4'he;  // Highest bits of a multicast IPv4 address (RFC 5771).
  localparam logic [15:0] FULL_MEMBER = 16'h8000;

  function automatic logic [127:0] first_byte_highest(input logic [127:0] bytes);
    for (int unsigned each = 0; each < 16; each++) first_byte_highest[each*8+:8] = bytes[120-each*8+:8];
  endfunction

  // Packets in flight. The fields to check are read with the context, all others with the verdict.
  typedef struct packed {
    logic [PORT_WIDTH-1:0] port;
    logic [1:0] framing;
    logic [7:0] opcode;
    logic [15:0] partition_key;
    logic [31:0] queue_key;
    logic [15:0] source_local_identifier;
    logic [15:0] destination_local_identifier;
    logic [127:0] source_address;
    logic [127:0] destination_address;
  } checks_t;
  logic takes, goes;
  logic [ENTRY_WIDTH-1:0] entry_in, entry_checked, entry_out;
  logic [ENTRY_WIDTH:0] under_way;
  logic [PACKET_WIDTH-1:0] packet_out;
  logic [PORT_WIDTH-1:0] port_out;
  logic [12:0] payload_bytes_out;
  packet_fields_pkg::packet_fields_t fields_out;
  checks_t checks_in, checks;
  assign takes = packet_valid && packet_ready;
  assign checks_in.port = packet_port;
  assign checks_in.framing = packet_fields.framing;
  assign checks_in.opcode = packet_fields.opcode;
  assign checks_in.partition_key = packet_fields.partition_key;
  assign checks_in.queue_key = packet_fields.queue_key;
  assign checks_in.source_local_identifier = packet_fields.source_local_identifier;
  assign checks_in.destination_local_identifier = packet_fields.destination_local_identifier;
  assign checks_in.source_address = packet_fields.source_address;
  assign checks_in.destination_address = packet_fields.destination_address;
  lut_memory #(
      .WIDTH($bits(checks_in)),
      .SIZE(ENTRIES)
  ) i_checks (
      .write(takes),
      .write_address(entry_in),
      .write_data(checks_in),
      .read_addresses(entry_checked),
      .read_data(checks),
      .*
  );
  lut_memory #(
      .WIDTH($bits(fields_out) + PACKET_WIDTH + PORT_WIDTH + 13),
      .SIZE(ENTRIES)
  ) i_facts (
      .write(takes),
      .write_address(entry_in),
      .write_data({packet_fields, packet, packet_port, packet_payload_bytes}),
      .read_addresses(entry_out),
      .read_data({fields_out, packet_out, port_out, payload_bytes_out}),
      .*
  );
  always_ff @(posedge clock) begin
    packet_ready <= !reset && !clearing && 32'(under_way) + 2 < ENTRIES;
    if (reset) begin
      under_way <= '0;
      entry_in <= '0;
      entry_checked <= '0;
      entry_out <= '0;
    end else begin
      under_way <= under_way + (ENTRY_WIDTH + 1)'(takes) - (ENTRY_WIDTH + 1)'(goes);
      entry_in <= entry_in + ENTRY_WIDTH'(takes);
      entry_checked <= entry_checked + ENTRY_WIDTH'(answer);
      entry_out <= entry_out + ENTRY_WIDTH'(goes);
    end
  end

  // 1: address the entry of the number. 2: read it, and request the context of its queue pair.
  typedef struct packed {
    logic is_multicast;
    logic waits;
    logic is_bound;
    logic [NUMBER_WIDTH-1:0] queue_pair;
  } found_t;
  logic valid_1, valid_2, is_bound_2, waits_2, bound_2, is_place_2, has_found, counts_clearing, rows_clearing;
  logic [NUMBER_WIDTH-1:0] number_1, number_2, queue_pair_2;
  logic [GENERATION_WIDTH-1:0] generation_2;
  logic [WAIT_WIDTH-1:0] cleared;
  logic [ENTRY_WIDTH:0] asking, asked;
  found_t found_2, found, asked_found;
  logic unused_filling, has_asked;
  assign unused_filling = &{1'b0, asking, asked, has_asked};
  list_memory #(
      .WIDTH(1 + GENERATION_WIDTH + NUMBER_WIDTH),
      .SIZE(CONTEXTS),
      .BLOCK(1'b1)
  ) i_numbers (
      .write(rows_clearing || bind_write),
      .write_address(rows_clearing ? cleared[CONTEXT_WIDTH-1:0] : bind_number[CONTEXT_WIDTH-1:0]),
      .write_data(rows_clearing ? '0 : {bind_bound, bind_number[NUMBER_WIDTH-1:INDEX_BITS], bind_queue_pair}),
      .read_address(number_1[CONTEXT_WIDTH-1:0]),
      .read_data({bound_2, generation_2, queue_pair_2}),
      .*
  );
  list_memory #(
      .WIDTH(1),
      .SIZE(1 << WAIT_WIDTH),
      .BLOCK(1'b1)
  ) i_waits (
      .write(rows_clearing || wait_write),
      .write_address(rows_clearing ? cleared : {wait_number[NUMBER_WIDTH-1:INDEX_BITS], wait_number[CONTEXT_WIDTH-1:0]}),
      .write_data(!rows_clearing && wait_waits),
      .read_address({number_1[NUMBER_WIDTH-1:INDEX_BITS], number_1[CONTEXT_WIDTH-1:0]}),
      .read_data(waits_2),
      .*
  );
  logic unused_indices;
  assign unused_indices = &{1'b0, bind_number, wait_number};
  assign clearing = rows_clearing || counts_clearing;
  assign is_place_2 = INDEX_BITS'(number_2[CONTEXT_WIDTH-1:0]) == number_2[INDEX_BITS-1:0];
  assign is_bound_2 = bound_2 && is_place_2 && generation_2 == number_2[NUMBER_WIDTH-1:INDEX_BITS];
  assign found_2 = {number_2 == MULTICAST, waits_2 && is_place_2, is_bound_2, queue_pair_2};
  always_ff @(posedge clock) begin
    if (reset) begin
      rows_clearing <= 1'b1;
      cleared <= '0;
    end else if (rows_clearing) begin
      rows_clearing <= cleared != '1;
      cleared <= cleared + WAIT_WIDTH'(1);
    end
    valid_1 <= !reset && takes;
    number_1 <= packet_fields.destination_queue_pair;
    valid_2 <= !reset && valid_1;
    number_2 <= number_1;
  end
  unit_queue #(
      .UNIT_WIDTH($bits(found_2)),
      .ENTRIES(ENTRIES)
  ) i_found (
      .push(valid_2),
      .push_unit(found_2),
      .valid(has_found),
      .unit(found),
      .pop(read && read_ready),
      .filling(asking),
      .*
  );
  assign read = has_found;
  assign read_number = found.queue_pair;
  unit_queue #(
      .UNIT_WIDTH($bits(found_2)),
      .ENTRIES(ENTRIES)
  ) i_asked (
      .push(read && read_ready),
      .push_unit(found),
      .valid(has_asked),
      .unit(asked_found),
      .pop(answer),
      .filling(asked),
      .*
  );

  // 3: the context, and the fields to compare with it.
  logic valid_3, is_there_3;
  checks_t checks_3;
  found_t found_3, found_4;
  hca_spec_pkg::queue_pair_control_t control_3;
  hca_spec_pkg::address_vector_t peer_3;
  logic unused_bits;
  assign peer_3 = control_3.address_vector;
  assign unused_bits = &{1'b0, control_3, peer_3, found_4};
  always_ff @(posedge clock) begin
    valid_3 <= !reset && answer;
    is_there_3 <= answer_found && asked_found.is_bound;
    found_3 <= asked_found;
    checks_3 <= checks;
    control_3 <= answer_control;
  end

  // 4: compare.
  logic [hca_spec_pkg::GID_TABLE_ENTRIES-1:0] is_gid, is_gid_4;
  logic [15:0] local_identifier, partition_key;
  logic [INDEX_WIDTH-1:0] gid_index_4;
  logic valid_4, is_there_4, has_wrong_service_4, has_wrong_port_4, is_datagram_4, is_ethernet_4, is_local_4, is_own_identifier_4,
      is_peer_identifier_4, is_global_4, is_peer_gid_4, is_zero_4, is_group_4, has_partition_4, has_queue_key_4;
  logic [FUNCTION_WIDTH-1:0] function_4;
  destination_tables #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS)
  ) i_tables (
      .clearing(rows_clearing),
      .cleared(16'(cleared)),
      .port(checks_3.port),
      .underlying_function(control_3.underlying_function[FUNCTION_WIDTH-1:0]),
      .key_index(control_3.partition_key_index[INDEX_WIDTH-1:0]),
      .gid(checks_3.destination_address),
      .*
  );
  always_ff @(posedge clock) begin
    valid_4 <= !reset && valid_3;
    is_there_4 <= is_there_3;
    found_4 <= found_3;
    function_4 <= control_3.underlying_function[FUNCTION_WIDTH-1:0];
    has_wrong_service_4 <= 4'(checks_3.opcode[7:5]) != control_3.service_type;  // InfiniBand 9.2.1: the highest bits of the opcode are the service.
    has_wrong_port_4 <= 8'(checks_3.port) + 8'd1 != control_3.port;
    is_datagram_4 <= control_3.service_type == hca_spec_pkg::SERVICE_TYPE_UNRELIABLE_DATAGRAM;
    is_ethernet_4 <= !checks_3.framing[1];
    is_local_4 <= checks_3.framing == packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL;
    is_own_identifier_4 <= checks_3.destination_local_identifier == local_identifier;
    is_peer_identifier_4 <= checks_3.source_local_identifier == peer_3.destination_local_identifier;
    is_global_4 <= peer_3.is_global;
    is_gid_4 <= is_gid;
    gid_index_4 <= peer_3.gid_index[INDEX_WIDTH-1:0];
    is_peer_gid_4 <= checks_3.source_address == first_byte_highest(peer_3.destination_gid);
    is_zero_4 <= checks_3.destination_address == '0;
    is_group_4 <= checks_3.destination_address[127:32] == IPV4 ? checks_3.destination_address[31:28] == IPV4_MULTICAST :
        checks_3.destination_address[127:120] == FIRST_OF_MULTICAST;
    has_partition_4 <= (partition_key & ~FULL_MEMBER) != '0 && ((partition_key ^ checks_3.partition_key) & ~FULL_MEMBER) == '0 &&
        ((partition_key | checks_3.partition_key) & FULL_MEMBER) != '0;
    has_queue_key_4 <= checks_3.queue_key == control_3.queue_key;
  end

  // 5: select the first reason, in the order of the model.
  logic valid_5;
  logic [FUNCTION_WIDTH-1:0] function_5;
  logic [NUMBER_WIDTH-1:0] queue_pair_5;
  logic [4:0] reason, address_reason, reason_5;
  always_comb begin
    address_reason = 5'(hca_spec_pkg::PACKET_DROP_NONE);
    if (is_datagram_4) begin
      if (!is_ethernet_4 && !is_own_identifier_4 || !is_local_4 && (is_zero_4 || is_gid_4 == '0))
        address_reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_DESTINATION);
    end else if (!is_ethernet_4 && !is_own_identifier_4) address_reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_DESTINATION);
    else if (!is_ethernet_4 && !is_peer_identifier_4 || is_local_4 == is_global_4)
      address_reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_SOURCE);
    else if (!is_local_4 && !is_gid_4[gid_index_4]) address_reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_DESTINATION);
    else if (!is_local_4 && !is_peer_gid_4) address_reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_SOURCE);

    if (found_4.is_multicast && !is_group_4) reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_DESTINATION);
    else if (found_4.is_multicast) reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_QUEUE_PAIR);
    else if (!is_there_4 && found_4.waits) reason = 5'(hca_spec_pkg::PACKET_DROP_TIME_WAIT);
    else if (!is_there_4) reason = 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_QUEUE_PAIR);
    else if (has_wrong_service_4) reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_SERVICE);
    else if (has_wrong_port_4) reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_DESTINATION);
    else if (address_reason != 5'(hca_spec_pkg::PACKET_DROP_NONE)) reason = address_reason;
    else if (!has_partition_4) reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_PARTITION_KEY);
    else if (is_datagram_4 && !has_queue_key_4) reason = 5'(hca_spec_pkg::PACKET_DROP_WRONG_QUEUE_KEY);
    else reason = 5'(hca_spec_pkg::PACKET_DROP_NONE);
  end
  always_ff @(posedge clock) begin
    valid_5 <= !reset && valid_4;
    reason_5 <= reason;
    function_5 <= function_4;
    queue_pair_5 <= found_4.queue_pair;
  end

  // A packet without a reason pins its queue pair and waits for the answer.
  logic has_result, has_pin, has_pinned, pinned_now, is_free, passes, passes_on;
  logic [4:0] result_reason;
  logic [FUNCTION_WIDTH-1:0] result_function;
  logic [NUMBER_WIDTH-1:0] result_queue_pair;
  logic [ENTRY_WIDTH:0] results, pins, pins_answered;
  logic unused_counts;
  assign unused_counts = &{1'b0, results, pins, pins_answered};
  unit_queue #(
      .UNIT_WIDTH(5 + FUNCTION_WIDTH + NUMBER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_results (
      .push(valid_5),
      .push_unit({reason_5, function_5, queue_pair_5}),
      .valid(has_result),
      .unit({result_reason, result_function, result_queue_pair}),
      .pop(goes),
      .filling(results),
      .*
  );
  unit_queue #(
      .UNIT_WIDTH(NUMBER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_pins (
      .push(valid_5 && reason_5 == 5'(hca_spec_pkg::PACKET_DROP_NONE)),
      .push_unit(queue_pair_5),
      .valid(has_pin),
      .unit(pin_number),
      .pop(pin && pin_ready),
      .filling(pins),
      .*
  );
  assign pin = has_pin;
  unit_queue #(
      .UNIT_WIDTH(1),
      .ENTRIES(ENTRIES)
  ) i_pinned (
      .push(pinned),
      .push_unit(pinned_done),
      .valid(has_pinned),
      .unit(pinned_now),
      .pop(goes && is_free),
      .filling(pins_answered),
      .*
  );
  assign is_free = result_reason == 5'(hca_spec_pkg::PACKET_DROP_NONE);
  assign passes = is_free && pinned_now;
  assign passes_on = passes ? !checked_valid || checked_ready : !dropped_valid || dropped_ready;
  assign goes = has_result && (!is_free || has_pinned) && passes_on;

  // Outputs.
  logic counted;
  logic [4:0] counted_reason;
  logic [PORT_WIDTH-1:0] counted_port;
  always_ff @(posedge clock) begin
    checked_valid <= !reset && (goes && passes || checked_valid && !checked_ready);
    if (goes && passes) begin
      checked_packet <= packet_out;
      checked_fields <= fields_out;
      checked_fields.destination_queue_pair <= result_queue_pair;
      checked_payload_bytes <= payload_bytes_out;
      checked_underlying_function <= result_function;
    end
    dropped_valid <= !reset && (goes && !passes || dropped_valid && !dropped_ready);
    if (goes && !passes) dropped_packet <= packet_out;
    counted <= !reset && goes && !passes;
    counted_reason <= is_free ? 5'(hca_spec_pkg::PACKET_DROP_UNKNOWN_QUEUE_PAIR) : result_reason;
    counted_port <= port_out;
  end
  drop_counts i_counts (
      .clearing(counts_clearing),
      .dropped(counted),
      .dropped_reason(counted_reason),
      .*
  );
  for (genvar port = 0; port < hca_spec_pkg::PORTS; port++) begin : gen_port
    logic has_partition_key, has_queue_key;
    always_ff @(posedge clock) begin
      has_partition_key <= !reset && counted && counted_port == PORT_WIDTH'(port) &&
          counted_reason == 5'(hca_spec_pkg::PACKET_DROP_WRONG_PARTITION_KEY);
      has_queue_key <= !reset && counted && counted_port == PORT_WIDTH'(port) &&
          counted_reason == 5'(hca_spec_pkg::PACKET_DROP_WRONG_QUEUE_KEY);
      if (reset) begin
        bad_partition_keys[port*64+:64] <= '0;
        bad_queue_keys[port*64+:64] <= '0;
      end else begin
        bad_partition_keys[port*64+:64] <= bad_partition_keys[port*64+:64] + 64'(has_partition_key);
        bad_queue_keys[port*64+:64] <= bad_queue_keys[port*64+:64] + 64'(has_queue_key);
      end
    end
  end
endmodule
