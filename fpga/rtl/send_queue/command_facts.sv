// Reads one command after the other from its PCB, a beat per clock, for the facts that queue_pair_fetch needs: fields of the header, the sum of the
// gather list's lengths, and the address handle. Units without a PCB pass in order.
module command_facts #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned PCB_WIDTH = 7,
    parameter int unsigned HANDLES = hca_spec_pkg::ADDRESS_HANDLES,
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES),
    localparam int unsigned VECTOR_BITS = hca_spec_pkg::ADDRESS_VECTOR_BYTES * 8
) (
    input logic clock,
    input logic reset,
    output logic clearing,

    // A unit. Without a PCB it has no facts.
    input logic has_unit,
    input logic unit_has_buffer,
    input hca_spec_pkg::kick_unit_t unit,
    output logic takes_unit,  // In its last clock.

    // Command data, in the clock after a read that is taken.
    output logic read_command,
    input logic read_command_ready,
    output logic [PCB_WIDTH-1:0] read_command_physical_collect_buffer,
    output logic [BEATS_WIDTH-1:0] read_command_beat,
    input logic [BEAT_BYTES*8-1:0] read_command_data,

    // The facts of each unit, in order, and the destination of its address handle.
    output logic has_facts,
    output queue_pair_fetch_pkg::command_facts_t facts,
    output logic has_destination,
    output logic [PCB_WIDTH-1:0] destination_physical_collect_buffer,
    output hca_spec_pkg::address_vector_t destination,

    input logic handle_write,
    input logic [31:0] handle_number,
    input logic handle_valid,
    input logic [3:0] handle_underlying_function,
    input logic [23:0] handle_protection_domain,
    input logic [VECTOR_BITS-1:0] handle_address_vector
);
  localparam int unsigned HEADER_BYTES = hca_spec_pkg::COMMAND_HEADER_BYTES;
  localparam int unsigned WORDS = BEAT_BYTES / 8;

  // Of the header.
  typedef struct packed {
    logic [31:0] address_handle;
    logic [31:0] flags;
    logic [31:0] sequence_number_and_length;
    logic [31:0] opcode;
  } header_t;

  // A word of 4 B of the header that is in this beat.
  function automatic logic is_in_beat(input logic [BEATS_WIDTH-1:0] beat, input int unsigned lsb);
    is_in_beat = 32'(beat) == lsb / 8 / BEAT_BYTES;
  endfunction

  // 1: the beat is asked for.
  logic goes, is_last;
  logic [BEATS_WIDTH-1:0] beat;
  logic [9:0] bytes, end_of_beat;
  logic unused_unit;
  assign unused_unit = &{1'b0, unit};
  assign bytes = 10'(HEADER_BYTES) + 10'(unit.length);
  assign end_of_beat = (10'(beat) + 10'd1) << $clog2(BEAT_BYTES);
  assign is_last = !unit_has_buffer || end_of_beat >= bytes;
  assign read_command = has_unit && unit_has_buffer;
  assign read_command_physical_collect_buffer = PCB_WIDTH'(unit.physical_collect_buffer);
  assign read_command_beat = beat;
  assign goes = has_unit && (!unit_has_buffer || read_command_ready);
  assign takes_unit = goes && is_last;
  always_ff @(posedge clock) begin
    if (reset || takes_unit) beat <= '0;
    else if (goes) beat <= beat + BEATS_WIDTH'(1);
  end

  // 2: the beat is in the memory's register. 3: it arrives.
  logic valid_2, valid_3, last_2, last_3, reads_2, reads_3;
  logic [BEATS_WIDTH-1:0] beat_2, beat_3;
  logic [PCB_WIDTH-1:0] buffer_2, buffer_3;
  logic [3:0] function_2, function_3;
  logic [BEAT_BYTES*8-1:0] data_3;
  always_ff @(posedge clock) begin
    valid_2 <= !reset && goes;
    last_2 <= is_last;
    reads_2 <= unit_has_buffer;
    beat_2 <= beat;
    buffer_2 <= read_command_physical_collect_buffer;
    function_2 <= unit.underlying_function;
    valid_3 <= !reset && valid_2;
    last_3 <= last_2;
    reads_3 <= reads_2;
    beat_3 <= beat_2;
    buffer_3 <= buffer_2;
    function_3 <= function_2;
    data_3 <= read_command_data;
  end

  // 4: the header, and the lengths in the beat, each in the low half of every second word.
  logic valid_4, last_4, reads_4, begins_4;
  logic [PCB_WIDTH-1:0] buffer_4;
  logic [3:0] function_4;
  header_t header_4;
  logic [WORDS*32-1:0] lengths_4;
  logic [4:0] entries;
  assign entries = header_4.sequence_number_and_length[20+:5];  // Of the header, which came before.
  always_ff @(posedge clock) begin
    valid_4 <= !reset && valid_3;
    last_4 <= last_3;
    reads_4 <= reads_3;
    begins_4 <= beat_3 == '0;
    buffer_4 <= buffer_3;
    function_4 <= function_3;
    if (valid_3 && reads_3) begin
      if (is_in_beat(beat_3, hca_spec_pkg::COMMAND_HEADER_OPCODE_LSB))
        header_4.opcode <= data_3[hca_spec_pkg::COMMAND_HEADER_OPCODE_LSB%(BEAT_BYTES*8)+:32];
      if (is_in_beat(beat_3, hca_spec_pkg::COMMAND_HEADER_SEND_QUEUE_SEQUENCE_NUMBER_LSB))
        header_4.sequence_number_and_length <= data_3[hca_spec_pkg::COMMAND_HEADER_SEND_QUEUE_SEQUENCE_NUMBER_LSB%(BEAT_BYTES*8)+:32];
      if (is_in_beat(beat_3, hca_spec_pkg::COMMAND_HEADER_SIGNALED_LSB))
        header_4.flags <= data_3[hca_spec_pkg::COMMAND_HEADER_SIGNALED_LSB%(BEAT_BYTES*8)+:32];
      if (is_in_beat(beat_3, hca_spec_pkg::COMMAND_HEADER_ADDRESS_HANDLE_LSB))
        header_4.address_handle <= data_3[hca_spec_pkg::COMMAND_HEADER_ADDRESS_HANDLE_LSB%(BEAT_BYTES*8)+:32];
    end
  end
  for (genvar word = 0; word < WORDS; word++) begin : gen_word
    logic [9:0] place;
    logic unused_place;
    assign place = (10'(beat_3) << $clog2(BEAT_BYTES)) + 10'(8 * word);
    assign unused_place = &{1'b0, place};
    always_ff @(posedge clock)
      lengths_4[word*32+:32] <= place[9:6] != '0 && place[3] && 6'(place[9:4]) < 6'(entries) + 6'(HEADER_BYTES / 16) ?
          data_3[word*64+:32] : '0;
  end

  // 5: sums of a beat's lower and upper words. 6: of the beat. 7: of the command. Meanwhile the address handle is read.
  logic valid_5, valid_6, last_5, last_6, reads_5, reads_6, begins_5, begins_6;
  logic [PCB_WIDTH-1:0] buffer_5, buffer_6;
  logic unused_bits;
  header_t header_5, header_6, header_7;
  logic [33:0] low_5, high_5;
  logic [34:0] sum_6;
  logic [35:0] sum_7;
  logic found_6, found_7;
  logic [23:0] protection_domain_6, protection_domain_7;
  hca_spec_pkg::address_vector_t vector_6, vector_7;
  address_handles #(
      .HANDLES(HANDLES)
  ) i_address_handles (
      .look_number(header_4.address_handle),
      .look_underlying_function(function_4),
      .found(found_6),
      .found_protection_domain(protection_domain_6),
      .found_address_vector(vector_6),
      .*
  );
  function automatic logic [33:0] sum(input logic [WORDS*32-1:0] lengths, input int unsigned half);
    sum = '0;
    for (int unsigned word = 0; word < WORDS; word++)
      if (word / 4 == half) sum = sum + 34'(lengths[word*32+:32]);
  endfunction
  always_ff @(posedge clock) begin
    valid_5 <= !reset && valid_4;
    last_5 <= last_4;
    reads_5 <= reads_4;
    begins_5 <= begins_4;
    buffer_5 <= buffer_4;
    header_5 <= header_4;
    low_5 <= sum(lengths_4, 0);
    high_5 <= sum(lengths_4, 1);
    valid_6 <= !reset && valid_5;
    last_6 <= last_5;
    reads_6 <= reads_5;
    begins_6 <= begins_5;
    buffer_6 <= buffer_5;
    header_6 <= header_5;
    sum_6 <= 35'(low_5) + 35'(high_5);
    header_7 <= header_6;
    if (valid_6) sum_7 <= (begins_6 ? '0 : sum_7) + 36'(sum_6);
    found_7 <= found_6;
    protection_domain_7 <= protection_domain_6;
    vector_7 <= vector_6;
    has_facts <= !reset && valid_6 && last_6;
    has_destination <= !reset && valid_6 && last_6 && reads_6;
    destination_physical_collect_buffer <= buffer_6;
  end
  assign unused_bits = &{1'b0, header_7, data_3};
  assign destination = vector_7;
  assign facts.opcode = header_7.opcode[7:0];
  assign facts.length = header_7.sequence_number_and_length[16+:9];
  assign facts.fence = header_7.flags[hca_spec_pkg::COMMAND_HEADER_FENCE_LSB-hca_spec_pkg::COMMAND_HEADER_SIGNALED_LSB];
  assign facts.inline_data = header_7.flags[hca_spec_pkg::COMMAND_HEADER_INLINE_DATA_LSB-hca_spec_pkg::COMMAND_HEADER_SIGNALED_LSB];
  assign facts.gather_count = header_7.flags[hca_spec_pkg::COMMAND_HEADER_GATHER_COUNT_LSB-hca_spec_pkg::COMMAND_HEADER_SIGNALED_LSB+:5];
  assign facts.list_bytes = sum_7;
  assign facts.has_address = found_7;
  assign facts.address_domain = protection_domain_7;
  assign facts.address_port = vector_7.port;
endmodule
