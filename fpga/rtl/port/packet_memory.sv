// Packet buffers of a fixed size, each with a handle, and the list of free ones. Each use has a number of buffers of its own, so a response never
// waits for buffers that requests hold. The memory writes and reads a beat in each clock.
module packet_memory #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned USES = 2,
    parameter int unsigned BUFFERS_OF_USE = hca_spec_pkg::REQUEST_PACKET_BUFFERS,
    parameter bit ULTRA = 1'b1,  // Ultra memories, which some FPGAs do not have.
    localparam int unsigned BUFFERS = USES * BUFFERS_OF_USE,
    localparam int unsigned PACKET_WIDTH = $clog2(BUFFERS),
    localparam int unsigned USE_WIDTH = USES > 1 ? $clog2(USES) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(BUFFERS_OF_USE + 1),
    localparam int unsigned BUFFER_BEATS = hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES,
    localparam int unsigned PLACE_WIDTH = $clog2(BUFFER_BEATS)
) (
    input logic clock,
    input logic reset,

    // Allocates a buffer for a use that has one left.
    output logic [USES-1:0] has_free,
    output logic [PACKET_WIDTH-1:0] free_packet,
    input logic allocate,
    input logic [USE_WIDTH-1:0] allocate_use,

    // Frees a buffer; it can be allocated again some clocks later.
    input logic give_back,
    input logic [PACKET_WIDTH-1:0] give_back_packet,
    output logic [USES*COUNT_WIDTH-1:0] free,  // Free buffers of each use, first use lowest.

    // Writes bytes of a beat.
    input logic write,
    input logic [PACKET_WIDTH-1:0] write_packet,
    input logic [PLACE_WIDTH-1:0] write_place,  // Number of the beat in the buffer.
    input logic [BEAT_BYTES*8-1:0] write_data,
    input logic [BEAT_BYTES-1:0] write_strobe,

    // Reads a beat, with three clocks of latency, as written in earlier clocks. The same beat must not be written in the same clock.
    input logic [PACKET_WIDTH-1:0] read_packet,
    input logic [PLACE_WIDTH-1:0] read_place,
    output logic [BEAT_BYTES*8-1:0] read_data
);
  // A buffer has 17 units of 256 B, so that its address is a sum and needs no multiplier.
  localparam int unsigned UNIT_BEATS = 256 / BEAT_BYTES;
  localparam int unsigned UNIT_WIDTH = $clog2(UNIT_BEATS);
  localparam int unsigned UNITS = hca_spec_pkg::PACKET_BUFFER_BYTES / 256;
  localparam int unsigned UNITS_WIDTH = $clog2(BUFFERS * UNITS);
  localparam int unsigned ADDRESS_WIDTH = UNITS_WIDTH + UNIT_WIDTH;
  if (BUFFERS != 1 << PACKET_WIDTH || BUFFERS < 4) begin : gen_check
    $error("there have to be a power of two of packet buffers, 4 at least");
  end
  if (UNITS != 17 || hca_spec_pkg::PACKET_BUFFER_BYTES % 256 != 0) begin : gen_check_units
    $error("a packet buffer has to be 17 times 256 B");
  end

  // After a reset all buffers are free.
  logic sweeping, available, takes, returned, returns, unused_count;
  logic [PACKET_WIDTH-1:0] swept, returned_packet, packet_that_returns;
  logic [USE_WIDTH-1:0] returned_use, use_that_returns;
  logic [PACKET_WIDTH:0] entries_free;
  assign unused_count = &{1'b0, entries_free};
  assign takes = allocate && has_free[allocate_use];
  always_ff @(posedge clock) begin
    if (reset) begin
      sweeping <= 1'b1;
      swept <= '0;
    end else if (sweeping) begin
      sweeping <= swept != PACKET_WIDTH'(BUFFERS - 1);
      swept <= swept + PACKET_WIDTH'(1);
    end
    // 1: the use of the buffer. 2: free it.
    returned <= !reset && give_back;
    returned_packet <= give_back_packet;
    returns <= !reset && returned;
    packet_that_returns <= returned_packet;
    use_that_returns <= returned_use;
  end
  free_entries #(
      .ENTRIES(BUFFERS)
  ) i_free (
      .sweep(sweeping),
      .sweep_entry(swept),
      .available(available),
      .entry(free_packet),
      .take(takes),
      .give_back(returns),
      .give_back_entry(packet_that_returns),
      .entries_free(entries_free),
      .*
  );
  lut_memory #(
      .WIDTH(USE_WIDTH),
      .SIZE(BUFFERS)
  ) i_uses (
      .write(takes),
      .write_address(free_packet),
      .write_data(allocate_use),
      .read_addresses(returned_packet),
      .read_data(returned_use),
      .*
  );
  for (genvar use_number = 0; use_number < USES; use_number++) begin : gen_use
    logic [COUNT_WIDTH-1:0] count;
    assign has_free[use_number] = available && !sweeping && count != '0;
    assign free[use_number*COUNT_WIDTH+:COUNT_WIDTH] = count;
    always_ff @(posedge clock) begin
      if (reset) count <= COUNT_WIDTH'(BUFFERS_OF_USE);
      else
        count <= count - COUNT_WIDTH'(takes && allocate_use == USE_WIDTH'(use_number))
            + COUNT_WIDTH'(returns && use_that_returns == USE_WIDTH'(use_number));
    end
  end

  // 1: address. 2: write or read. 3: the data read.
  function automatic logic [ADDRESS_WIDTH-1:0] address_of(input logic [PACKET_WIDTH-1:0] buffer, input logic [PLACE_WIDTH-1:0] place);
    address_of = {UNITS_WIDTH'({buffer, 4'd0}) + UNITS_WIDTH'(buffer) + UNITS_WIDTH'(place[PLACE_WIDTH-1:UNIT_WIDTH]), place[UNIT_WIDTH-1:0]};
  endfunction
  logic [ADDRESS_WIDTH-1:0] write_address_1, read_address_1;
  logic [BEAT_BYTES*8-1:0] write_data_1, read_data_2;
  logic [BEAT_BYTES-1:0] write_strobe_1;
  always_ff @(posedge clock) begin
    write_address_1 <= address_of(write_packet, write_place);
    read_address_1 <= address_of(read_packet, read_place);
    write_data_1 <= write_data;
    write_strobe_1 <= write && !reset ? write_strobe : '0;
    read_data <= read_data_2;
  end
  byte_memory #(
      .BYTES(BEAT_BYTES),
      .WORDS(BUFFERS * BUFFER_BEATS),
      .ULTRA(ULTRA)
  ) i_memory (
      .write(write_strobe_1),
      .write_address(write_address_1),
      .write_data(write_data_1),
      .read_address(read_address_1),
      .read_data(read_data_2),
      .*
  );
endmodule
