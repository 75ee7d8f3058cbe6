// The read-only window of the control function: a VCB, and a PCB with its scoreboard and mask. collect_buffer reports the binding of one
// page at a time, so the block searches for the page of a PCB when the PCB is selected. It then reads the VCB and that page alternately;
// the values are a few clocks old.
module inspect_window #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1,
    parameter int unsigned PAGE_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS) + 1,
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // Register inspect_select, which takes effect with select_done.
    input logic select,
    input logic [31:0] select_value,
    output logic select_done,

    // Control registers by offset; a 64-bit register is read whole, at its lower offset.
    input logic [15:0] read_offset,
    output logic [63:0] read_value,

    // From collect_buffer, one clock after the request; inspect_taken: another block requests in this clock.
    output logic [PAGE_WIDTH-1:0] inspect_page,
    input logic inspect_taken,
    input logic [2:0] inspect_state,
    input logic [7:0] inspect_refusal,
    input logic [PCB_WIDTH-1:0] inspect_physical_collect_buffer,
    input logic [hca_spec_pkg::SEGMENTS-1:0] inspect_scoreboard,
    input logic [hca_spec_pkg::SEGMENTS-1:0] inspect_scoreboard_mask,
    input logic [BUFFERS-1:0] free_buffers,

    // From management_locks, in the same clock: the state of a dedicated PCB.
    output logic [PCB_WIDTH-1:0] query_physical_collect_buffer,
    input logic [2:0] query_state,
    input logic [FUNCTION_WIDTH-1:0] query_underlying_function
);
  localparam int unsigned PAGES = VIRTUAL_COLLECT_BUFFERS + UNDERLYING_FUNCTIONS;
  localparam logic [15:0] NO_BUFFER = 16'hffff;

  localparam logic [3:0] REST = 4'd12;  // Clocks until beats before the selection have taken effect.

  logic looking, looked, is_found, is_turn_of_found, answers_found, answers_virtual, is_collecting, collects_it, is_there, has_last;
  logic [3:0] rest;
  logic [PAGE_WIDTH-1:0] look_page, looked_page, found_page;
  logic [PCB_WIDTH-1:0] selected, virtual_buffer;
  logic [2:0] virtual_state;
  logic [7:0] virtual_refusal;
  logic found_collects;
  logic [hca_spec_pkg::SEGMENTS-1:0] found_scoreboard, found_scoreboard_mask;
  hca_spec_pkg::control_inspect_select_t select_now;
  hca_spec_pkg::control_inspect_physical_collect_buffer_t physical;
  hca_spec_pkg::control_inspect_virtual_collect_buffer_t virtual_;

  assign selected = PCB_WIDTH'(select_now.physical_collect_buffer);
  assign is_there = 32'(select_now.physical_collect_buffer) < BUFFERS;
  assign inspect_page = looking ? look_page : is_turn_of_found ? found_page : PAGE_WIDTH'(select_now.virtual_collect_buffer);
  assign is_collecting = inspect_state == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;
  assign collects_it = is_there && is_collecting && inspect_physical_collect_buffer == selected;
  assign has_last = look_page == PAGE_WIDTH'(PAGES - 1);

  always_ff @(posedge clock) begin
    if (reset) begin
      looking <= 1'b0;
      looked <= 1'b0;
      is_found <= 1'b0;
      rest <= '0;
      select_done <= 1'b0;
      select_now <= '0;
    end else begin
      looked <= looking;
      select_done <= looking && has_last;
      if (select) rest <= REST;
      else if (rest != '0) rest <= rest - 4'd1;
      if (select) begin
        is_found <= 1'b0;
        select_now <= select_value;
      end else if (looked && collects_it) is_found <= 1'b1;
      if (rest == 4'd1) looking <= 1'b1;
      else if (has_last) looking <= 1'b0;
    end
    look_page <= looking ? look_page + PAGE_WIDTH'(1) : '0;
    looked_page <= look_page;
    if (looked && collects_it) found_page <= looked_page;

    is_turn_of_found <= !reset && !is_turn_of_found;
    answers_found <= !looking && !inspect_taken && is_turn_of_found;
    answers_virtual <= !looking && !inspect_taken && !is_turn_of_found;
    if (answers_found) begin
      found_collects <= collects_it;
      found_scoreboard <= inspect_scoreboard;
      found_scoreboard_mask <= inspect_scoreboard_mask;
    end
    if (answers_virtual) begin
      virtual_state <= inspect_state;
      virtual_refusal <= inspect_refusal;
      virtual_buffer <= inspect_physical_collect_buffer;
    end
  end

  // The state that the search found may have changed before it is read.
  logic is_shown;
  assign is_shown = is_found && !looking && found_collects;
  assign query_physical_collect_buffer = selected;
  always_comb begin
    physical = '0;
    physical.virtual_collect_buffer = NO_BUFFER;
    physical.dedicated = 32'(selected) >= PHYSICAL_COLLECT_BUFFERS;
    if (physical.dedicated) begin
      physical.state[2:0] = query_state;
      physical.underlying_function = 8'(query_underlying_function);
    end else if (is_shown) begin
      physical.state = hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_COLLECTING;
      physical.virtual_collect_buffer = 16'(found_page);
    end else if (!free_buffers[selected]) physical.state = hca_spec_pkg::PHYSICAL_COLLECT_BUFFER_STATE_KICKED;
    virtual_ = '0;
    virtual_.state[2:0] = virtual_state;  // collect_buffer reports these bits.
    if (virtual_state == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_ERROR) virtual_.refusal[7:0] = virtual_refusal;
    virtual_.physical_collect_buffer =
        virtual_state == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING ? 16'(virtual_buffer) : NO_BUFFER;
  end

  always_comb begin
    case (32'(read_offset))
      hca_spec_pkg::CONTROL_INSPECT_SELECT_OFFSET: read_value = {32'd0, select_now};
      hca_spec_pkg::CONTROL_INSPECT_PHYSICAL_COLLECT_BUFFER_OFFSET: read_value = is_there ? {32'd0, physical} : '0;
      hca_spec_pkg::CONTROL_INSPECT_SCOREBOARD_OFFSET: read_value = is_shown ? 64'(found_scoreboard) : '0;
      hca_spec_pkg::CONTROL_INSPECT_SCOREBOARD_MASK_OFFSET: read_value = is_shown ? 64'(found_scoreboard_mask) : '0;
      hca_spec_pkg::CONTROL_INSPECT_VIRTUAL_COLLECT_BUFFER_OFFSET:
      read_value = 32'(select_now.virtual_collect_buffer) < VIRTUAL_COLLECT_BUFFERS ? {32'd0, virtual_} : '0;
      default: read_value = '0;
    endcase
  end
endmodule
