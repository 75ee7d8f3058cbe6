// The doorbell checksum: the 32-bit ones' complement sum over all DWORDs in the buffers of a complete command, and over the queue pair's
// secret, is all ones if nothing was lost or changed (US8589610, doorbell checksum state: a checksum of the contents of the payload buffer
// and the header buffer).
//
// The block adds the DWORDs of a beat in two clocks. `sum` accumulates them: carries collect in the upper bits, and a command cannot
// overflow it. The comparison uses a registered sum.
module doorbell_checksum #(
    parameter int unsigned DWORDS = 2
) (
    input logic clock,
    input logic advance,  // Beats advance one stage; if clear, they stay.
    input logic [DWORDS*32-1:0] data,
    input logic [DWORDS-1:0] brought,
    output logic [35:0] beat_sum,  // The sum of the beat of two clocks ago.

    input logic [39:0] sum_before,
    input logic [35:0] sum_beat,
    input logic has_secret,
    input logic [31:0] secret,
    output logic [39:0] sum,

    input logic [39:0] whole,
    output logic agrees
);
  localparam int unsigned PARTS = DWORDS < 4 ? DWORDS : 4;
  localparam int unsigned EACH = DWORDS / PARTS;

  logic [PARTS*34-1:0] parts, parts_now;
  logic [35:0] all;

  for (genvar part = 0; part < PARTS; part++) begin : gen_part
    logic [33:0] added;
    always_comb begin
      added = '0;
      for (int unsigned dword = 0; dword < EACH; dword++)
        added = added + (brought[part*EACH+dword] ? 34'(data[(part*EACH+dword)*32+:32]) : 34'd0);
    end
    assign parts_now[part*34+:34] = added;
  end

  always_comb begin
    all = '0;
    for (int unsigned part = 0; part < PARTS; part++) all = all + 36'(parts[part*34+:34]);
  end

  always_ff @(posedge clock) begin
    if (advance) begin
      parts <= parts_now;
      beat_sum <= all;
    end
  end

  // Carry-save: reduces three numbers to two, then adds these.
  logic [39:0] addend, low;
  logic [38:0] high;
  assign addend = has_secret ? {8'd0, secret} : '0;
  assign low = sum_before ^ {4'd0, sum_beat} ^ addend;
  assign high = (sum_before[38:0] & {3'd0, sum_beat}) | (sum_before[38:0] & addend[38:0]) | ({3'd0, sum_beat} & addend[38:0]);
  assign sum = low + {high, 1'b0};

  // The carry of this fold can be left out: where there is one, the low half is at most 254, which a carry cannot make all ones.
  logic [32:0] folded;
  assign folded = 33'(whole[31:0]) + 33'(whole[39:32]);
  assign agrees = folded == 33'h0_ffff_ffff;
endmodule
