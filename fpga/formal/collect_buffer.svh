// A kick if and only if every needed DWORD was written since the binding, and nothing was refused; a PCB has at most one owner: the
// free list, one page that collects in it, or whoever got the kick or took it; who holds how many of the pool is what
// collect_group_table counts, so that a function within what it owns always gets one; and no function writes to another's page.
// By induction; `watched` stands for any page.
(* anyconst *) logic [PAGE_WIDTH-1:0] watched;
logic started = 1'b0;
logic [FUNCTION_WIDTH:0] user;  // Of the beat in the second stage.
logic is_watched;  // The beat in the second stage is for it.
logic [DWORDS-1:0] written;  // To it, since the binding, or since send queue mode began.
logic [DWORDS-1:0] written_now;
logic [8:0] watched_length;
logic [DWORDS-1:0] wanted;  // What the length in segment 0 asks for.
logic [DWORDS-1:0] wanted_now;
logic [BUFFERS-1:0] handed_on;  // Kicked or taken, and not released.
logic [3*UNDERLYING_FUNCTIONS*COUNT_WIDTH-1:0] held;  // PCBs by function and part, low, high and shared.

function automatic logic [DWORDS-1:0] wanted_by(input logic [8:0] length);
  for (int unsigned dword = 0; dword < DWORDS; dword++)
    wanted_by[dword] = dword < 16 || 32'(length) > (dword - 16) / 2 * 8;
endfunction

assign is_watched = is_command && page == watched;
assign written_now = (state[watched] == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_FREE ? '0 : written) | brought;
assign watched_length = segment_0[watched][hca_spec_pkg::COMMAND_HEADER_LENGTH_LSB+:9];
assign wanted = wanted_by(watched_length);
assign wanted_now = wanted_by(header.length);

always_ff @(posedge clock) begin
  started <= 1'b1;
  user <= first_user;
  if (is_watched) written <= written_now;
  else if (locks && page == watched) written <= '0;
  for (int unsigned number = 0; number < BUFFERS; number++) begin
    if (reset) handed_on[number] <= 1'b0;
    else if (kicks && buffer == PCB_WIDTH'(number) || takes_management && management_buffer == PCB_WIDTH'(number)
        || takes_dedicated && dedicated_buffer == PCB_WIDTH'(number))
      handed_on[number] <= 1'b1;
    else if (release_buffer && release_physical_collect_buffer == PCB_WIDTH'(number)) handed_on[number] <= 1'b0;
  end
end

logic watched_collects;
logic watched_waits;
logic [SEGMENTS-1:0] expected;  // Of its scoreboard.
assign watched_collects = state[watched] == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;
assign watched_waits = state[watched] == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_SEND_QUEUE_MODE;
for (genvar segment = 0; segment < SEGMENTS; segment++) begin : gen_expected
  assign expected[segment] = written[segment*2+:2] == 2'b11 || written[1:0] == 2'b11 && !wanted[segment*2];
end

for (genvar owner_number = 0; owner_number < UNDERLYING_FUNCTIONS; owner_number++) begin : gen_held
  for (genvar part_number = 0; part_number < 3; part_number++) begin : gen_part
    logic [COUNT_WIDTH-1:0] count;
    always_comb begin
      count = '0;
      for (int unsigned number = 0; number < PHYSICAL_COLLECT_BUFFERS; number++)
        count = count + COUNT_WIDTH'(!free_buffers[number] && 32'(buffer_function[number]) == owner_number
            && 32'(buffer_part[number]) == part_number);
    end
    assign held[(3*owner_number+part_number)*COUNT_WIDTH+:COUNT_WIDTH] = count;
  end
end

for (genvar number = 0; number < PHYSICAL_COLLECT_BUFFERS; number++) begin : gen_used
  always_comb begin
    if (started && !free_buffers[number])
      assert (buffer_part[number] <= hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED
          && 32'(buffer_function[number]) < UNDERLYING_FUNCTIONS);
  end
end

always_comb begin
  assume (scoreboard_variant == hca_spec_pkg::SCOREBOARD_VARIANT_MASKED);
  if (!started) assume (reset);
  // A PCB is locked for a management page. Whoever got a PCB gives it back once.
  if (control && control_command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_LOCK) assume (control_page[VCB_WIDTH]);
  if (release_buffer && !reset) assume (handed_on[release_physical_collect_buffer]);
  if (started) begin
    if (is_watched && !reset) begin
      assert (kicks == (collects && !refuses && written_now[1:0] == 2'b11 && (wanted_now & ~written_now) == '0));
      assert (kicks_send_queue_mode == (!collects && !refuses && written_now[1:0] == 2'b11
          && (wanted_now & ~written_now) == '0));
    end
    if (kicks || kicks_send_queue_mode) assert (is_command);
    if (claimed && user[FUNCTION_WIDTH]) assert (user[FUNCTION_WIDTH-1:0] == underlying_function);
    if (takes && !reset) assert (free_buffers[free_buffer]);
    assert ((handed_on & free_buffers) == '0);
    assert (group <= hca_spec_pkg::COLLECT_GROUP_FUNCTION_SHARED);
    if (group_available) assert (pool_available);
    assert (is_management == page[VCB_WIDTH]);
    if (valid && is_control && command == hca_spec_pkg::COLLECT_BUFFER_CONTROL_LOCK) assert (is_management);
    if (valid && is_slots) assert (line == SLOTS_LINE && !is_partial && !is_management);
    if (watched_collects || watched_waits) begin
      assert (received[watched] == written);
      if (written[1:0] == 2'b11) begin
        assert (watched_length <= 9'(hca_spec_pkg::COMMAND_PAYLOAD_BYTES));
        assert ((written & ~wanted) == '0);
        assert ((wanted & ~written) != '0);
      end
    end
    if (watched_collects) assert (scoreboards[bound[watched]] == expected);
  end
end

for (genvar number = 0; number < PAGES; number++) begin : gen_formal
  logic collecting;
  assign collecting = state[number] == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING;
  always_comb begin
    if (started) begin
      assert (state[number] <= hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED);
      if (number >= VIRTUAL_COLLECT_BUFFERS)
        assert (collecting || state[number] == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_CLOSED);
      if (collecting) begin
        assert (!free_buffers[bound[number]] && !handed_on[bound[number]]);
        assert ((32'(bound[number]) < PHYSICAL_COLLECT_BUFFERS) == (number < VIRTUAL_COLLECT_BUFFERS));
      end
    end
  end
  for (genvar other = 0; other < number; other++) begin : gen_other
    always_comb begin
      if (started && collecting && state[other] == hca_spec_pkg::VIRTUAL_COLLECT_BUFFER_STATE_COLLECTING)
        assert (bound[number] != bound[other]);
    end
  end
end
