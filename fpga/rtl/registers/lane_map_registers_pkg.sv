// Offsets of virtual_kick's mapping table among the control registers. No localparams: Yosys 0.23 does not resolve names of another package
// in the localparams of a package.
package lane_map_registers_pkg;
  // Whether an offset is the low half of an entry; and whether it is an entry, the shared lanes, or the table's host memory address.
  function automatic logic is_entry(input logic [15:0] offset);
    is_entry = 32'(offset) >= hca_spec_pkg::CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_OFFSET && offset[2:0] == 3'd0
        && 32'(offset) < hca_spec_pkg::CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_OFFSET
        + hca_spec_pkg::CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_COUNT * hca_spec_pkg::CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_STRIDE;
  endfunction
  function automatic logic is_register(input logic [15:0] offset);
    is_register = is_entry(offset) || 32'(offset) == hca_spec_pkg::CONTROL_SHARED_TRANSMIT_VIRTUAL_LANES_OFFSET
        || 32'(offset) == hca_spec_pkg::CONTROL_LANE_MAP_ADDRESS_OFFSET;
  endfunction
endpackage
