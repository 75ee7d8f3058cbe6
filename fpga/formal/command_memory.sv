// The ports of command_memory with a memory that keeps one bit of each DWORD, because the block treats all bits of a DWORD alike.
module command_memory #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned BUFFER_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic may_write,
    input logic [BUFFER_WIDTH-1:0] write_buffer,
    input logic [BEATS_WIDTH-1:0] write_beat,
    input logic [BEAT_BYTES*8-1:0] write_data,
    input logic [BEAT_BYTES/4-1:0] write_dwords,
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
  assign store_ready = !may_write;
  for (genvar lane = 0; lane < BEAT_BYTES / 4; lane++) begin : gen_lane
    logic memory[1<<BUFFER_WIDTH+BEATS_WIDTH];
    logic bit_read;
    assign read_data[lane*32+:32] = {31'd0, bit_read};
    always_ff @(posedge clock) begin
      if (write_dwords[lane]) memory[{write_buffer, write_beat}] <= write_data[lane*32];
      bit_read <= memory[{read_buffer, read_beat}];
    end
  end
endmodule
