// The addresses of the device's ports, and its partitions, written by the control port. A packet's destination is compared with all GIDs of a
// function at a port at once. After a reset all entries are 0.
module destination_tables #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    localparam int unsigned PORT_WIDTH = $clog2(hca_spec_pkg::PORTS),
    localparam int unsigned GIDS = hca_spec_pkg::GID_TABLE_ENTRIES,
    localparam int unsigned GID_WIDTH = $clog2(GIDS),
    localparam int unsigned KEY_WIDTH = $clog2(hca_spec_pkg::PARTITION_KEY_TABLE_ENTRIES),
    localparam int unsigned OWNER_WIDTH = PORT_WIDTH + FUNCTION_WIDTH
) (
    input logic clock,
    input logic clearing,
    input logic [15:0] cleared,  // Counts up from 0 during the reset's sweep.

    // Writes one entry. Ports count from 0 here.
    input logic gid_write,
    input logic identifier_write,
    input logic key_write,
    input logic [PORT_WIDTH-1:0] write_port,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [GID_WIDTH-1:0] write_index,
    input logic [127:0] write_data,  // A GID, first byte highest; a LID or P_Key in the lowest bits.

    // Comparison, without latency.
    input logic [PORT_WIDTH-1:0] port,
    input logic [FUNCTION_WIDTH-1:0] underlying_function,
    input logic [KEY_WIDTH-1:0] key_index,
    input logic [127:0] gid,
    output logic [GIDS-1:0] is_gid,  // The entries that equal this GID.
    output logic [15:0] local_identifier,
    output logic [15:0] partition_key
);
  logic [OWNER_WIDTH-1:0] owner, write_owner;
  logic unused_cleared;
  assign unused_cleared = &{1'b0, cleared};
  assign owner = {port, underlying_function};
  assign write_owner = clearing ? cleared[OWNER_WIDTH-1:0] : {write_port, write_underlying_function};
  for (genvar index = 0; index < GIDS; index++) begin : gen_gid
    logic [127:0] own;
    lut_memory #(
        .WIDTH(128),
        .SIZE(1 << OWNER_WIDTH)
    ) i_gids (
        .write(clearing || gid_write && write_index == GID_WIDTH'(index)),
        .write_address(write_owner),
        .write_data(clearing ? '0 : write_data),
        .read_addresses(owner),
        .read_data(own),
        .*
    );
    assign is_gid[index] = own == gid;
  end
  lut_memory #(
      .WIDTH(16),
      .SIZE(1 << OWNER_WIDTH)
  ) i_identifiers (
      .write(clearing || identifier_write),
      .write_address(write_owner),
      .write_data(clearing ? '0 : write_data[15:0]),
      .read_addresses(owner),
      .read_data(local_identifier),
      .*
  );
  lut_memory #(
      .WIDTH(16),
      .SIZE(1 << (PORT_WIDTH + KEY_WIDTH))
  ) i_keys (
      .write(clearing || key_write),
      .write_address(clearing ? cleared[PORT_WIDTH+KEY_WIDTH-1:0] : {write_port, write_index}),
      .write_data(clearing ? '0 : write_data[15:0]),
      .read_addresses({port, key_index}),
      .read_data(partition_key),
      .*
  );
endmodule
