// The source addresses of the device's packets: for each function at a port its MAC address or LID and its GIDs, and the P_Keys of a port. The control
// port writes them. After a reset all entries are 0. Ports count from 0 here.
module port_attributes #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    localparam int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    localparam int unsigned PORT_WIDTH = $clog2(hca_spec_pkg::PORTS),
    localparam int unsigned GID_WIDTH = $clog2(hca_spec_pkg::GID_TABLE_ENTRIES),
    localparam int unsigned KEY_WIDTH = $clog2(hca_spec_pkg::PARTITION_KEY_TABLE_ENTRIES),
    localparam int unsigned OWNER_WIDTH = PORT_WIDTH + FUNCTION_WIDTH,
    localparam int unsigned ADDRESS_WIDTH = OWNER_WIDTH + GID_WIDTH
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // After a reset; there are no writes.

    // Writes one entry.
    input logic gid_write,
    input logic mac_write,
    input logic identifier_write,
    input logic key_write,
    input logic [PORT_WIDTH-1:0] write_port,
    input logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    input logic [GID_WIDTH-1:0] write_index,
    input logic [127:0] write_data,  // A GID, first byte highest; a MAC address, first byte highest, LID or P_Key in the lowest bits.

    // The source of a packet, a clock later.
    input logic [PORT_WIDTH-1:0] port,
    input logic [FUNCTION_WIDTH-1:0] underlying_function,
    input logic [GID_WIDTH-1:0] gid_index,
    input logic [KEY_WIDTH-1:0] key_index,
    output logic [127:0] gid,
    output logic [47:0] mac,
    output logic [15:0] local_identifier,
    output logic [15:0] partition_key
);
  logic [ADDRESS_WIDTH-1:0] cleared;
  logic [OWNER_WIDTH-1:0] owner, write_owner;
  assign owner = {port, underlying_function};
  assign write_owner = clearing ? cleared[OWNER_WIDTH-1:0] : {write_port, write_underlying_function};
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      cleared <= '0;
    end else if (clearing) begin
      clearing <= cleared != '1;
      cleared <= cleared + ADDRESS_WIDTH'(1);
    end
  end
  list_memory #(
      .WIDTH(128),
      .SIZE (1 << ADDRESS_WIDTH),
      .BLOCK(1'b1)
  ) i_gids (
      .write(clearing || gid_write),
      .write_address(clearing ? cleared : {write_owner, write_index}),
      .write_data(clearing ? '0 : write_data),
      .read_address({owner, gid_index}),
      .read_data(gid),
      .*
  );
  list_memory #(
      .WIDTH(48),
      .SIZE (1 << OWNER_WIDTH)
  ) i_macs (
      .write(clearing || mac_write),
      .write_address(write_owner),
      .write_data(clearing ? '0 : write_data[47:0]),
      .read_address(owner),
      .read_data(mac),
      .*
  );
  list_memory #(
      .WIDTH(16),
      .SIZE (1 << OWNER_WIDTH)
  ) i_identifiers (
      .write(clearing || identifier_write),
      .write_address(write_owner),
      .write_data(clearing ? '0 : write_data[15:0]),
      .read_address(owner),
      .read_data(local_identifier),
      .*
  );
  list_memory #(
      .WIDTH(16),
      .SIZE (1 << (PORT_WIDTH + KEY_WIDTH))
  ) i_keys (
      .write(clearing || key_write),
      .write_address(clearing ? cleared[PORT_WIDTH+KEY_WIDTH-1:0] : {write_port, write_index[KEY_WIDTH-1:0]}),
      .write_data(clearing ? '0 : write_data[15:0]),
      .read_address({port, key_index}),
      .read_data(partition_key),
      .*
  );
endmodule
