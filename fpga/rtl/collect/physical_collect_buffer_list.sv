// The free PCB list (US8589610): a bit string in which a set bit is a free PCB. The pool's PCBs come first, then the dedicated
// ones: those of the management pages, then those that commands are fetched into. Of each kind the lowest free one is taken.
module physical_collect_buffer_list #(
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1
) (
    input logic clock,
    input logic reset,

    output logic [BUFFERS-1:0] free_buffers,
    output logic pool_available,
    output logic [PCB_WIDTH-1:0] pool_buffer,
    output logic management_available,
    output logic [PCB_WIDTH-1:0] management_buffer,
    output logic dedicated_available,
    output logic [PCB_WIDTH-1:0] dedicated_buffer,

    // One of them is taken; PCBs that come back: without a kick, and after it.
    input logic take,
    input logic [PCB_WIDTH-1:0] take_buffer,
    input logic give_back,
    input logic [PCB_WIDTH-1:0] give_back_buffer,
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer
);
  localparam logic [BUFFERS-1:0] ALL = '1;
  localparam logic [BUFFERS-1:0] DEDICATED = ALL << PHYSICAL_COLLECT_BUFFERS;
  localparam logic [BUFFERS-1:0] FETCHED = DEDICATED << MANAGEMENT_PHYSICAL_COLLECT_BUFFERS;

  logic [BUFFERS-1:0] pool, management, dedicated;

  assign pool = free_buffers & ~DEDICATED;
  assign management = free_buffers & DEDICATED & ~FETCHED;
  assign dedicated = free_buffers & FETCHED;
  assign pool_available = pool != '0;
  assign management_available = management != '0;
  assign dedicated_available = dedicated != '0;

  find_first #(.SIZE(BUFFERS)) i_pool (.bits(pool), .first(pool_buffer));
  find_first #(.SIZE(BUFFERS)) i_management (.bits(management), .first(management_buffer));
  find_first #(.SIZE(BUFFERS)) i_dedicated (.bits(dedicated), .first(dedicated_buffer));

  for (genvar number = 0; number < BUFFERS; number++) begin : gen_buffer
    always_ff @(posedge clock) begin
      if (reset) free_buffers[number] <= 1'b1;
      else if (give_back && give_back_buffer == PCB_WIDTH'(number)
          || release_buffer && release_physical_collect_buffer == PCB_WIDTH'(number))
        free_buffers[number] <= 1'b1;
`ifdef FPGA_VERBS_MUTANT_PCB_BOUND_TWICE
      else if (take && !release_buffer && take_buffer == PCB_WIDTH'(number)) free_buffers[number] <= 1'b0;
`else
      else if (take && take_buffer == PCB_WIDTH'(number)) free_buffers[number] <= 1'b0;
`endif
    end
  end
endmodule
