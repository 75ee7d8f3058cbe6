// The ports of command_memory and nothing behind them: a proof holds whatever it answers.
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

    // A beat of a command that was fetched, in a clock in which no other is written.
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
endmodule
