// Register access to the mapping table of virtual_kick: the control function reads and writes it, a function reads its own lanes. An entry
// read from host memory is written in a clock without a register write.
module lane_map_registers #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,

    // Reads of 64-bit registers by offset: of the control page, and of the page of a function. Not during a write.
    input logic [15:0] read_offset,
    input logic [FUNCTION_WIDTH-1:0] read_underlying_function,
    output logic [63:0] control_read_value,
    output logic [63:0] function_read_value,

    // A write of a control register, accepted if wide_write is set and the block is ready in the clock of wide_now; wide_low is the
    // current low half. wide_offset comes a clock before wide_now. A forbidden write changes nothing.
    input logic [15:0] wide_offset,
    output logic wide_known,
    input logic wide_now,
    output logic wide_ready,
    input logic wide_write,
    input logic [63:0] wide_value,
    output logic [31:0] wide_low,
    output logic wide_allowed,

    // Requests to lane_map_reader; fetched_lanes returns the entry that it has read.
    output logic set_lane_map_address,
    input logic set_lane_map_address_ready,
    input logic set_lane_map_address_allowed,
    output logic [63:0] set_lane_map_address_address,
    input logic [63:0] lane_map_address,
    input logic lanes_read,
    input logic lanes_read_known,
    input logic [63:0] lanes_read_lanes,

    // To the ports of virtual_kick with these names.
    input logic [FUNCTION_WIDTH-1:0] fetch_lanes_underlying_function,
    input hca_spec_pkg::quality_of_service_level_t fetch_lanes_quality_of_service_level,
    output logic fetched_lanes,
    output logic set_lanes,
    output logic [FUNCTION_WIDTH-1:0] set_lanes_underlying_function,
    output hca_spec_pkg::quality_of_service_level_t set_lanes_quality_of_service_level,
    output logic set_shared_lanes,
    output logic [TRANSMIT_VIRTUAL_LANES-1:0] set_lanes_lanes,
    input logic set_lanes_allowed,
    input logic set_shared_lanes_allowed,
    output logic [FUNCTION_WIDTH-1:0] query_lanes_underlying_function,
    output hca_spec_pkg::quality_of_service_level_t query_lanes_quality_of_service_level,
    input logic [TRANSMIT_VIRTUAL_LANES-1:0] query_lanes,
    input logic [TRANSMIT_VIRTUAL_LANES-1:0] shared_lanes
);
  localparam int unsigned FIRST = hca_spec_pkg::CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_OFFSET;
  localparam int unsigned ENTRIES = hca_spec_pkg::CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_COUNT;
  localparam int unsigned STRIDE = hca_spec_pkg::CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_STRIDE;
  localparam int unsigned OWN = hca_spec_pkg::UNDERLYING_FUNCTION_TRANSMIT_VIRTUAL_LANES_OFFSET;
  localparam int unsigned OWN_STRIDE = hca_spec_pkg::UNDERLYING_FUNCTION_TRANSMIT_VIRTUAL_LANES_STRIDE;
  localparam int unsigned ENTRY_WIDTH = $clog2(ENTRIES);

  logic is_read_entry, is_read_own, is_shared, is_address, is_there, is_own_high, writes_table;
  logic [ENTRY_WIDTH-1:0] read_entry, entry;  // 2 * function + level
  logic unused_bits;

  // Reads. The lanes of an entry come one clock after the offset.
  assign is_read_entry = lane_map_registers_pkg::is_entry(read_offset);
  assign is_own_high = 32'(read_offset) == OWN + OWN_STRIDE;
  assign is_read_own = 32'(read_offset) == OWN || is_own_high;
  always_ff @(posedge clock)
    read_entry <= is_read_entry ? ENTRY_WIDTH'((32'(read_offset) - FIRST) / STRIDE) :
        ENTRY_WIDTH'({read_underlying_function, is_own_high});
  assign function_read_value = is_read_own ? 64'(query_lanes) : '0;
  always_comb begin
    control_read_value = '0;
    if (is_read_entry && 32'(read_entry) < 2 * UNDERLYING_FUNCTIONS) control_read_value = 64'(query_lanes);
    else if (32'(read_offset) == hca_spec_pkg::CONTROL_SHARED_TRANSMIT_VIRTUAL_LANES_OFFSET) control_read_value = 64'(shared_lanes);
    else if (32'(read_offset) == hca_spec_pkg::CONTROL_LANE_MAP_ADDRESS_OFFSET) control_read_value = lane_map_address;
  end

  // Writes.
  always_ff @(posedge clock) begin
    is_shared <= 32'(wide_offset) == hca_spec_pkg::CONTROL_SHARED_TRANSMIT_VIRTUAL_LANES_OFFSET;
    is_address <= 32'(wide_offset) == hca_spec_pkg::CONTROL_LANE_MAP_ADDRESS_OFFSET;
    entry <= ENTRY_WIDTH'((32'(wide_offset) - FIRST) / STRIDE);
  end
  assign wide_known = lane_map_registers_pkg::is_register(wide_offset);
  assign is_there = 32'(entry) < 2 * UNDERLYING_FUNCTIONS;
  assign wide_ready = !is_address || set_lane_map_address_ready;
  always_comb begin
    wide_low = 32'(query_lanes);
    wide_allowed = is_there && set_lanes_allowed;
    if (is_shared) begin
      wide_low = 32'(shared_lanes);
      wide_allowed = set_shared_lanes_allowed;
    end else if (is_address) begin
      wide_low = lane_map_address[31:0];
      wide_allowed = set_lane_map_address_allowed;
    end
  end
  assign set_lane_map_address = wide_write && is_address;
  assign set_lane_map_address_address = wide_value;

  // A write of an entry, or of a fetched entry; the latter waits one clock.
  assign writes_table = wide_now && !is_address;
  assign fetched_lanes = lanes_read && !writes_table;
  assign set_lanes = wide_write && !is_shared && !is_address && is_there || fetched_lanes && lanes_read_known;
  assign set_shared_lanes = wide_write && is_shared;
  assign set_lanes_lanes = TRANSMIT_VIRTUAL_LANES'(writes_table ? wide_value : lanes_read_lanes);
  assign set_lanes_underlying_function = writes_table ? FUNCTION_WIDTH'(entry[ENTRY_WIDTH-1:1]) : fetch_lanes_underlying_function;
  always_comb begin
    set_lanes_quality_of_service_level = fetch_lanes_quality_of_service_level;
    if (writes_table)
      set_lanes_quality_of_service_level = entry[0] ? hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH :
          hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW;
  end
  assign unused_bits = &{1'b0, lanes_read_lanes};

  // The table shows one entry at a time.
  logic [ENTRY_WIDTH-1:0] queried;
  assign queried = wide_now ? entry : read_entry;
  assign query_lanes_underlying_function = FUNCTION_WIDTH'(queried[ENTRY_WIDTH-1:1]);
  assign query_lanes_quality_of_service_level = queried[0] ? hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_HIGH :
      hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW;
endmodule
