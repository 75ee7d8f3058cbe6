// Commands on the lists by owner, a lane or a function, and room for another one. An owner's room is looked up; one clock later it is
// compared, and another one later it decides whether the command is listed. Commands that left in the last two clocks may still count.
module list_room #(
    parameter int unsigned OWNERS = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned ENTRIES = 72,  // The most of each owner at first.
    localparam int unsigned OWNER_WIDTH = OWNERS > 1 ? $clog2(OWNERS) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,

    input logic [OWNER_WIDTH-1:0] look_owner,
    output logic has_room,  // Two clocks later.
    // Then the command is listed, or not; and one leaves.
    input logic push,
    input logic [OWNER_WIDTH-1:0] push_owner,
    input logic leave,
    input logic [OWNER_WIDTH-1:0] leave_owner,

    input logic set_most,  // The most that an owner may have; it counts in two clocks.
    input logic [OWNER_WIDTH-1:0] set_most_owner,
    input logic [COUNT_WIDTH-1:0] set_most_commands,

    input logic [OWNER_WIDTH-1:0] query_owner,
    output logic [COUNT_WIDTH-1:0] query_commands,
    output logic [COUNT_WIDTH-1:0] query_room  // Two clocks later.
);
  // By owner, modulo 2^COUNT_WIDTH: commands that were listed and that left. Each memory has one writer. Their number is the difference, 0
  // until its bit is set; the first command then begins where the last stopped. Further: the most that an owner may have, once it is set.
  logic [COUNT_WIDTH-1:0] listed_of[OWNERS];
  logic [COUNT_WIDTH-1:0] left_of[OWNERS];
  logic [COUNT_WIDTH-1:0] most_of[OWNERS];
  logic [OWNERS-1:0] used, is_set;

  always_ff @(posedge clock) begin
    if (push) listed_of[push_owner] <= (used[push_owner] ? listed_of[push_owner] : left_of[push_owner]) + COUNT_WIDTH'(1);
    if (leave) left_of[leave_owner] <= left_of[leave_owner] + COUNT_WIDTH'(1);
    if (set_most) most_of[set_most_owner] <= set_most_commands;
    if (reset) begin
      used <= '0;
      is_set <= '0;
    end else begin
      if (push) used[push_owner] <= 1'b1;
      if (set_most) is_set[set_most_owner] <= 1'b1;
    end
  end

  // Room for more commands; less than none where the most was made smaller than what is there.
  function automatic logic [COUNT_WIDTH-1:0] commands_of(input logic [OWNER_WIDTH-1:0] owner);
    commands_of = used[owner] ? listed_of[owner] - left_of[owner] : '0;
  endfunction
  function automatic logic [COUNT_WIDTH:0] room_of(input logic [OWNER_WIDTH-1:0] owner);
    room_of = {1'b0, is_set[owner] ? most_of[owner] : COUNT_WIDTH'(ENTRIES)} - {1'b0, commands_of(owner)};
  endfunction

  // The stages of a command that is to be listed. The look-up misses what the two before it list.
  logic [OWNER_WIDTH-1:0] owner_2, owner_3;
  logic [COUNT_WIDTH:0] room_2;
  logic is_same_1, is_same_2, pushed_before, has_one, has_two, has_three, is_one_less, is_two_less;

  always_ff @(posedge clock) begin
    owner_2 <= look_owner;
    owner_3 <= owner_2;
    room_2 <= room_of(look_owner);
    is_same_1 <= look_owner == owner_2;
    is_same_2 <= look_owner == owner_3;
    pushed_before <= push;
    has_one <= !room_2[COUNT_WIDTH] && room_2 != '0;
    has_two <= !room_2[COUNT_WIDTH] && (room_2 >> 1) != '0;
    has_three <= !room_2[COUNT_WIDTH] && ((room_2 >> 2) != '0 || (room_2 & (COUNT_WIDTH + 1)'(3)) == (COUNT_WIDTH + 1)'(3));
    is_one_less <= is_same_1 && push;
    is_two_less <= is_same_2 && pushed_before;
  end
  assign has_room = is_one_less && is_two_less ? has_three : is_one_less || is_two_less ? has_two : has_one;

  logic [COUNT_WIDTH:0] queried_room;
  assign query_commands = commands_of(query_owner);
  always_ff @(posedge clock) begin
    queried_room <= room_of(query_owner);
    query_room <= queried_room[COUNT_WIDTH] ? '0 : queried_room[COUNT_WIDTH-1:0];
  end
endmodule
