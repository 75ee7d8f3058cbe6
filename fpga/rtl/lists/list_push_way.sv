// Looks up the list of a push in one way of the list identifiers: whether there is a list, whether it is closed or full, its tail. The
// place enters in the first stage; in the third the push is decided and takes effect. Words that earlier pushes and commands have not
// written yet are forwarded: from pushes one and two clocks before, from commands up to three before.
module list_push_way #(
    parameter int unsigned ENTRIES = 64,
    parameter int unsigned PLACES = 64,
    parameter bit BLOCK = 1'b0,
    localparam int unsigned PLACE_WIDTH = PLACES > 1 ? $clog2(PLACES) : 1,
    localparam int unsigned ENTRY_WIDTH = ENTRIES > 1 ? $clog2(ENTRIES) : 1,
    localparam int unsigned COUNT_WIDTH = $clog2(ENTRIES + 1)
) (
    input logic clock,
    input logic sweeps,
    input logic [PLACE_WIDTH-1:0] sweep_place,

    input logic [PLACE_WIDTH-1:0] place_1,
    input logic [PLACE_WIDTH-1:0] place_2,
    input logic [PLACE_WIDTH-1:0] place_3,

    // Third stage.
    output logic occupied,
    output logic occupied_bit,  // A push that begins a list flips it; the command that ends the list makes its own equal.
    output logic closed,
    output logic full,
    output logic [ENTRY_WIDTH-1:0] tail,
    input logic append,  // Appends an entry to the list of this place and way.
    input logic begins,
    input logic [ENTRY_WIDTH-1:0] append_entry,

    // The push of the preceding clock.
    input logic appended,
    input logic [ENTRY_WIDTH-1:0] appended_entry,
    output logic [COUNT_WIDTH-1:0] appended_number,

    // Commands to this way: the place of the command in its third stage, and the effect of the one before it.
    input logic command_here_3,
    input logic [PLACE_WIDTH-1:0] command_place_3,
    input logic command_here_4,
    input logic [PLACE_WIDTH-1:0] command_place_4,
    input logic removed_4,
    input logic [COUNT_WIDTH-1:0] removals_4,
    input logic ends_4,
    input logic closes_4,
    input logic command_occupied_bit_4,

    input logic set_maximum,
    input logic [PLACE_WIDTH-1:0] set_maximum_place,
    input logic [COUNT_WIDTH-1:0] set_maximum_data_units
);
  localparam logic [COUNT_WIDTH-1:0] ALL = COUNT_WIDTH'(ENTRIES);

  // First stage. A maximum is kept as its difference from all entries, bit by bit.
  logic [COUNT_WIDTH-1:0] number_read, number_2, number_3, number_held, number_4, removals_read, removals_2, removals_before;
  logic [COUNT_WIDTH-1:0] count, maximum, maximum_read, number;
  logic [ENTRY_WIDTH-1:0] tail_read, tail_held;

  list_memory #(
      .WIDTH(COUNT_WIDTH + ENTRY_WIDTH),
      .SIZE(1 << PLACE_WIDTH),
      .BLOCK(BLOCK)
  ) i_pushes (
      .clock(clock),
      .write(append || sweeps),
      .write_address(sweeps ? sweep_place : place_3),
      .write_data(sweeps ? '0 : {number, append_entry}),
      .read_address(place_1),
      .read_data({number_read, tail_read})
  );
  list_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(1 << PLACE_WIDTH),
      .BLOCK(BLOCK)
  ) i_removals (
      .clock(clock),
      .write(removed_4 && command_here_4 || sweeps),
      .write_address(sweeps ? sweep_place : command_place_4),
      .write_data(sweeps ? '0 : removals_4),
      .read_address(place_1),
      .read_data(removals_read)
  );
  list_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(1 << PLACE_WIDTH),
      .BLOCK(BLOCK)
  ) i_maximums (
      .clock(clock),
      .write(set_maximum || sweeps),
      .write_address(sweeps ? sweep_place : set_maximum_place),
      .write_data(sweeps ? '0 : set_maximum_data_units ^ ALL),
      .read_address(place_1),
      .read_data(maximum_read)
  );

  // Second stage: compares the counter, and the counter plus and minus one, with the maximum.
  logic push_same_2, push_same_3, command_same_2, command_same_3, command_same_before_2;
  logic is_full, is_full_less, is_full_more;

  assign number_2 = push_same_2 && appended ? number_4 : number_read;
  assign removals_2 = command_same_2 && removed_4 ? removals_4 : command_same_before_2 ? removals_before : removals_read;
  assign count = number_2 - removals_2;
  assign maximum = maximum_read ^ ALL;

  always_ff @(posedge clock) begin
    push_same_2 <= place_1 == place_3;
    push_same_3 <= place_2 == place_3;
    command_same_2 <= command_here_3 && place_1 == command_place_3;
    command_same_3 <= command_here_3 && place_2 == command_place_3;
    command_same_before_2 <= command_here_4 && removed_4 && place_1 == command_place_4;
    removals_before <= removals_4;
    number_held <= number_2;
    number_4 <= number;
    tail_held <= push_same_2 && appended ? appended_entry : tail_read;
    is_full_less <= count > maximum;
    is_full <= count >= maximum;
    is_full_more <= {1'b0, count} + (COUNT_WIDTH + 1)'(1) >= {1'b0, maximum};
  end

  // Third stage.
  logic emptied_bit, closed_bit, is_appended, is_removed;

  lut_memory #(
      .SIZE(1 << PLACE_WIDTH)
  ) i_occupied (
      .clock(clock),
      .write(append && begins || sweeps),
      .write_address(sweeps ? sweep_place : place_3),
      .write_data(!sweeps && !occupied_bit),
      .read_addresses(place_3),
      .read_data(occupied_bit)
  );
  lut_memory #(
      .SIZE(1 << PLACE_WIDTH)
  ) i_emptied (
      .clock(clock),
      .write(ends_4 && command_here_4 || sweeps),
      .write_address(sweeps ? sweep_place : command_place_4),
      .write_data(!sweeps && command_occupied_bit_4),
      .read_addresses(place_3),
      .read_data(emptied_bit)
  );
  lut_memory #(
      .SIZE(1 << PLACE_WIDTH)
  ) i_closed (
      .clock(clock),
      .write((ends_4 || closes_4) && command_here_4 || sweeps),
      .write_address(sweeps ? sweep_place : command_place_4),
      .write_data(!sweeps && closes_4),
      .read_addresses(place_3),
      .read_data(closed_bit)
  );

  assign is_appended = push_same_3 && appended;
  assign is_removed = command_same_3 && removed_4;
  assign occupied = occupied_bit != emptied_bit && !(command_same_3 && ends_4);
  assign closed = command_same_3 && (ends_4 || closes_4) ? closes_4 : closed_bit;
  assign full = is_appended == is_removed ? is_full : is_appended ? is_full_more : is_full_less;
  assign tail = is_appended ? appended_entry : tail_held;
  assign number_3 = is_appended ? number_4 : number_held;
  assign appended_number = number_4;
  assign number = number_3 + COUNT_WIDTH'(1);
endmodule
