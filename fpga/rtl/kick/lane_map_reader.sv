// Reads entries of the TVL mapping table that the control function keeps in host memory (US8484392): the lanes of function f, level l, one
// bit each in 8 B, at index 2f + l. It reads one entry at a time, for the kick that waits in virtual_kick. If the entry was invalidated
// after the read began, the block drops the answer and reads again. It reports an entry that it could not read as unknown.
module lane_map_reader #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // DMA address of the table. An address that is not 8 B aligned is refused. The block accepts it while set_address_ready is set, and no
    // longer reads the previous table.
    input logic set_address,
    output logic set_address_ready,
    output logic set_address_allowed,
    input logic [63:0] set_address_address,
    output logic [63:0] address,

    // As in virtual_kick: entries invalidated in this clock, and the entry that a kick waits for.
    input logic invalidate_lanes,
    input logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries,
    input logic fetch_lanes,
    input logic [FUNCTION_WIDTH-1:0] fetch_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t fetch_lanes_quality_of_service_level,

    // The entry has been read, or could not be read (known is clear). Held until fetched_lanes.
    output logic lanes_read,
    output logic lanes_read_known,
    output logic [63:0] lanes_read_lanes,
    input logic fetched_lanes,

    // To host_port: reads a word in the memory of the control function.
    output logic request,
    input logic request_ready,
    output logic [63:0] request_address,
    input logic answer,
    input logic answer_ok,
    input logic [63:0] answer_data
);
  localparam int unsigned PLACES = 2 << FUNCTION_WIDTH;
  localparam logic [63:0] ENTRY_BYTES = 64'd8;
  localparam logic [1:0] IDLE = 2'd0;
  localparam logic [1:0] READ = 2'd1;
  localparam logic [1:0] AWAIT = 2'd2;
  localparam logic [1:0] GIVE = 2'd3;

  logic [1:0] state;
  logic [FUNCTION_WIDTH:0] entry;  // Function and level.
  logic [PLACES-1:0] invalidated;
  logic is_stale;  // The entry was invalidated after the read began, or its kick no longer waits.

  assign invalidated = invalidate_lanes ? PLACES'(invalidate_lanes_entries) : '0;
  assign set_address_ready = state == IDLE;
  assign set_address_allowed = set_address_address % ENTRY_BYTES == '0;
  assign request = state == READ;
  assign request_address = address + 64'(entry) * ENTRY_BYTES;
  assign lanes_read = state == GIVE && !is_stale && fetch_lanes;

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= IDLE;
      address <= '0;
    end else begin
      case (state)
        IDLE: if (fetch_lanes) state <= READ;
        READ: if (request_ready) state <= AWAIT;
        AWAIT: if (answer) state <= GIVE;
        default: if (!lanes_read || fetched_lanes) state <= IDLE;
      endcase
      if (set_address && set_address_ready && set_address_allowed) address <= set_address_address;
    end
    if (state == IDLE)
      entry <= {
        fetch_lanes_underlying_function, fetch_lanes_quality_of_service_level == hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH
      };
    is_stale <= state != IDLE && (is_stale || !fetch_lanes || invalidated[entry]);
    if (answer) begin
      lanes_read_known <= answer_ok;
      lanes_read_lanes <= answer_data;
    end
  end
endmodule
