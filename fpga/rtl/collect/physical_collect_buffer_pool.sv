// The PCBs of collect_buffer: the free ones (physical_collect_buffer_list), the function and part of the BAR for which each PCB of the pool was
// taken, and the number that each function and level may still take (collect_group_table).
module physical_collect_buffer_pool #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter bit UPSET = 1'b0,  // For tests: one stored bit of each owner is wrong.
    parameter int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    parameter int unsigned COUNT_WIDTH = $clog2(PHYSICAL_COLLECT_BUFFERS + 1) + 2
) (
    input logic clock,
    input logic reset,

    // PCBs that can be taken in this clock; one of the pool is taken.
    output logic pool_available,
    output logic [PCB_WIDTH-1:0] pool_buffer,
    input logic take_pool,
    input logic idle,  // No PCB is taken in this clock or in the next two.
    output logic [BUFFERS-1:0] free_buffers,
    output logic management_available,
    output logic [PCB_WIDTH-1:0] management_buffer,
    output logic dedicated_available,
    output logic [PCB_WIDTH-1:0] dedicated_buffer,

    // The PCB that was taken, reported afterwards: one of the pool, with its function, its part and its payer; another one.
    input logic taken,
    input logic taken_other,
    input logic [PCB_WIDTH-1:0] taken_buffer,
    input logic [FUNCTION_WIDTH-1:0] taker,
    input logic [1:0] taker_part,
    input logic paid_by_level,
    input logic paid_by_function,
    input logic paid_by_all,

    // PCBs that are released: without a kick, and after it.
    input logic give_back,
    input logic [PCB_WIDTH-1:0] give_back_buffer,
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer,

    // PCBs that are left, see collect_group_table; the PCB that division_settling checks.
    input logic [FUNCTION_WIDTH-1:0] asked_underlying_function,
    input logic [1:0] asked_part,
    output logic [1:0] left_level,
    output logic [1:0] left_function,
    output logic [1:0] left_all,
    output logic overdrawn,
    input logic [PCB_WIDTH-1:0] looked_at_buffer,
    output logic part_repays,

    input logic set_allotment,
    input logic [FUNCTION_WIDTH-1:0] set_allotment_underlying_function,
    input logic [COUNT_WIDTH-1:0] set_allotment_low,
    input logic [COUNT_WIDTH-1:0] set_allotment_high,
    input logic [COUNT_WIDTH-1:0] set_allotment_shared,
    output logic allotment_allowed
);
  logic releases;
  logic [PCB_WIDTH-1:0] released;
  logic [FUNCTION_WIDTH-1:0] giver, releaser, looked_at_function;
  logic [1:0] giver_part, releaser_part, looked_at_part;

  always_ff @(posedge clock) begin
    releases <= !reset && release_buffer;
    released <= release_physical_collect_buffer;
  end

  physical_collect_buffer_list #(
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS),
      .DEDICATED_PHYSICAL_COLLECT_BUFFERS(DEDICATED_PHYSICAL_COLLECT_BUFFERS),
      .MANAGEMENT_PHYSICAL_COLLECT_BUFFERS(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS)
  ) i_physical_collect_buffer_list (
      .taken(taken || taken_other),
      .release_buffer(releases),
      .release_physical_collect_buffer(released),
      .*
  );

  voted_memory #(
      .WIDTH(FUNCTION_WIDTH + 2),
      .SIZE(1 << PCB_WIDTH),
      .READERS(3),
      .UPSET(UPSET)
  ) i_takers (
      .clock(clock),
      .reset(reset),
      .write(taken),
      .write_address(taken_buffer),
      .write_data({taker, taker_part}),
      .read_addresses({looked_at_buffer, released, give_back_buffer}),
      .read_data({looked_at_function, looked_at_part, releaser, releaser_part, giver, giver_part})
  );

  collect_group_table #(
      .UNDERLYING_FUNCTIONS(UNDERLYING_FUNCTIONS),
      .PHYSICAL_COLLECT_BUFFERS(PHYSICAL_COLLECT_BUFFERS)
  ) i_collect_group_table (
      .take(taken),
      .take_underlying_function(taker),
      .take_part(taker_part),
      .looked_at_underlying_function(looked_at_function),
      .give_back(give_back && 32'(give_back_buffer) < PHYSICAL_COLLECT_BUFFERS),
      .give_back_underlying_function(giver),
      .give_back_part(giver_part),
      .release_buffer(releases && 32'(released) < PHYSICAL_COLLECT_BUFFERS),
      .release_underlying_function(releaser),
      .release_part(releaser_part),
      .*
  );
endmodule
