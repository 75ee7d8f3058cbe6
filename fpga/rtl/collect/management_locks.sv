// The owner of each management PCB, and the control commands by which the host locks and unlocks one: a function its own, the control
// function any. collect_buffer decides; this block stores its decisions, because a lock is broken by its PCB.
module management_locks #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned PAGE_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS) + 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // One request at a time, held until lock_done: a read of management_lock, a write of management_unlock or of break_management_lock.
    input logic lock,
    input logic unlock,
    input logic break_lock,
    input logic [FUNCTION_WIDTH-1:0] lock_underlying_function,  // The function of the first two.
    input logic [7:0] break_physical_collect_buffer,
    output logic lock_done,
    output logic [31:0] lock_value,  // The value of register management_lock.

    // Requests to control_commands, and the completion of every control command.
    output logic request,
    output logic [2:0] request_command,
    output logic [PAGE_WIDTH-1:0] request_page,
    input logic request_done,
    input logic control_done,
    input logic [2:0] control_command,
    input logic [PAGE_WIDTH-1:0] control_page,
    input logic control_granted,
    input logic [PCB_WIDTH-1:0] control_physical_collect_buffer,

    // Events of a management page: a write, its kick, a refusal; and the release of a PCB.
    input logic page_write_done,
    input logic [FUNCTION_WIDTH-1:0] page_write_underlying_function,
    input logic [3:0] page_write_strobes,
    input logic management,
    input hca_spec_pkg::management_unit_t management_unit,
    input logic refused,
    input hca_spec_pkg::event_unit_t refused_event,
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer,

    // Dedicated PCBs by offset of the control registers, and one of them by its number among all PCBs.
    input logic [BUFFERS-1:0] free_buffers,
    input logic [15:0] read_offset,
    output logic [31:0] read_value,
    input logic [PCB_WIDTH-1:0] query_physical_collect_buffer,
    output logic [2:0] query_state,  // physical_collect_buffer_state_t
    output logic [FUNCTION_WIDTH-1:0] query_underlying_function
);
  localparam logic [2:0] FREE = hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_FREE;
  localparam logic [2:0] KICKED = hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_KICKED;
  localparam int unsigned LOCK_WIDTH = MANAGEMENT_PHYSICAL_COLLECT_BUFFERS > 1 ? $clog2(MANAGEMENT_PHYSICAL_COLLECT_BUFFERS) : 1;
  localparam logic [31:0] NO_BUFFER = 32'h0000_ffff;
  localparam int unsigned FIRST = hca_spec_pkg::CONTROL_DEDICATED_PHYSICAL_COLLECT_BUFFER_OFFSET;
  localparam int unsigned STRIDE = hca_spec_pkg::CONTROL_DEDICATED_PHYSICAL_COLLECT_BUFFER_STRIDE;
  localparam logic [1:0] IDLE = 2'd0;
  localparam logic [1:0] REQUEST = 2'd1;
  localparam logic [1:0] DONE = 2'd2;

  // State of the PCBs for management.
  logic [2:0] states[MANAGEMENT_PHYSICAL_COLLECT_BUFFERS];
  logic [FUNCTION_WIDTH-1:0] owners[MANAGEMENT_PHYSICAL_COLLECT_BUFFERS];

  function automatic logic is_for_management(input logic [31:0] buffer);
    is_for_management = buffer >= PHYSICAL_COLLECT_BUFFERS
        && buffer < PHYSICAL_COLLECT_BUFFERS + MANAGEMENT_PHYSICAL_COLLECT_BUFFERS;
  endfunction

  // The function that a control command, a write or a refusal belongs to.
  logic is_lock_done, is_close_done, is_refused, happens, unused;
  logic [FUNCTION_WIDTH-1:0] control_function, refused_function;
  assign control_function = control_page[FUNCTION_WIDTH-1:0];
  assign refused_function = FUNCTION_WIDTH'(refused_event.underlying_function);
  assign is_lock_done = control_done && control_command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_LOCK && control_granted;
  assign is_close_done = control_done && control_command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_CLOSE && control_page[PAGE_WIDTH-1];
  assign is_refused = refused && refused_event.object == NO_BUFFER;
  assign unused = &{1'b0, management_unit, refused_event, free_buffers};
  // Else simulation has no work with any PCB.
  assign happens = reset || is_lock_done || is_close_done || is_refused || release_buffer || management || page_write_done;

  for (genvar number = 0; number < MANAGEMENT_PHYSICAL_COLLECT_BUFFERS; number++) begin : gen_management
    localparam logic [PCB_WIDTH-1:0] BUFFER = PCB_WIDTH'(PHYSICAL_COLLECT_BUFFERS + number);
    logic is_held, is_lost;
    assign is_held = states[number] == hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_LOCKED
        || states[number] == hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_COLLECTING;
    assign is_lost = is_held
        && (is_close_done && owners[number] == control_function || is_refused && owners[number] == refused_function);
    always_ff @(posedge clock) begin
      if (happens) begin
        if (reset) begin
          states[number] <= hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_FREE;
          owners[number] <= '0;
        end else if (is_lock_done && control_physical_collect_buffer == BUFFER && !is_held) begin
          states[number] <= hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_LOCKED;
          owners[number] <= control_function;
        end else if (is_lost || release_buffer && release_physical_collect_buffer == BUFFER)
          states[number] <= hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_FREE;
        else if (management && PCB_WIDTH'(management_unit.physical_collect_buffer) == BUFFER)
          states[number] <= hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_KICKED;
        else if (is_held && page_write_done && page_write_strobes != '0 && owners[number] == page_write_underlying_function)
          states[number] <= hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_COLLECTING;
      end
    end
  end

  // Requests of the host. The lock of a PCB that no function holds cannot be broken.
  logic [1:0] state;
  logic [2:0] broken_state;
  logic is_broken;
  logic [FUNCTION_WIDTH-1:0] asked_function;
  logic [LOCK_WIDTH-1:0] broken;
  hca_spec_pkg::underlying_function_management_lock_t value;

  assign broken = LOCK_WIDTH'(32'(break_physical_collect_buffer) - PHYSICAL_COLLECT_BUFFERS);
  assign broken_state = states[broken];
  assign is_broken = is_for_management(32'(break_physical_collect_buffer))
      && (broken_state == hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_LOCKED
      || broken_state == hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_COLLECTING);
  assign asked_function = break_lock ? owners[broken] : lock_underlying_function;
  assign request = state == REQUEST;
  assign lock_done = state == DONE;

  always_comb begin
    value = '0;
    value.granted = control_granted;
    if (control_granted) value.physical_collect_buffer = 8'(control_physical_collect_buffer);
  end

  always_ff @(posedge clock) begin
    if (reset) state <= IDLE;
    else
      case (state)
        IDLE: if (lock || unlock || break_lock) state <= break_lock && !is_broken ? DONE : REQUEST;
        REQUEST: if (request_done) state <= DONE;
        default: state <= IDLE;
      endcase
    if (state == IDLE) begin
      request_command <= lock ? hca_spec_pkg::COLLECT_BUFFER_CONTROL_LOCK : hca_spec_pkg::COLLECT_BUFFER_CONTROL_CLOSE;
      request_page <= {1'b1, (PAGE_WIDTH - 1)'(asked_function)};
    end
    if (request_done) lock_value <= value;
  end

  // Reads. For the other dedicated PCBs this block knows only whether they are free.
  logic is_dedicated, is_lock_read, is_lock_queried;
  logic [PCB_WIDTH-1:0] read_buffer;
  logic [LOCK_WIDTH-1:0] read_lock, queried_lock;
  hca_spec_pkg::control_dedicated_physical_collect_buffer_t dedicated;
  assign is_dedicated = 32'(read_offset) >= FIRST && 32'(read_offset) < FIRST + DEDICATED_PHYSICAL_COLLECT_BUFFERS * STRIDE;
  assign read_buffer = PCB_WIDTH'(PHYSICAL_COLLECT_BUFFERS + (32'(read_offset) - FIRST) / STRIDE);
  assign read_lock = LOCK_WIDTH'(32'(read_buffer) - PHYSICAL_COLLECT_BUFFERS);
  assign queried_lock = LOCK_WIDTH'(32'(query_physical_collect_buffer) - PHYSICAL_COLLECT_BUFFERS);
  assign is_lock_read = is_for_management(32'(read_buffer));
  assign is_lock_queried = is_for_management(32'(query_physical_collect_buffer));
  assign query_state = is_lock_queried ? states[queried_lock] : free_buffers[query_physical_collect_buffer] ? FREE : KICKED;
  assign query_underlying_function = is_lock_queried ? owners[queried_lock] : '0;
  always_comb begin
    dedicated = '0;
    dedicated.state[2:0] = is_lock_read ? states[read_lock] : free_buffers[read_buffer] ? FREE : KICKED;
    if (is_lock_read) dedicated.underlying_function = 8'(owners[read_lock]);
  end
  assign read_value = is_dedicated ? dedicated : '0;
endmodule
