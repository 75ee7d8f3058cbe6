// Splits accesses to host memory into bursts, one per clock. No burst crosses a multiple of its largest size, and therefore none crosses 4 KiB.
module burst_splitter #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    parameter int unsigned LENGTH_WIDTH = 13,
    parameter int unsigned MOST_BYTES = 512,  // Largest burst, in bytes. A power of two, 128 to 4096; at most 256 beats.
    parameter int unsigned USER_WIDTH = 1
) (
    input logic clock,
    input logic reset,
    input logic [2:0] size,  // Size of a burst as in PCIe: 128 B << size, size at most 5; limited to MOST_BYTES.

    // An access of at least one byte.
    input logic access,
    output logic access_ready,
    input logic [63:0] access_address,
    input logic [LENGTH_WIDTH-1:0] access_bytes,
    input logic [USER_WIDTH-1:0] access_user,

    output logic burst,
    input logic burst_ready,
    output logic [63:0] burst_address,  // Address of the first byte.
    output logic [7:0] burst_length,  // Beats minus one, as in AXI.
    output logic burst_last,  // Last burst of the access.
    output logic [USER_WIDTH-1:0] burst_user,
    output logic [11:0] mask  // Selects the offset in a burst of the largest size from an address.
);
  if (MOST_BYTES < 128 || MOST_BYTES > 4096 || MOST_BYTES > BEAT_BYTES * 256 || MOST_BYTES != 1 << $clog2(MOST_BYTES)) begin : gen_check
    $error("MOST_BYTES has to be a power of two, 128 to 4096, and 256 beats at most");
  end

  localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES);
  localparam int unsigned END_WIDTH = LENGTH_WIDTH + 1;

  localparam int unsigned BURST_WIDTH = 12 - LANE_WIDTH;  // Width of the number of a beat in 4 KiB.
  localparam int unsigned ENTRIES = 8;

  logic is_queued, is_next, is_left, is_end, step, fetches, takes;
  logic [63:0] queued_address, next_address, address;
  logic [LENGTH_WIDTH-1:0] queued_bytes;
  logic [USER_WIDTH-1:0] queued_user, next_user, user;
  logic [11:0] queued_place;
  logic [BURST_WIDTH-1:0] first_beat, last_beat;
  logic [LANE_WIDTH-1:0] unused_last_lane;
  logic [$clog2(ENTRIES):0] filling;
  logic [END_WIDTH-1:0] next_end, end_place;  // The last byte, relative to the burst of the largest size that contains the first.
  logic [END_WIDTH-1:0] outside, first_outside;

  // Accesses wait here, so that no input port depends on the host in the same clock.
  always_ff @(posedge clock) access_ready <= !reset && 32'(filling) + 2 < ENTRIES;
  unit_queue #(
      .UNIT_WIDTH(64 + LENGTH_WIDTH + USER_WIDTH),
      .ENTRIES(ENTRIES)
  ) i_accesses (
      .push(access && access_ready),
      .push_unit({access_user, access_bytes, access_address}),
      .valid(is_queued),
      .unit({queued_user, queued_bytes, queued_address}),
      .pop(fetches),
      .filling(filling),
      .*
  );

  always_ff @(posedge clock) mask <= (12'd128 << size) - 12'd1 & 12'(MOST_BYTES - 1);

  // The next access waits with its end already computed, so that no sum is on the path of a burst. Whether a burst is the last is known a clock
  // ahead.
  assign outside = ~{{END_WIDTH - 12{1'b0}}, mask};
  assign first_outside = outside & END_WIDTH'({mask, 1'b1});
  assign queued_place = queued_address[11:0] & mask;
  assign first_beat = address[11:LANE_WIDTH] & mask[11:LANE_WIDTH];
  assign {last_beat, unused_last_lane} = is_end ? end_place[11:0] : mask;
  assign step = is_left && (!burst || burst_ready);
  assign takes = is_next && (!is_left || step && is_end);
  assign fetches = is_queued && (!is_next || takes);

  always_ff @(posedge clock) begin
    is_next <= !reset && (fetches || is_next && !takes);
    if (fetches) begin
      next_address <= queued_address;
      next_end <= END_WIDTH'(queued_bytes) + END_WIDTH'(queued_place) - END_WIDTH'(1);
      next_user <= queued_user;
    end
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      is_left <= 1'b0;
      burst <= 1'b0;
    end else begin
      is_left <= takes || is_left && !(step && is_end);
      burst <= step || burst && !burst_ready;
    end
    if (takes) begin
      address <= next_address;
      end_place <= next_end;
      is_end <= (next_end & outside) == '0;
      user <= next_user;
    end else if (step) begin
      address <= (address | {52'd0, mask}) + 64'd1;
      end_place <= end_place - first_outside;
      is_end <= (end_place & outside) == first_outside;
    end
    if (step) begin
      burst_address <= address;
      burst_length <= 8'(BURST_WIDTH'(last_beat - first_beat));
      burst_last <= is_end;
      burst_user <= user;
    end
  end
endmodule
