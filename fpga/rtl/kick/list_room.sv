// Counts the commands on the lists by owner (a lane or a function), and tells whether another one fits. The block reads the owner's room,
// compares it a clock later, and another clock later the caller lists the command or not. Commands that left in the last two clocks may
// still count.
module list_room #(
    parameter int unsigned OWNERS = hca_spec_pkg::TRANSMIT_VIRTUAL_LANES,
    parameter int unsigned ENTRIES = 72,  // Initial maximum of each owner.
    localparam int unsigned OWNER_WIDTH = OWNERS > 1 ? $clog2(OWNERS) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic reset,

    input logic [OWNER_WIDTH-1:0] look_owner,
    output logic has_room,  // Two clocks later.
    // The caller then lists the command or not. leave: a command leaves.
    input logic push,
    input logic [OWNER_WIDTH-1:0] push_owner,
    input logic leave,
    input logic [OWNER_WIDTH-1:0] leave_owner,

    input logic set_most,  // Sets the maximum of an owner, with effect after two clocks.
    input logic [OWNER_WIDTH-1:0] set_most_owner,
    input logic [COUNT_WIDTH-1:0] set_most_commands,

    input logic [OWNER_WIDTH-1:0] query_owner,
    output logic [COUNT_WIDTH-1:0] query_commands,
    output logic [COUNT_WIDTH-1:0] query_room  // Two clocks later.
);
  // By owner, modulo 2^COUNT_WIDTH: commands listed and commands that left. Each memory has one writer. Their difference is the count; it
  // is 0 until the bit in `used` is set, and the first command then starts from the number that left. most_of is valid once is_set is.
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

  // Room for more commands; negative if the maximum was lowered below the count.
  function automatic logic [COUNT_WIDTH-1:0] commands_of(input logic [OWNER_WIDTH-1:0] owner);
    commands_of = used[owner] ? listed_of[owner] - left_of[owner] : '0;
  endfunction
  function automatic logic [COUNT_WIDTH:0] room_of(input logic [OWNER_WIDTH-1:0] owner);
    room_of = {1'b0, is_set[owner] ? most_of[owner] : COUNT_WIDTH'(ENTRIES)} - {1'b0, commands_of(owner)};
  endfunction

  // The stages of a command to be listed. The read misses the pushes of the two commands before it, so those are counted here.
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
