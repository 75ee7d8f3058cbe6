// Reads the payloads of packets from packet memory, a beat a clock, and gives back each buffer when its last beat has been read.
module packet_payloads #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned PACKET_WIDTH = 7,
    localparam int unsigned PLACE_WIDTH = $clog2(hca_spec_pkg::PACKET_BUFFER_BYTES / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    // A buffer, and the bytes of its payload. Without bytes it is only given back.
    input logic start,
    output logic start_ready,
    input logic [PACKET_WIDTH-1:0] start_packet,
    input logic [12:0] start_bytes,

    // A beat comes three clocks after an accepted read.
    output logic read,
    input logic read_ready,
    output logic [PACKET_WIDTH-1:0] read_packet,
    output logic [PLACE_WIDTH-1:0] read_place,
    input logic [BEAT_BYTES*8-1:0] read_data,

    output logic give_back,
    input logic give_back_ready,
    output logic [PACKET_WIDTH-1:0] give_back_packet,

    output logic payload,
    input logic payload_ready,
    output logic [BEAT_BYTES*8-1:0] payload_data
);
  localparam int unsigned JOBS = 8;
  localparam int unsigned ROOM = 16;  // Beats.
  localparam int unsigned LATENCY = 3;

  logic has_job, loads, is_at_work, has_room, takes, is_last, ends, may_end;
  logic [PACKET_WIDTH-1:0] job_packet;
  logic [12:0] job_bytes, left;
  logic [LATENCY-1:0] coming;
  logic [$clog2(JOBS):0] jobs;
  logic [$clog2(ROOM):0] beats;
  unit_queue #(
      .UNIT_WIDTH(PACKET_WIDTH + 13),
      .ENTRIES(JOBS)
  ) i_jobs (
      .push(start && start_ready),
      .push_unit({start_packet, start_bytes}),
      .valid(has_job),
      .unit({job_packet, job_bytes}),
      .pop(loads),
      .filling(jobs),
      .*
  );
  assign may_end = !give_back || give_back_ready;
  assign is_last = left <= 13'(BEAT_BYTES);
  assign read = is_at_work && left != '0 && has_room && !(is_last && give_back);
  assign takes = read && read_ready;
  assign ends = is_at_work && (left == '0 ? may_end : takes && is_last);
  assign loads = has_job && (!is_at_work || ends);
  always_ff @(posedge clock) begin
    start_ready <= !reset && 32'(jobs) < JOBS - 2;
    has_room <= !reset && 32'(beats) < ROOM - 2 * LATENCY - 2;  // For beats on the way.
    is_at_work <= !reset && (loads || is_at_work && !ends);
    if (loads) begin
      read_packet <= job_packet;
      read_place <= PLACE_WIDTH'(hca_spec_pkg::PACKET_HEADROOM / BEAT_BYTES);
      left <= job_bytes;
    end else if (takes) begin
      read_place <= read_place + PLACE_WIDTH'(1);
      left <= is_last ? '0 : left - 13'(BEAT_BYTES);
    end
    give_back <= !reset && (ends || give_back && !give_back_ready);
    if (ends) give_back_packet <= read_packet;
    coming <= reset ? '0 : {coming[LATENCY-2:0], takes};
  end
  unit_queue #(
      .UNIT_WIDTH(BEAT_BYTES * 8),
      .ENTRIES(ROOM)
  ) i_beats (
      .push(coming[LATENCY-1]),
      .push_unit(read_data),
      .valid(payload),
      .unit(payload_data),
      .pop(payload && payload_ready),
      .filling(beats),
      .*
  );
endmodule
