// Settles a division of PCBs that leaves functions with more than they own and all share. Searches the VCBs, one a clock, for the most
// recently started half-written command whose PCB another function now owns, hands it over to the send queue, and repeats, until every
// function finds the PCBs that it owns or no such command is left. PCBs of kicked commands return as the commands are sent. No beat and no
// control command proceeds meanwhile, so the division's guarantees hold from its answer on.
module division_settling #(
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = 7,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS)
) (
    input logic clock,
    input logic reset,
    input logic settle_starts,
    input logic busy,  // A beat or command in progress may still change the state that is searched.
    input logic overdrawn,

    // The new state of a VCB; the start of its command.
    input logic write,
    input logic [VCB_WIDTH-1:0] write_virtual_collect_buffer,
    input logic write_collects,
    input logic [PCB_WIDTH-1:0] write_buffer,
    input logic begins,
    input logic [VCB_WIDTH-1:0] begins_virtual_collect_buffer,
    input logic [63:0] now,

    // The PCB of the VCB that is checked; in the next clock, whether its release reduces the PCBs that its function borrows.
    output logic [PCB_WIDTH-1:0] looked_at_buffer,
    input logic part_repays,

    output logic settling,
    output logic newest_goes,  // The newest command is to be handed over. Held until it is issued, as is settled.
    output logic [VCB_WIDTH-1:0] newest,
    output logic settled,
    input logic issued
);
  localparam logic [3:0] REST = 4'd12;  // Clocks until all counts include the last command.

  logic [3:0] quiet;  // Clocks without a beat or command in progress.
  logic looks, is_looked_now, is_looked_before, was_last_now, was_last_before, has_newest, is_newer, decides;
  logic [VCB_WIDTH-1:0] looked_at, looked_at_now, looked_at_before;
  logic [63:0] newest_began, looked_at_began, looked_at_began_now;
  logic looked_at_collects, looked_at_collects_now, looked_at_repays;

  list_memory #(
      .WIDTH(1 + PCB_WIDTH),
      .SIZE(VIRTUAL_COLLECT_BUFFERS),
      .BLOCK(1'b1)
  ) i_looked_at (
      .clock(clock),
      .write(write),
      .write_address(write_virtual_collect_buffer),
      .write_data({write_collects, write_buffer}),
      .read_address(looked_at),
      .read_data({looked_at_collects_now, looked_at_buffer})
  );

  list_memory #(
      .WIDTH(64),
      .SIZE(VIRTUAL_COLLECT_BUFFERS),
      .BLOCK(1'b1)
  ) i_looked_at_began (
      .clock(clock),
      .write(begins),
      .write_address(begins_virtual_collect_buffer),
      .write_data(now),
      .read_address(looked_at),
      .read_data(looked_at_began_now)
  );

  always_ff @(posedge clock) begin
    looked_at_collects <= looked_at_collects_now;
    looked_at_began <= looked_at_began_now;
  end
  assign looked_at_repays = part_repays && looked_at_collects;

  assign is_newer = is_looked_before && looked_at_repays && (!has_newest || looked_at_began >= newest_began);

  always_ff @(posedge clock) begin
    if (reset || settled && issued) settling <= 1'b0;
    else if (settle_starts) settling <= 1'b1;

    if (reset || !settling || busy || issued) quiet <= '0;
    else if (quiet != REST) quiet <= quiet + 4'd1;

    // One round over all VCBs.
    if (reset || !settling || quiet != REST) begin
      looks <= 1'b0;
      looked_at <= '0;
    end else if (!looks && !newest_goes && !settled && !decides && !is_looked_now && !is_looked_before) begin
      looks <= overdrawn;
      looked_at <= '0;
    end else if (looks) begin
      looks <= looked_at != '1;
      looked_at <= looked_at + VCB_WIDTH'(1);
    end
    // A reset ends the round too: nothing of it may settle or hand over a command afterwards.
    is_looked_now <= !reset && looks;
    is_looked_before <= !reset && is_looked_now;
    looked_at_now <= looked_at;
    looked_at_before <= looked_at_now;
    was_last_now <= !reset && looks && looked_at == '1;
    was_last_before <= !reset && was_last_now;
    decides <= !reset && was_last_before;
    if (reset || !settling || newest_goes) has_newest <= 1'b0;
    else if (is_newer) begin
      has_newest <= 1'b1;
      newest <= looked_at_before;
      newest_began <= looked_at_began;
    end

    if (reset || issued) begin
      newest_goes <= 1'b0;
      settled <= 1'b0;
    end else begin
      if (decides && has_newest) newest_goes <= 1'b1;
      if (decides && !has_newest || settling && quiet == REST && !overdrawn && !newest_goes && !looks && !is_looked_now
          && !is_looked_before && !decides)
        settled <= 1'b1;
    end
  end
endmodule
