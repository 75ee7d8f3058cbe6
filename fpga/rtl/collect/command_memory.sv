// Header and payload buffers of the PCBs: a beat is written by DWORDs or as a whole, and read as a whole, one clock later, through two
// ports.
module command_memory #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned BUFFER_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic may_write,  // Early: whether write_dwords may be set in this clock.
    input logic [BUFFER_WIDTH-1:0] write_buffer,
    input logic [BEATS_WIDTH-1:0] write_beat,
    input logic [BEAT_BYTES*8-1:0] write_data,
    input logic [BEAT_BYTES/4-1:0] write_dwords,

    // A beat of a fetched command, stored in a clock in which no other beat is written.
    input logic store,
    output logic store_ready,
    input logic [BUFFER_WIDTH-1:0] store_physical_collect_buffer,
    input logic [BEATS_WIDTH-1:0] store_beat,
    input logic [BEAT_BYTES*8-1:0] store_data,

    input logic [BUFFER_WIDTH-1:0] read_buffer,
    input logic [BEATS_WIDTH-1:0] read_beat,
    output logic [BEAT_BYTES*8-1:0] read_data,
    input logic [BUFFER_WIDTH-1:0] again_buffer,
    input logic [BEATS_WIDTH-1:0] again_beat,
    output logic [BEAT_BYTES*8-1:0] again_data
);
  logic stores;
  logic [BUFFER_WIDTH+BEATS_WIDTH-1:0] write_address;
  assign store_ready = !may_write;
  assign stores = store && store_ready;
  assign write_address = stores ? {store_physical_collect_buffer, store_beat} : {write_buffer, write_beat};

  for (genvar lane = 0; lane < BEAT_BYTES / 4; lane++) begin : gen_lane
    logic [31:0] memory[1<<BUFFER_WIDTH+BEATS_WIDTH];
    always_ff @(posedge clock) begin
      if (write_dwords[lane] || stores) memory[write_address] <= stores ? store_data[lane*32+:32] : write_data[lane*32+:32];
      read_data[lane*32+:32] <= memory[{read_buffer, read_beat}];
      again_data[lane*32+:32] <= memory[{again_buffer, again_beat}];
    end
  end
endmodule
