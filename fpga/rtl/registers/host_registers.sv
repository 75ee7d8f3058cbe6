// AXI4-Lite side of the registers: identity, control, and a page for each function. Registers have 4 bytes; reading the low half of a
// 64-bit register latches its high half, separately for each page. Reads of undefined registers return zero. Writes to undefined registers,
// of a partial DWORD outside a management page, and of a forbidden division change nothing and are answered with SLVERR. A write is
// answered when it has taken effect, for example when a VCB is closed; a reset is answered when it starts. A disabled device drops and
// counts writes to management pages. An access is held from the clock after it was taken on, with what its address names.
module host_registers #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned COUNTS = 6,
    parameter int unsigned COUNT_WIDTH = $clog2(PHYSICAL_COLLECT_BUFFERS + 1) + 2,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1,
    // Pages of 64 KiB: identity, control, then the functions.
    parameter int unsigned REGISTER_ADDRESS_WIDTH = 16 + $clog2(UNDERLYING_FUNCTIONS + 2)
) (
    input logic clock,
    input logic reset,
    input logic device_reset,  // Clears the registers; an access in progress continues.
    input logic resetting,  // Writes wait.
    output logic reset_request,
    output logic function_reset_request,  // Set for one clock.
    output logic [FUNCTION_WIDTH-1:0] function_reset_underlying_function,
    input logic [UNDERLYING_FUNCTIONS-1:0] function_resetting,

    input logic [REGISTER_ADDRESS_WIDTH-1:0] register_awaddr,
    input logic register_awvalid,
    output logic register_awready,
    input logic [31:0] register_wdata,
    input logic [3:0] register_wstrb,
    input logic register_wvalid,
    output logic register_wready,
    output logic [1:0] register_bresp,
    output logic register_bvalid,
    input logic register_bready,
    input logic [REGISTER_ADDRESS_WIDTH-1:0] register_araddr,
    input logic register_arvalid,
    output logic register_arready,
    output logic [31:0] register_rdata,
    output logic [1:0] register_rresp,
    output logic register_rvalid,
    input logic register_rready,

    output logic [11:0] identity_address,
    input logic [31:0] identity_data,
    input logic identity_known,

    output logic enabled,
    output logic disable_device,  // A register write disables the enabled device. Held until that is done.
    input logic disable_done,
    output logic [63:0] now,
    output logic [63:0] half_written_limit,
    // Commands kicked, kicked in send queue mode, refused; writes dropped; commands cancelled; entries into the mode.
    input logic [COUNTS-1:0] counted,
    input logic [FUNCTION_WIDTH-1:0] counted_underlying_function,
    input logic write_unclaimed,
    input logic beat_unclaimed,

    // Accesses to host_memory, whose registers lie in the pages of the functions.
    output logic write,
    input logic write_ready,
    output logic [FUNCTION_WIDTH-1:0] write_underlying_function,
    output logic [15:0] write_offset,
    output logic [31:0] write_data,
    input logic write_allowed,
    output logic [FUNCTION_WIDTH-1:0] read_underlying_function,
    output logic [15:0] read_offset,
    input logic [63:0] read_value,
    input logic [63:0] lanes_value,  // Of lane_map_registers.

    // Accesses to page_writes and management_locks, one at a time and without another write meanwhile.
    output logic page_write,
    input logic page_write_done,
    output logic [FUNCTION_WIDTH-1:0] page_write_underlying_function,
    output logic [11:0] page_write_offset,
    output logic [31:0] page_write_data,
    output logic [3:0] page_write_strobes,
    output logic lock,
    output logic unlock,
    output logic break_lock,
    output logic [FUNCTION_WIDTH-1:0] lock_underlying_function,
    output logic [7:0] break_physical_collect_buffer,
    input logic lock_done,
    input logic [31:0] lock_value,

    // Accesses to inspect_window, which also has control registers at read_offset.
    output logic select,
    output logic [31:0] select_value,
    input logic select_done,
    input logic [63:0] window_value,  // Also the value of lane_window, lane_map_registers and management_locks.

    // Requests to bar_move, which checks VCBs; meanwhile no register is read.
    output logic moving,
    output logic [VCB_WIDTH:0] old_base,
    output logic [VCB_WIDTH:0] old_count,
    output logic [VCB_WIDTH:0] new_base,
    output logic [VCB_WIDTH:0] new_count,
    input logic move_done,
    input logic move_allowed,

    // To lane_map_registers: a write of a 64-bit control register. The low half of wide_value is the half that was written before, or the
    // one that the register holds.
    output logic [15:0] wide_offset,
    input logic wide_known,
    output logic wide_now,
    input logic wide_ready,
    output logic wide_write,
    output logic [63:0] wide_value,
    input logic [31:0] wide_low,
    input logic wide_allowed,

    // To virtual_kick and lane_map_reader: entries of the mapping table to be read from host memory.
    output logic invalidate_lanes,
    output logic [2*UNDERLYING_FUNCTIONS-1:0] invalidate_lanes_entries,

    // Requests to control_commands.
    output logic request,
    output logic [2:0] request_command,
    output logic [VCB_WIDTH:0] request_page,
    input logic request_done,

    // The VCBs of a function.
    input logic [FUNCTION_WIDTH-1:0] bar_underlying_function,
    output logic [VCB_WIDTH:0] bar_base,
    output logic [VCB_WIDTH:0] bar_count,

    // To the ports of collect_buffer with these names.
    output logic set_bar,
    output logic [FUNCTION_WIDTH-1:0] set_underlying_function,
    output logic [VCB_WIDTH:0] set_bar_base,
    output logic [VCB_WIDTH:0] set_bar_count,
    output logic [VCB_WIDTH:0] set_bar_low,
    output logic [VCB_WIDTH:0] set_bar_high,
    output logic set_allotment,
    output logic [COUNT_WIDTH-1:0] set_allotment_low,
    output logic [COUNT_WIDTH-1:0] set_allotment_high,
    output logic [COUNT_WIDTH-1:0] set_allotment_shared,
    input logic allotment_allowed
);
  localparam int unsigned SHARE = PHYSICAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;
  localparam int unsigned EACH = SHARE < 4 ? SHARE : 4;  // The allotments with which collect_group_table starts.
  localparam int unsigned COUNT = VIRTUAL_COLLECT_BUFFERS / UNDERLYING_FUNCTIONS;
  localparam int unsigned PAGE_BITS = REGISTER_ADDRESS_WIDTH - 16;
  localparam int unsigned PAGES = UNDERLYING_FUNCTIONS + 2;
  localparam logic [PAGE_BITS-1:0] IDENTITY = PAGE_BITS'(0);
  localparam logic [PAGE_BITS-1:0] CONTROL = PAGE_BITS'(1);
  localparam int unsigned WRITES_DROPPED = 3;  // Its index in `counted`.
  localparam logic [15:0] MANAGEMENT_PAGE = 16'(hca_spec_pkg::UNDERLYING_FUNCTION_MANAGEMENT_PAGE_OFFSET);
  localparam logic [1:0] OKAY = 2'b00;
  localparam logic [1:0] SLVERR = 2'b10;

  // In the layout of the registers.
  logic [31:0] bars[UNDERLYING_FUNCTIONS];
  logic [31:0] sub_bars[UNDERLYING_FUNCTIONS];
  logic [31:0] allotments[UNDERLYING_FUNCTIONS];
  logic [63:0] unclaimed;

  // Writes, one at a time.
  logic holds_write, takes_write;
  logic writes, waits, is_allowed, is_reset;
  logic has_low;  // The low half of a 64-bit control register was written and waits for its high half.
  logic has_low_of_it;  // The high half that is written is of the same register.
  logic [15:0] low_offset;
  logic [31:0] low;
  logic can_write, is_wide_low;
  logic goes_on;  // The write goes to a block that answers later.
  logic disabled;  // The device was enabled and is no longer: management pages accept no writes.
  logic disables, is_page_dropped, drops_write;
  logic [PAGE_BITS-1:0] page_now, page_offered;
  logic [15:0] offset_now, offset_offered;
  logic [31:0] data_now;
  logic [3:0] strobes_now;
  logic is_control_offered, is_function_offered, is_page_offered;
  logic is_bar, is_sub_bar, is_allotment, is_cancel, is_close, is_open, is_enable, is_limit, is_limit_high, is_control, is_select;
  logic is_page, is_unlock, is_break, is_function_reset, is_invalidate, is_of_host_memory;
  hca_spec_pkg::control_function_virtual_collect_buffer_bar_t bar, bar_asked, bar_now, bar_before, other_bar, bar_of_function;
  logic fits, bar_allowed, is_lane_allowed, is_allotment_allowed;
  logic [UNDERLYING_FUNCTIONS-1:0] overlaps, overlaps_now;
  hca_spec_pkg::control_function_virtual_collect_buffer_sub_bar_t sub_bar;
  hca_spec_pkg::control_function_physical_collect_buffers_t allotment;
  hca_spec_pkg::control_cancel_virtual_collect_buffer_t named;
  hca_spec_pkg::control_function_physical_collect_buffers_t first_allotment;
  hca_spec_pkg::control_control_t enable;
  hca_spec_pkg::underlying_function_management_unlock_t unlocks;
  hca_spec_pkg::underlying_function_reset_t function_reset_now;
  logic [3:0] write_strobes;
  hca_spec_pkg::control_break_management_lock_t broken;
  logic [FUNCTION_WIDTH-1:0] locking_function;
  logic unused_bits;

  function automatic logic in_array(input logic [15:0] offset, input int unsigned first);
    in_array = 32'(offset) >= first && 32'(offset) < first + 4 * UNDERLYING_FUNCTIONS && offset[1:0] == 2'b00;
  endfunction

  function automatic logic at(input int unsigned offset);
    at = 32'(offset_offered) == offset;
  endfunction

  assign takes_write = register_awvalid && register_wvalid && !holds_write;
  assign register_awready = takes_write;
  assign register_wready = takes_write;
  assign page_offered = register_awaddr[REGISTER_ADDRESS_WIDTH-1:16];
  assign offset_offered = register_awaddr[15:0];
  assign is_control_offered = page_offered == CONTROL && register_wstrb == 4'hf;
  assign is_function_offered = page_offered > CONTROL && 32'(page_offered) < PAGES;
  assign is_page_offered = is_function_offered && offset_offered >= MANAGEMENT_PAGE
      && offset_offered < MANAGEMENT_PAGE + 16'(hca_spec_pkg::COMMAND_BYTES);
  always_ff @(posedge clock) begin
    holds_write <= !reset && (takes_write || holds_write && !writes);
    if (takes_write) begin
      page_now <= page_offered;
      offset_now <= offset_offered;
      data_now <= register_wdata;
      strobes_now <= register_wstrb;
      is_control <= is_control_offered;
      is_page <= is_page_offered;
      is_unlock <= is_function_offered && register_wstrb == 4'hf && at(hca_spec_pkg::UNDERLYING_FUNCTION_MANAGEMENT_UNLOCK_OFFSET);
      is_function_reset <= is_function_offered && register_wstrb == 4'hf && at(hca_spec_pkg::UNDERLYING_FUNCTION_RESET_OFFSET);
      is_of_host_memory <= is_function_offered && register_wstrb == 4'hf && !is_page_offered
          && !at(hca_spec_pkg::UNDERLYING_FUNCTION_MANAGEMENT_UNLOCK_OFFSET) && !at(hca_spec_pkg::UNDERLYING_FUNCTION_RESET_OFFSET);
      is_break <= is_control_offered && at(hca_spec_pkg::CONTROL_BREAK_MANAGEMENT_LOCK_OFFSET);
      is_enable <= is_control_offered && at(hca_spec_pkg::CONTROL_CONTROL_OFFSET);
      is_limit <= is_control_offered && at(hca_spec_pkg::CONTROL_HALF_WRITTEN_LIMIT_OFFSET);
      is_limit_high <= is_control_offered && at(hca_spec_pkg::CONTROL_HALF_WRITTEN_LIMIT_OFFSET + 4);
      is_select <= is_control_offered && at(hca_spec_pkg::CONTROL_INSPECT_SELECT_OFFSET);
      is_cancel <= is_control_offered && at(hca_spec_pkg::CONTROL_CANCEL_VIRTUAL_COLLECT_BUFFER_OFFSET);
      is_close <= is_control_offered && at(hca_spec_pkg::CONTROL_CLOSE_VIRTUAL_COLLECT_BUFFER_OFFSET);
      is_open <= is_control_offered && at(hca_spec_pkg::CONTROL_OPEN_VIRTUAL_COLLECT_BUFFER_OFFSET);
      is_invalidate <= is_control_offered && at(hca_spec_pkg::CONTROL_LANE_MAP_INVALIDATE_OFFSET);
      is_bar <= is_control_offered && in_array(offset_offered, hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET);
      is_sub_bar <= is_control_offered
          && in_array(offset_offered, hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET);
      is_allotment <= is_control_offered && in_array(offset_offered, hca_spec_pkg::CONTROL_FUNCTION_PHYSICAL_COLLECT_BUFFERS_OFFSET);
      set_underlying_function <= FUNCTION_WIDTH'((offset_offered
          - 16'(in_array(offset_offered, hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET) ?
          hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET :
          in_array(offset_offered, hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET) ?
          hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET :
          hca_spec_pkg::CONTROL_FUNCTION_PHYSICAL_COLLECT_BUFFERS_OFFSET)) >> 2);
    end
  end

  // Three clocks decide about a held write, each from registers of the clock before: its 64-bit register or BAR, its value, whether it is
  // allowed. Meanwhile nothing that they depend on changes: BARs and lanes are set by writes, and a fetched entry waits (wide_now).
  logic can_decide;
  logic [2:0] decided;
  assign can_decide = holds_write && !register_bvalid && !waits && !lock && !reset_request && !resetting;
  assign can_write = decided[2];
  assign writes = can_write && (!moving || move_done) && (!wide_now || wide_ready);

  // A new BAR is for both levels until the sub-BAR is written.
  assign bar_of_function = bars[set_underlying_function];
  assign bar_asked = is_bar ? data_now : bar_of_function;
  always_comb begin
    other_bar = '0;
    overlaps_now = '0;
    if (decided[0] && (is_bar || is_sub_bar)) begin  // Saves comparisons in simulation.
      for (int unsigned number = 0; number < UNDERLYING_FUNCTIONS; number++) begin
        other_bar = bars[number];
        overlaps_now[number] = set_underlying_function != FUNCTION_WIDTH'(number) && bar.count != '0 && other_bar.count != '0
            && {1'b0, bar.base} < {1'b0, other_bar.base} + {1'b0, other_bar.count}
            && {1'b0, other_bar.base} < {1'b0, bar.base} + {1'b0, bar.count};
      end
    end
  end
  always_ff @(posedge clock) begin
    decided <= !can_decide || writes ? '0 : {decided[1:0], 1'b1};
    if (can_decide) begin
      bar <= bar_asked;
      bar_before <= bar_of_function;
      sub_bar <= is_sub_bar ? data_now : {bar_asked.count, 16'd0};
      overlaps <= overlaps_now;
      fits <= {16'd0, bar.base} + {16'd0, bar.count} <= VIRTUAL_COLLECT_BUFFERS && sub_bar.low <= sub_bar.high
          && sub_bar.high <= bar.count;
      bar_allowed <= fits && overlaps == '0;
      is_allotment_allowed <= is_allotment && allotment_allowed;
    end
  end
  assign allotment = data_now;
  assign named = data_now;
  assign enable = data_now;
  assign unlocks = data_now;
  assign function_reset_now = data_now;
  assign unused_bits = &{1'b0, named.reserved_1, allotment.reserved_3, enable.reserved_2, unlocks.reserved_1,
      function_reset_now.reserved_1, broken.reserved_1, bar_now, register_araddr[1:0]};
  always_comb begin
    first_allotment = '0;
    first_allotment.shared = 8'(EACH);
  end
  assign set_bar = writes && bar_allowed && (is_bar && move_allowed || is_sub_bar);
  assign bar_now = bars[bar_underlying_function];
  assign bar_base = (VCB_WIDTH + 1)'(bar_now.base);
  assign bar_count = (VCB_WIDTH + 1)'(bar_now.count);
  assign set_bar_base = (VCB_WIDTH + 1)'(bar.base);
  assign set_bar_count = (VCB_WIDTH + 1)'(bar.count);
  assign set_bar_low = (VCB_WIDTH + 1)'(sub_bar.low);
  assign set_bar_high = (VCB_WIDTH + 1)'(sub_bar.high);
  always_ff @(posedge clock) set_allotment <= !reset && writes && is_allotment;
  assign set_allotment_low = COUNT_WIDTH'(allotment.low);
  assign set_allotment_high = COUNT_WIDTH'(allotment.high);
  assign set_allotment_shared = COUNT_WIDTH'(allotment.shared);

  // A BAR is written when each VCB that changes its owner is known to be closed.
  assign moving = can_write && is_bar && bar_allowed;
  assign old_base = (VCB_WIDTH + 1)'(bar_before.base);
  assign old_count = (VCB_WIDTH + 1)'(bar_before.count);
  assign new_base = set_bar_base;
  assign new_count = set_bar_count;

  // Control registers of 64 bits.
  logic is_lane_high;
  assign wide_offset = {offset_now[15:3], 3'd0};
  assign wide_now = decided[0] && is_lane_high;
  assign wide_write = writes && is_lane_high;
  always_ff @(posedge clock) begin
    is_wide_low <= is_control && offset_now[2:0] == 3'd0 && (wide_known || is_limit);
    is_lane_high <= is_control && offset_now[2:0] == 3'd4 && wide_known;
    has_low_of_it <= has_low && low_offset == wide_offset;
    if (decided[0]) wide_value <= {data_now, has_low_of_it ? low : is_limit_high ? half_written_limit[31:0] : wide_low};
    is_lane_allowed <= is_lane_high && wide_allowed;
  end

  assign invalidate_lanes = writes && is_invalidate;
  assign invalidate_lanes_entries = (2 * UNDERLYING_FUNCTIONS)'(data_now);

  assign is_allowed = is_page || is_unlock || is_function_reset || is_break || is_enable || is_select || is_invalidate || is_wide_low
      || is_limit_high
      || is_lane_allowed
      || is_bar && bar_allowed && move_allowed
      || is_sub_bar && bar_allowed
      || is_allotment_allowed
      || (is_cancel || is_close || is_open) && 32'(named.virtual_collect_buffer) < VIRTUAL_COLLECT_BUFFERS;
  assign disables = is_enable && !enable.enable && !enable.reset && enabled;
  assign is_page_dropped = is_page && disabled;
  assign drops_write = writes && is_page_dropped;
  assign goes_on = disables || is_allowed && (is_cancel || is_close || is_open || is_allotment) || is_of_host_memory || is_page && !disabled || is_break || is_select
      || is_unlock && unlocks.unlock;

  logic is_done;
  assign select_value = write_data;
  assign page_write_underlying_function = write_underlying_function;
  assign page_write_offset = write_offset[11:0];
  assign page_write_data = write_data;
  assign page_write_strobes = write_strobes;
  assign lock_underlying_function = lock ? locking_function : write_underlying_function;
  assign broken = write_data;
  assign break_physical_collect_buffer = broken.physical_collect_buffer;
  assign function_reset_underlying_function = write_underlying_function;
  assign is_done = request_done || disable_done || write && write_ready || select_done || page_write_done || (unlock || break_lock) && lock_done;

  always_ff @(posedge clock) begin
    if (reset) begin
      register_bvalid <= 1'b0;
      request <= 1'b0;
      write <= 1'b0;
      waits <= 1'b0;
      reset_request <= 1'b0;
      function_reset_request <= 1'b0;
      select <= 1'b0;
      page_write <= 1'b0;
      unlock <= 1'b0;
      break_lock <= 1'b0;
      disable_device <= 1'b0;
    end else begin
      if (writes && !goes_on || waits && is_done) register_bvalid <= 1'b1;
      else if (register_bready) register_bvalid <= 1'b0;
      if (writes && goes_on) begin
        request <= is_cancel || is_close || is_open || is_allotment;
        write <= is_of_host_memory;
        page_write <= is_page;
        unlock <= is_unlock;
        break_lock <= is_break;
        disable_device <= disables;
        waits <= 1'b1;
      end else begin
        if (request_done) request <= 1'b0;
        if (write_ready) write <= 1'b0;
        if (page_write_done) page_write <= 1'b0;
        if (disable_done) disable_device <= 1'b0;
        if (lock_done) begin
          unlock <= 1'b0;
          break_lock <= 1'b0;
        end
        if (is_done) waits <= 1'b0;
      end
      function_reset_request <= writes && is_function_reset && function_reset_now.reset;
      reset_request <= writes && is_enable && enable.reset;
      select <= writes && is_select;
    end
    if (reset || device_reset) begin
      enabled <= 1'b0;
      disabled <= 1'b0;
      has_low <= 1'b0;
      half_written_limit <= hca_spec_pkg::CONTROL_HALF_WRITTEN_LIMIT_RESET;
    end else begin
      if (writes && (is_wide_low || is_limit_high || is_lane_high)) has_low <= is_wide_low;
      if (writes && is_enable) begin
        enabled <= enable.enable && !enable.reset;
        disabled <= !enable.enable && (enabled || disabled);
      end
      if (writes && is_limit_high) half_written_limit <= wide_value;
    end
    if (writes && is_wide_low) begin
      low <= data_now;
      low_offset <= wide_offset;
    end
    if (writes) begin
      register_bresp <= is_allowed ? OKAY : SLVERR;
      write_underlying_function <= FUNCTION_WIDTH'(page_now - PAGE_BITS'(2));
      write_offset <= offset_now;
      write_data <= data_now;
      write_strobes <= strobes_now;
      request_command <= is_allotment ? hca_spec_pkg::COLLECT_BUFFER_CONTROL_SETTLE_DIVISION :
          is_cancel ? hca_spec_pkg::COLLECT_BUFFER_CONTROL_CANCEL :
          is_close ? hca_spec_pkg::COLLECT_BUFFER_CONTROL_CLOSE : hca_spec_pkg::COLLECT_BUFFER_CONTROL_OPEN;
      request_page <= {1'b0, VCB_WIDTH'(named.virtual_collect_buffer)};
    end else if (write && write_ready) register_bresp <= write_allowed ? OKAY : SLVERR;
  end

  // A value of some function changes. The condition saves simulation time.
  logic changes, clears;
  assign clears = reset || device_reset;
  assign changes = clears || set_bar || set_allotment;

  for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_function
    always_ff @(posedge clock) begin
      if (changes) begin
        if (clears) begin
          bars[number] <= {16'(COUNT), 16'(number * COUNT)};
          sub_bars[number] <= {16'(COUNT), 16'd0};
          allotments[number] <= first_allotment;
        end else if (set_underlying_function == FUNCTION_WIDTH'(number)) begin
          if (set_bar) begin
            bars[number] <= bar;
            sub_bars[number] <= sub_bar;
          end
          if (set_allotment && is_allotment_allowed) allotments[number] <= allotment;
        end
      end
    end
  end

  // Events of collect_buffer by function, and writes of management pages that a disabled device dropped. Memories hold the numbers; a bit
  // says where one is not zero.
  logic [63:0] counts[COUNTS+1];
  logic [COUNTS:0] counted_now, adds;
  assign counted_now = {drops_write, counted};
  // An event is counted a clock after it: by then the block knows whether the memory has a number of its function.
  always_ff @(posedge clock) adds <= clears ? '0 : counted_now;
  for (genvar count = 0; count <= COUNTS; count++) begin : gen_count
    logic [UNDERLYING_FUNCTIONS-1:0] is_there;
    logic has_previous;  // The memory has a number of the function.
    logic [FUNCTION_WIDTH-1:0] counted_function, added_function;
    logic [63:0] previous, kept;
    assign counted_function = count == COUNTS ? FUNCTION_WIDTH'(page_now - PAGE_BITS'(2)) : counted_underlying_function;
    assign counts[count] = is_there[read_underlying_function] ? kept : '0;
    always_ff @(posedge clock) begin
      if (counted_now[count]) begin
        added_function <= counted_function;
        has_previous <= is_there[counted_function] || adds[count] && added_function == counted_function;
      end
      if (clears) is_there <= '0;
      else if (adds[count]) is_there[added_function] <= 1'b1;
    end
    lut_memory #(
        .WIDTH(64),
        .SIZE(1 << FUNCTION_WIDTH),
        .READERS(2)
    ) i_counts (
        .write(adds[count]),
        .write_address(added_function),
        .write_data((has_previous ? previous : '0) + 64'd1),
        .read_addresses({read_underlying_function, added_function}),
        .read_data({kept, previous}),
        .*
    );
  end

  always_ff @(posedge clock) begin
    now <= reset ? '0 : now + 64'd1;
    unclaimed <= reset || device_reset ? '0 : unclaimed + 64'(write_unclaimed) + 64'(beat_unclaimed);
  end

  // Reads. A read of a lock waits for collect_buffer and for earlier writes; during a reset it locks nothing. A read of a VCB or PCB waits
  // until earlier beats have taken effect and inspect_window has read their outcome.
  localparam logic [3:0] TAKES_EFFECT = 4'd15;  // Unit: clocks.
  logic holds_read, takes_read, reads, is_lock, begins_lock, is_inspect;
  logic [3:0] inspect_waits;
  logic [PAGE_BITS-1:0] read_page, read_page_offered;
  logic [FUNCTION_WIDTH-1:0] read_index;
  logic [31:0] latched[PAGES];  // The high half of the register whose low half was read last, by page.
  logic [15:0] latched_offsets[PAGES];
  logic [PAGES-1:0] has_latched;
  logic [15:0] read_offset_offered;
  logic [31:0] high;
  logic [63:0] value_now, value, window, of_host_memory, lanes, dropped, dropped_by_blocks, dropped_by_pages;
  logic is_wide, is_high;
  hca_spec_pkg::underlying_function_status_t status;
  hca_spec_pkg::control_control_t control_now;

  assign takes_read = register_arvalid && !holds_read;
  assign register_arready = !holds_read;
  assign read_page_offered = register_araddr[REGISTER_ADDRESS_WIDTH-1:16];
  assign read_offset_offered = {register_araddr[15:2], 2'b00};
  always_ff @(posedge clock) begin
    if (reset || reads || moving || !holds_read || !is_inspect) inspect_waits <= '0;
    else if (inspect_waits != TAKES_EFFECT) inspect_waits <= inspect_waits + 4'd1;
  end
  // Four clocks look a value up, each from registers of the clock before: its place in the blocks that have it, its value there, the block,
  // the register.
  logic can_look;
  logic [3:0] looked;
  assign can_look = holds_read && !moving && !wide_now;
  assign reads = looked[3] && can_look && (!register_rvalid || register_rready) && !lock && (!is_lock || begins_lock || is_reset)
      && (!is_inspect || inspect_waits == TAKES_EFFECT);
  always_ff @(posedge clock) begin
    looked <= reset || !can_look || reads ? '0 : {looked[2:0], 1'b1};
    if (holds_read) begin
      window <= window_value;
      of_host_memory <= read_value;
      lanes <= lanes_value;
      dropped_by_blocks <= counts[WRITES_DROPPED];
      dropped_by_pages <= counts[COUNTS];
      dropped <= dropped_by_blocks + dropped_by_pages;
      value <= value_now;
    end
  end
  assign identity_address = read_offset[11:0];
  assign begins_lock = is_lock && !is_reset && !waits && !holds_write && !(register_awvalid && register_wvalid);
  assign is_reset = reset_request || resetting;

  // Whether the register has 64 bits; read_offset is the offset of its low half.
  function automatic logic is_wide_control(input logic [15:0] offset);
    case (32'(offset))
      hca_spec_pkg::CONTROL_HALF_WRITTEN_LIMIT_OFFSET, hca_spec_pkg::CONTROL_WRITES_UNCLAIMED_OFFSET,
      hca_spec_pkg::CONTROL_INSPECT_SCOREBOARD_OFFSET, hca_spec_pkg::CONTROL_INSPECT_SCOREBOARD_MASK_OFFSET: is_wide_control = 1'b1;
      default: is_wide_control = lane_map_registers_pkg::is_register(offset);
    endcase
  endfunction
  function automatic logic is_wide_function(input logic [15:0] offset);
    case (32'(offset))
      hca_spec_pkg::UNDERLYING_FUNCTION_CLOCK_OFFSET, hca_spec_pkg::UNDERLYING_FUNCTION_KICKS_OFFSET,
      hca_spec_pkg::UNDERLYING_FUNCTION_SEND_QUEUE_MODE_KICKS_OFFSET, hca_spec_pkg::UNDERLYING_FUNCTION_COMMANDS_REFUSED_OFFSET,
      hca_spec_pkg::UNDERLYING_FUNCTION_WRITES_DROPPED_OFFSET, hca_spec_pkg::UNDERLYING_FUNCTION_COMMANDS_CANCELLED_OFFSET,
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET, hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET,
      hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORDS_WRITTEN_OFFSET, hca_spec_pkg::UNDERLYING_FUNCTION_KICK_RECORDS_DROPPED_OFFSET,
      hca_spec_pkg::UNDERLYING_FUNCTION_DMA_FAULTS_OFFSET, hca_spec_pkg::UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET,
      hca_spec_pkg::UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET
          + hca_spec_pkg::UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_STRIDE,
      hca_spec_pkg::UNDERLYING_FUNCTION_TRANSMIT_VIRTUAL_LANES_OFFSET,
      hca_spec_pkg::UNDERLYING_FUNCTION_TRANSMIT_VIRTUAL_LANES_OFFSET
          + hca_spec_pkg::UNDERLYING_FUNCTION_TRANSMIT_VIRTUAL_LANES_STRIDE,
      hca_spec_pkg::UNDERLYING_FUNCTION_SEND_QUEUE_MODE_ENTERED_OFFSET: is_wide_function = 1'b1;
      default: is_wide_function = 1'b0;
    endcase
  endfunction

  function automatic logic has_two_halves(input logic [PAGE_BITS-1:0] page, input logic [12:0] place);  // A place has 8 bytes.
    has_two_halves = page == CONTROL ? is_wide_control({place, 3'd0}) : page > CONTROL && is_wide_function({place, 3'd0});
  endfunction

  always_ff @(posedge clock) begin
    holds_read <= !reset && (takes_read || holds_read && !reads);
    if (takes_read) begin
      read_page <= read_page_offered;
      read_underlying_function <= FUNCTION_WIDTH'(read_page_offered - PAGE_BITS'(2));
      is_lock <= read_page_offered > CONTROL && 32'(read_page_offered) < PAGES
          && 32'(read_offset_offered) == hca_spec_pkg::UNDERLYING_FUNCTION_MANAGEMENT_LOCK_OFFSET;
      is_inspect <= read_page_offered == CONTROL && 32'(read_offset_offered) > hca_spec_pkg::CONTROL_INSPECT_SELECT_OFFSET
          && 32'(read_offset_offered) <= hca_spec_pkg::CONTROL_INSPECT_VIRTUAL_COLLECT_BUFFER_OFFSET;
      is_wide <= has_two_halves(read_page_offered, read_offset_offered[15:3]) && !read_offset_offered[2];
      is_high <= has_two_halves(read_page_offered, read_offset_offered[15:3]) && read_offset_offered[2];
      read_offset <= {read_offset_offered[15:3], read_offset_offered[2] && !has_two_halves(read_page_offered, read_offset_offered[15:3]), 2'b00};
    end
  end
  assign high = has_latched[read_page] && latched_offsets[read_page] == read_offset ? latched[read_page] : value[63:32];

  always_comb begin
    control_now = '0;
    control_now.enable = enabled;
    control_now.reset = is_reset;
    status = '0;
    status.enabled = enabled;
    status.reset_in_progress = is_reset || function_resetting[read_underlying_function];
    status.underlying_function = 8'(read_underlying_function);
  end

  always_comb begin
    value_now = '0;
    read_index = '0;
    if (!looked[2]) value_now = '0;  // Else simulation has nothing to select.
    else if (read_page == IDENTITY) value_now = {32'd0, read_offset[15:12] == 4'd0 && identity_known ? identity_data : 32'd0};
    else if (read_page == CONTROL) begin
      if (in_array(read_offset, hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET)) begin
        read_index = FUNCTION_WIDTH'((read_offset - 16'(hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET)) >> 2);
        value_now = {32'd0, bars[read_index]};
      end else if (in_array(read_offset, hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET)) begin
        read_index = FUNCTION_WIDTH'((read_offset - 16'(hca_spec_pkg::CONTROL_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET)) >> 2);
        value_now = {32'd0, sub_bars[read_index]};
      end else if (in_array(read_offset, hca_spec_pkg::CONTROL_FUNCTION_PHYSICAL_COLLECT_BUFFERS_OFFSET)) begin
        read_index = FUNCTION_WIDTH'((read_offset - 16'(hca_spec_pkg::CONTROL_FUNCTION_PHYSICAL_COLLECT_BUFFERS_OFFSET)) >> 2);
        value_now = {32'd0, allotments[read_index]};
      end else
        case (32'(read_offset))
          hca_spec_pkg::CONTROL_CONTROL_OFFSET: value_now = {32'd0, control_now};
          hca_spec_pkg::CONTROL_HALF_WRITTEN_LIMIT_OFFSET: value_now = half_written_limit;
          hca_spec_pkg::CONTROL_WRITES_UNCLAIMED_OFFSET: value_now = unclaimed;
          default: value_now = window;
        endcase
    end else if (32'(read_page) < PAGES)
      case (32'(read_offset))
        hca_spec_pkg::UNDERLYING_FUNCTION_STATUS_OFFSET: value_now = {32'd0, status};
        hca_spec_pkg::UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET: value_now = {32'd0, bars[read_underlying_function]};
        hca_spec_pkg::UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET: value_now = {32'd0, sub_bars[read_underlying_function]};
        hca_spec_pkg::UNDERLYING_FUNCTION_CLOCK_OFFSET: value_now = now;
        hca_spec_pkg::UNDERLYING_FUNCTION_KICKS_OFFSET: value_now = counts[0];
        hca_spec_pkg::UNDERLYING_FUNCTION_SEND_QUEUE_MODE_KICKS_OFFSET: value_now = counts[1];
        hca_spec_pkg::UNDERLYING_FUNCTION_COMMANDS_REFUSED_OFFSET: value_now = counts[2];
        hca_spec_pkg::UNDERLYING_FUNCTION_WRITES_DROPPED_OFFSET: value_now = dropped;
        hca_spec_pkg::UNDERLYING_FUNCTION_COMMANDS_CANCELLED_OFFSET: value_now = counts[4];
        hca_spec_pkg::UNDERLYING_FUNCTION_SEND_QUEUE_MODE_ENTERED_OFFSET: value_now = counts[5];
        default: value_now = of_host_memory | lanes;
      endcase
  end

  assign register_rresp = OKAY;
  always_ff @(posedge clock) begin
    register_rvalid <= !reset && (reads && !begins_lock || lock && lock_done || register_rvalid && !register_rready);
    if (reads) register_rdata <= is_high ? high : value[31:0];
    else if (lock && lock_done) register_rdata <= lock_value;
    if (reset) lock <= 1'b0;
    else if (reads && begins_lock) lock <= 1'b1;
    else if (lock_done) lock <= 1'b0;
    if (reads) locking_function <= read_underlying_function;
    if (reset || device_reset) has_latched <= '0;
    else if (reads && (is_wide || is_high)) has_latched[read_page] <= is_wide;
    if (reads && is_wide) begin
      latched[read_page] <= value[63:32];
      latched_offsets[read_page] <= read_offset;
    end
  end
endmodule
