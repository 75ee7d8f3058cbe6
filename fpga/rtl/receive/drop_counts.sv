// Counts dropped packets by reason (packet_drop_t). All counts are cleared after a reset, before the first packet is counted.
module drop_counts #(
    localparam int unsigned REASON_WIDTH = 5,
    localparam int unsigned REASONS = 1 << REASON_WIDTH
) (
    input logic clock,
    input logic reset,
    output logic clearing,  // No packet is counted.

    input logic dropped,
    input logic [REASON_WIDTH-1:0] dropped_reason,

    // The count of a reason, a clock later.
    input logic [REASON_WIDTH-1:0] count_reason,
    output logic [63:0] count
);
  // 1: read the count. 2: write it, plus one.
  logic counts_1, counts_2;
  logic [REASON_WIDTH-1:0] cleared, reason_1, reason_2;
  logic [63:0] known, count_2, more, count_now;
  assign more = count_2 + 64'd1;
  lut_memory #(
      .WIDTH(64),
      .SIZE(REASONS),
      .READERS(2)
  ) i_counts (
      .write(clearing || counts_2),
      .write_address(clearing ? cleared : reason_2),
      .write_data(clearing ? '0 : more),
      .read_addresses({count_reason, reason_1}),
      .read_data({count_now, known}),
      .*
  );
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      cleared <= '0;
    end else if (clearing) begin
      clearing <= cleared != REASON_WIDTH'(REASONS - 1);
      cleared <= cleared + REASON_WIDTH'(1);
    end
    counts_1 <= !reset && dropped;
    reason_1 <= dropped_reason;
    counts_2 <= !reset && counts_1;
    reason_2 <= reason_1;
    count_2 <= counts_2 && reason_2 == reason_1 ? more : known;
    count <= count_now;
  end
endmodule
