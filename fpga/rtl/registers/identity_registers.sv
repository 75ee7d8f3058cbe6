// The identity page: identity, sizes and region table. Registers are in BAR 0, the VCBs in a separate BAR that the host may map
// write-combining.
module identity_registers #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned TRANSMIT_VIRTUAL_LANES = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned QUEUE_PAIRS = 1 << hca_spec_pkg::QUEUE_PAIR_INDEX_BITS,
    parameter bit SCOREBOARD_VARIANT_DIRECT = 1'b0,
    parameter int unsigned PORTS = 1,
    parameter logic [63:0] CLOCK_FREQUENCY = 64'd250_000_000,  // Unit: hertz.
    parameter logic [8*32-1:0] BOARD_NAME = '0,  // First character in the lowest byte.
    parameter int unsigned CONTROL_OFFSET = 32'h1_0000,
    parameter int unsigned UNDERLYING_FUNCTION_OFFSET = 32'h2_0000,
    parameter int unsigned VIRTUAL_COLLECT_BUFFER_BAR = 2
) (
    input logic [11:0] address,
    output logic [31:0] data,
    output logic known  // A register exists at this offset.
);
  localparam int unsigned REGIONS = 4;
  localparam logic [11:0] REGION_0 = 12'(hca_spec_pkg::IDENTITY_REGION_OFFSET);
  localparam logic [11:0] REGION_STRIDE = 12'(hca_spec_pkg::IDENTITY_REGION_STRIDE);

  hca_spec_pkg::identity_device_t device;
  hca_spec_pkg::identity_capabilities_t capabilities;
  hca_spec_pkg::identity_dedicated_physical_collect_buffers_t dedicated;
  hca_spec_pkg::identity_region_t region;
  logic [11:0] of_region;  // Offset in the region's entry.
  logic [2:0] region_number;
  logic [31:0] region_entries, region_offset, region_stride, region_size, name;

  assign of_region = (address - REGION_0) & (REGION_STRIDE - 12'd1);
  assign region_number = 3'((address - REGION_0) / REGION_STRIDE);
  assign name = BOARD_NAME[{3'((address - 12'(hca_spec_pkg::IDENTITY_BOARD_NAME_OFFSET)) >> 2), 5'd0}+:32];

  always_comb begin
    device = '0;
    device.design_ = 16'd2;
    device.revision = 16'd1;
    capabilities = '0;
    capabilities.scoreboard_variant = SCOREBOARD_VARIANT_DIRECT ? hca_spec_pkg::SCOREBOARD_VARIANT_DIRECT :
        hca_spec_pkg::SCOREBOARD_VARIANT_MASKED;
    capabilities.kick_records = 1'b1;
    capabilities.rtl_collect_buffer = 1'b1;
    capabilities.rtl_virtual_kick = 1'b1;
    dedicated = '0;
    dedicated.total = 16'(DEDICATED_PHYSICAL_COLLECT_BUFFERS);
    dedicated.management = 16'(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS);

    region = '0;
    region_entries = 32'd1;
    region_offset = '0;
    region_stride = 32'(hca_spec_pkg::IDENTITY_BYTES);
    region_size = 32'(hca_spec_pkg::IDENTITY_BYTES);
    case (region_number)
      3'd0: region.type_ = hca_spec_pkg::REGION_TYPE_IDENTITY;
      3'd1: begin
        region.type_ = hca_spec_pkg::REGION_TYPE_CONTROL;
        region_offset = CONTROL_OFFSET;
        region_stride = 32'(hca_spec_pkg::CONTROL_BYTES);
        region_size = 32'(hca_spec_pkg::CONTROL_BYTES);
      end
      3'd2: begin
        region.type_ = hca_spec_pkg::REGION_TYPE_UNDERLYING_FUNCTION;
        region_entries = UNDERLYING_FUNCTIONS;
        region_offset = UNDERLYING_FUNCTION_OFFSET;
        region_stride = 32'(hca_spec_pkg::UNDERLYING_FUNCTION_BYTES);
        region_size = 32'(UNDERLYING_FUNCTIONS * hca_spec_pkg::UNDERLYING_FUNCTION_BYTES);
      end
      3'd3: begin
        region.type_ = hca_spec_pkg::REGION_TYPE_VIRTUAL_COLLECT_BUFFER;
        region.bar = 8'(VIRTUAL_COLLECT_BUFFER_BAR);
        region.prefetchable = 1'b1;
        region_entries = VIRTUAL_COLLECT_BUFFERS;
        region_stride = 32'(hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STRIDE);
        region_size = 32'(VIRTUAL_COLLECT_BUFFERS * hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STRIDE);
      end
      default: begin
        region_entries = '0;
        region_stride = '0;
        region_size = '0;
      end
    endcase
  end

  always_comb begin
    data = '0;
    known = 1'b1;
    if (address >= REGION_0 && address < REGION_0 + 12'(8 * hca_spec_pkg::IDENTITY_REGION_STRIDE)) begin
      if (of_region == '0) data = region;
      else if (of_region == 12'(hca_spec_pkg::IDENTITY_REGION_ENTRIES_OFFSET) - REGION_0) data = region_entries;
      else if (of_region == 12'(hca_spec_pkg::IDENTITY_REGION_OFFSET_OFFSET) - REGION_0) data = region_offset;
      else if (of_region == 12'(hca_spec_pkg::IDENTITY_REGION_SIZE_OFFSET) - REGION_0) data = region_size;
      else if (of_region == 12'(hca_spec_pkg::IDENTITY_REGION_PAGE_STRIDE_OFFSET) - REGION_0) data = region_stride;
    end else if (address >= 12'(hca_spec_pkg::IDENTITY_BOARD_NAME_OFFSET)
        && address < 12'(hca_spec_pkg::IDENTITY_BOARD_NAME_OFFSET) + 12'd32)
      data = name;
    else
      case (address)
        12'(hca_spec_pkg::IDENTITY_MAGIC_OFFSET): data = hca_spec_pkg::IDENTITY_MAGIC_RESET;
        12'(hca_spec_pkg::IDENTITY_VERSION_OFFSET): data = hca_spec_pkg::IDENTITY_VERSION_RESET;
        12'(hca_spec_pkg::IDENTITY_DEVICE_OFFSET): data = device;
        12'(hca_spec_pkg::IDENTITY_CAPABILITIES_OFFSET): data = capabilities;
        12'(hca_spec_pkg::IDENTITY_UNDERLYING_FUNCTIONS_OFFSET): data = UNDERLYING_FUNCTIONS;
        12'(hca_spec_pkg::IDENTITY_VIRTUAL_COLLECT_BUFFERS_OFFSET): data = VIRTUAL_COLLECT_BUFFERS;
        12'(hca_spec_pkg::IDENTITY_VIRTUAL_COLLECT_BUFFER_STRIDE_OFFSET):
        data = hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STRIDE;
        12'(hca_spec_pkg::IDENTITY_PHYSICAL_COLLECT_BUFFERS_OFFSET): data = PHYSICAL_COLLECT_BUFFERS;
        12'(hca_spec_pkg::IDENTITY_DEDICATED_PHYSICAL_COLLECT_BUFFERS_OFFSET): data = dedicated;
        12'(hca_spec_pkg::IDENTITY_TRANSMIT_VIRTUAL_LANES_OFFSET): data = TRANSMIT_VIRTUAL_LANES;
        12'(hca_spec_pkg::IDENTITY_QUEUE_PAIRS_OFFSET): data = QUEUE_PAIRS;
        12'(hca_spec_pkg::IDENTITY_PORTS_OFFSET): data = PORTS;
        12'(hca_spec_pkg::IDENTITY_CLOCK_FREQUENCY_OFFSET): data = CLOCK_FREQUENCY[31:0];
        12'(hca_spec_pkg::IDENTITY_CLOCK_FREQUENCY_OFFSET) + 12'd4: data = CLOCK_FREQUENCY[63:32];
        12'(hca_spec_pkg::IDENTITY_BEAT_BYTES_OFFSET): data = BEAT_BYTES;
        12'(hca_spec_pkg::IDENTITY_QUEUE_ENTRIES_MAXIMUM_OFFSET): data = hca_spec_pkg::QUEUE_ENTRIES_MAXIMUM;
        12'(hca_spec_pkg::IDENTITY_REGIONS_OFFSET): data = REGIONS;
        default: known = 1'b0;
      endcase
  end
endmodule
