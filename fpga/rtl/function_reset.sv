// Resets a function by register: cancels its VCBs, closes its management page and clears its structures in host memory. The reset lasts
// until none of its commands holds a PCB or is on a list, and the blocks behind have no DMA of it. Other functions continue.
module function_reset #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned BUFFERS = 72,
    parameter int unsigned COMMANDS_WIDTH = 8,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,
    input logic function_reset_request,  // For one clock.
    input logic [FUNCTION_WIDTH-1:0] function_reset_underlying_function,
    output logic [UNDERLYING_FUNCTIONS-1:0] function_resetting,
    input logic [UNDERLYING_FUNCTIONS-1:0] function_drained,  // The blocks behind have no DMA of the function under way.

    // The function at work, and its VCBs.
    output logic [FUNCTION_WIDTH-1:0] forget_underlying_function,
    input logic [VCB_WIDTH:0] bar_base,
    input logic [VCB_WIDTH:0] bar_count,

    // To control_commands.
    output logic request,
    output logic [2:0] request_command,
    output logic [VCB_WIDTH:0] request_page,
    input logic request_done,

    // To host_memory, each held until it is done.
    output logic forget_records,
    input logic forget_records_done,
    output logic forget_structures,
    input logic forget_structures_done,

    // Commands that got a PCB, for a lane or for management, and PCBs that come back; of a function, those with virtual_kick.
    input logic kick,
    input logic management,
    input hca_spec_pkg::kick_unit_t kick_unit,
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer,
    output logic [FUNCTION_WIDTH-1:0] query_underlying_function,
    input logic [COMMANDS_WIDTH-1:0] query_function_commands
);
  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] CANCEL_BUFFERS = 3'd1;
  localparam logic [2:0] CLOSE_PAGE = 3'd2;
  localparam logic [2:0] FORGET_RECORDS = 3'd3;
  localparam logic [2:0] FORGET_STRUCTURES = 3'd4;
  localparam logic [2:0] BEGIN = 3'd5;
  localparam int unsigned COUNT_WIDTH = $clog2(BUFFERS + 1);

  logic [2:0] state;
  logic [UNDERLYING_FUNCTIONS-1:0] asked, at_work, draining, is_quiet;
  logic [FUNCTION_WIDTH-1:0] first;
  logic [VCB_WIDTH:0] base, count, done_buffers;  // VCBs of the function, as they were when it began.

  find_first #(.SIZE(UNDERLYING_FUNCTIONS)) i_first (.bits(asked), .first(first));
  assign at_work = state == IDLE ? '0 : UNDERLYING_FUNCTIONS'(1) << forget_underlying_function;
  assign function_resetting = asked | at_work | draining;
  assign request = state == CANCEL_BUFFERS && done_buffers != count || state == CLOSE_PAGE;
  assign request_command = state == CLOSE_PAGE ? hca_spec_pkg::COLLECT_BUFFER_CONTROL_CLOSE :
      hca_spec_pkg::COLLECT_BUFFER_CONTROL_CANCEL;
  assign request_page = state == CLOSE_PAGE ? {1'b1, VCB_WIDTH'(forget_underlying_function)} :
      {1'b0, VCB_WIDTH'(base + done_buffers)};
  assign forget_records = state == FORGET_RECORDS;
  assign forget_structures = state == FORGET_STRUCTURES;

  always_ff @(posedge clock) begin
    if (reset) state <= IDLE;
    else
      case (state)
        IDLE: if (asked != '0) state <= BEGIN;
        BEGIN: state <= CANCEL_BUFFERS;
        CANCEL_BUFFERS: if (done_buffers == count) state <= CLOSE_PAGE;
        CLOSE_PAGE: if (request_done) state <= FORGET_RECORDS;
        FORGET_RECORDS: if (forget_records_done) state <= FORGET_STRUCTURES;
        default: if (forget_structures_done) state <= IDLE;
      endcase
    if (reset) forget_underlying_function <= '0;
    else if (state == IDLE) forget_underlying_function <= first;
    if (state == BEGIN) begin
      base <= bar_base;
      count <= bar_count;
    end
    if (state == BEGIN) done_buffers <= '0;
    else if (state == CANCEL_BUFFERS && request_done) done_buffers <= done_buffers + (VCB_WIDTH + 1)'(1);
    if (reset || query_underlying_function == FUNCTION_WIDTH'(UNDERLYING_FUNCTIONS - 1)) query_underlying_function <= '0;
    else query_underlying_function <= query_underlying_function + FUNCTION_WIDTH'(1);
  end

  // PCBs in use, and the function of each. Both are a clock late. The last kick of a cancelled command is counted all the same before a
  // reset looks for the function's PCBs, because several clocks pass in between.
  logic [BUFFERS-1:0] held;
  logic [FUNCTION_WIDTH-1:0] owners[BUFFERS];
  logic is_kicked, releases, is_released;
  logic [PCB_WIDTH-1:0] kicked_buffer, released_buffer;
  logic [FUNCTION_WIDTH-1:0] kicked_function, released_function;
  logic unused;
  assign unused = &{1'b0, kick_unit};
  always_ff @(posedge clock) begin
    is_kicked <= !reset && (kick || management);
    kicked_buffer <= PCB_WIDTH'(kick_unit.physical_collect_buffer);
    kicked_function <= FUNCTION_WIDTH'(kick_unit.underlying_function);
    releases <= !reset && release_buffer;
    released_buffer <= release_physical_collect_buffer;
  end
  assign is_released = releases && held[released_buffer];
  assign released_function = owners[released_buffer];
  always_ff @(posedge clock) if (is_kicked) owners[kicked_buffer] <= kicked_function;
  always_ff @(posedge clock) begin
    if (reset) held <= '0;
    else begin
      if (releases) held[released_buffer] <= 1'b0;
      if (is_kicked) held[kicked_buffer] <= 1'b1;
    end
  end

  // Functions that begin to be reset, that wait for their commands, and that have none left.
  logic [UNDERLYING_FUNCTIONS-1:0] is_asked, is_started, is_forgotten, has_no_buffer;
  assign is_asked = UNDERLYING_FUNCTIONS'(function_reset_request) << function_reset_underlying_function;
  assign is_started = state == IDLE ? asked & UNDERLYING_FUNCTIONS'(1) << first : '0;
  assign is_forgotten = UNDERLYING_FUNCTIONS'(forget_structures && forget_structures_done) << forget_underlying_function;
  assign is_quiet = UNDERLYING_FUNCTIONS'(query_function_commands == '0) << query_underlying_function & has_no_buffer & function_drained;
  always_ff @(posedge clock) begin
    if (reset) begin
      asked <= '0;
      draining <= '0;
    end else begin
      asked <= asked & ~is_started | is_asked;
      if (draining != '0 || forget_structures) draining <= draining & ~is_quiet | is_forgotten;
    end
  end

  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    logic [COUNT_WIDTH-1:0] buffers;  // Held.
    assign has_no_buffer[number] = buffers == '0;
    always_ff @(posedge clock) begin
      if (reset) buffers <= '0;
      else if (is_kicked || is_released)
        buffers <= buffers + COUNT_WIDTH'(is_kicked && kicked_function == FUNCTION_WIDTH'(number))
            - COUNT_WIDTH'(is_released && released_function == FUNCTION_WIDTH'(number));
    end
  end
endmodule
