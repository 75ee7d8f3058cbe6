// Counts the commands of each place of queue pair contexts between two blocks: arrivals and departures, modulo 2^COUNT_WIDTH, each in a memory with
// one writer. Another block asks whether a place has commands.
module commands_of_places #(
    parameter int unsigned CONTEXTS = 256,
    parameter int unsigned COUNT_WIDTH = 8,
    localparam int unsigned CONTEXT_WIDTH = $clog2(CONTEXTS)
) (
    input logic clock,
    input logic reset,
    output logic clearing,
    input logic come,
    input logic [CONTEXT_WIDTH-1:0] come_place,
    input logic leave,
    input logic [CONTEXT_WIDTH-1:0] leave_place,

    // A clock later.
    input logic [CONTEXT_WIDTH-1:0] look_place,
    output logic has_commands
);
  logic [CONTEXT_WIDTH-1:0] cleared;
  logic [COUNT_WIDTH-1:0] came, left, came_there, left_there;
  lut_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(CONTEXTS),
      .READERS(2)
  ) i_came (
      .write(clearing || come),
      .write_address(clearing ? cleared : come_place),
      .write_data(clearing ? '0 : came + COUNT_WIDTH'(1)),
      .read_addresses({look_place, come_place}),
      .read_data({came_there, came}),
      .*
  );
  lut_memory #(
      .WIDTH(COUNT_WIDTH),
      .SIZE(CONTEXTS),
      .READERS(2)
  ) i_left (
      .write(clearing || leave),
      .write_address(clearing ? cleared : leave_place),
      .write_data(clearing ? '0 : left + COUNT_WIDTH'(1)),
      .read_addresses({look_place, leave_place}),
      .read_data({left_there, left}),
      .*
  );
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      cleared <= '0;
    end else if (clearing) begin
      clearing <= cleared != '1;
      cleared <= cleared + CONTEXT_WIDTH'(1);
    end
    has_commands <= came_there != left_there;
  end
endmodule
