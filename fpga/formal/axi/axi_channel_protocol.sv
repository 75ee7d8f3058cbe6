// The rule of every channel of AXI4, AXI4-Lite and AXI4-Stream (AMBA AXI protocol specification, IHI 0022, A3.2.1): an offer stays until it
// is accepted, and nothing is offered right after a reset. Asserted for one side; a proof assumes it of the other side.
module axi_channel_protocol #(
    parameter int unsigned WIDTH = 1,
    parameter bit ASSUMED = 1'b0
) (
    input logic clock,
    input logic reset,
    input logic valid,
    input logic ready,
    input logic [WIDTH-1:0] payload
);
  logic was_held, was_reset;
  logic [WIDTH-1:0] held;
  initial was_reset = 1'b1;
  initial was_held = 1'b0;
  always_ff @(posedge clock) begin
    was_reset <= reset;
    was_held <= !reset && valid && !ready;
    held <= payload;
  end
  // Covers: an offer is accepted, and one waits.
  always_ff @(posedge clock)
    if (!reset) begin
      takes : cover (valid && ready);
      waits : cover (was_held);
    end
  if (ASSUMED) begin : gen_assumed
    always_ff @(posedge clock) begin
      if (!reset && was_held) stays : assume (valid);
      if (!reset && was_held && valid) payload_stays : assume (payload == held);
      if (!reset && was_reset) silent_after_reset : assume (!valid);
    end
  end else begin : gen_asserted
    always_ff @(posedge clock) begin
      if (!reset && was_held) stays : assert (valid);
      if (!reset && was_held && valid) payload_stays : assert (payload == held);
      if (!reset && was_reset) silent_after_reset : assert (!valid);
    end
  end
endmodule
