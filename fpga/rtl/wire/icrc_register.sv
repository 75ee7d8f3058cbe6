// The ICRC register after each packet of a stream, one beat a clock; the result of a packet is ready 5 + $clog2(BEAT_BYTES) clocks after
// its last beat.
//
// A last beat is padded with zeros to a whole beat, and the register is then moved back over these zeros: by half a beat, a quarter and so
// on, one step a clock.
module icrc_register #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,  // 8, 16, 32 or 64.
    localparam int unsigned STEPS = $clog2(BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    // Beats, first byte lowest. `keep` is only valid with the last beat, which has at least one byte.
    input logic beat,
    input logic [BEAT_BYTES*8-1:0] data,
    input logic [BEAT_BYTES-1:0] keep,
    input logic last,
    input logic [1:0] framing,  // packet_framing_t; constant during a packet.
    input logic is_tagged,

    output logic ended,
    output logic [31:0] register,
    output logic [STEPS-1:0] missing  // Bytes that the last beat lacks.
);
  localparam int unsigned BITS = BEAT_BYTES * 8;
  localparam int unsigned SLICES = BITS / 64;
  localparam int unsigned HEAD_BYTES = hca_spec_pkg::ETHERNET_HEADER_BYTES - hca_spec_pkg::ETHERNET_HEADER_PADDING_WIDTH / 8
      + hca_spec_pkg::VIRTUAL_LAN_HEADER_BYTES + hca_spec_pkg::IPV6_HEADER_BYTES + hca_spec_pkg::UDP_HEADER_BYTES
      + hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES;
  localparam int unsigned HEAD_BEATS = (HEAD_BYTES + BEAT_BYTES - 1) / BEAT_BYTES;
  localparam int unsigned NUMBER_WIDTH = $clog2(HEAD_BEATS + 1);

  // 1: the beat, and its number in its packet.
  logic beat_1, last_1, is_tagged_1;
  logic [NUMBER_WIDTH-1:0] number, number_1;
  logic [1:0] framing_1;
  logic [BITS-1:0] data_1, taken, turned;
  logic [BEAT_BYTES-1:0] keep_1;
  always_ff @(posedge clock) begin
    if (reset || beat && last) number <= '0;
    else if (beat && number != NUMBER_WIDTH'(HEAD_BEATS)) number <= number + NUMBER_WIDTH'(1);
    beat_1 <= !reset && beat;
    last_1 <= last;
    number_1 <= number;
    framing_1 <= framing;
    is_tagged_1 <= is_tagged;
    data_1 <= data;
    keep_1 <= last ? keep : '1;
  end
  icrc_coverage #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_coverage (
      .framing(framing_1),
      .is_tagged(is_tagged_1),
      .number(number_1),
      .taken(taken),
      .turned(turned)
  );

  // 2: its covered bits. Registers are in reversed order: bit n is followed by n others.
  logic beat_2, last_2, first_2;
  logic [BITS-1:0] counted, counted_2;
  logic [STEPS-1:0] missing_1, missing_2;
  always_comb begin
    for (int unsigned place = 0; place < BITS; place++)
      counted[BITS-1-place] = keep_1[place/8] && (data_1[place] && taken[place]) != turned[place];
  end
  // Bytes after the first are contiguous: count the absent ones, from the highest bit of the number on.
  always_comb begin
    int unsigned begin_of_window;
    logic [BEAT_BYTES-1:0] window;
    window = keep_1;
    for (int unsigned step = STEPS; step > 0; step--) begin
      begin_of_window = 1 << step - 1;
      missing_1[step-1] = !window[begin_of_window];
      if (window[begin_of_window]) window = window >> begin_of_window;
    end
  end
  always_ff @(posedge clock) begin
    beat_2 <= !reset && beat_1;
    last_2 <= last_1;
    first_2 <= number_1 == '0;
    counted_2 <= counted;
    missing_2 <= missing_1;
  end

  // 3, 4: the beat's contribution, first by pieces, then in all.
  logic beat_3, last_3, first_3, beat_4, last_4, first_4;
  logic [STEPS-1:0] missing_3, missing_4;
  logic [SLICES*32-1:0] parts, parts_3;
  logic [31:0] added, added_4;
  for (genvar slice = 0; slice < SLICES; slice++) begin : gen_slice
    for (genvar place = 0; place < 32; place++) begin : gen_place
      localparam logic [63:0] ROW = icrc_pkg::FORWARD_ROWS[place*icrc_pkg::MOST_BITS+slice*64+:64];
      assign parts[slice*32+place] = ^(counted_2[slice*64+:64] & ROW);
    end
  end
  always_comb begin
    added = '0;
    for (int unsigned slice = 0; slice < SLICES; slice++) added = added ^ parts_3[slice*32+:32];
  end
  always_ff @(posedge clock) begin
    beat_3 <= !reset && beat_2;
    last_3 <= last_2;
    first_3 <= first_2;
    missing_3 <= missing_2;
    parts_3 <= parts;
    beat_4 <= !reset && beat_3;
    last_4 <= last_3;
    first_4 <= first_3;
    missing_4 <= missing_3;
    added_4 <= added;
  end

  // 5: the register; it counts as the first bits of the next beat.
  logic [31:0] now, went_on;
  for (genvar place = 0; place < 32; place++) begin : gen_forward
    localparam logic [31:0] ROW = icrc_pkg::FORWARD_ROWS[place*icrc_pkg::MOST_BITS+BITS-32+:32];
    logic [31:0] turned_round;
    for (genvar other = 0; other < 32; other++) begin : gen_turn
      assign turned_round[31-other] = now[other];
    end
    assign went_on[place] = ^(turned_round & ROW);
  end
  always_ff @(posedge clock) if (beat_4) now <= first_4 ? added_4 : went_on ^ added_4;

  // Moves the register back over the absent bytes.
  logic [STEPS:0] ends;
  logic [STEPS*32-1:0] registers;
  logic [(STEPS+1)*STEPS-1:0] missings;
  always_ff @(posedge clock) begin
    ends[STEPS] <= !reset && beat_4 && last_4;
    missings[STEPS*STEPS+:STEPS] <= missing_4;
  end
  for (genvar step = 0; step < STEPS; step++) begin : gen_step
    logic [31:0] came, went_back;
    if (step == STEPS - 1) begin : gen_first
      assign came = now;
    end else begin : gen_other
      assign came = registers[(step+1)*32+:32];
    end
    for (genvar place = 0; place < 32; place++) begin : gen_place
      localparam logic [31:0] ROW = icrc_pkg::BACK_ROWS[place*icrc_pkg::MOST_BACK+(8<<step)+:32];
      assign went_back[place] = ^(came & ROW);
    end
    always_ff @(posedge clock) begin
      ends[step] <= !reset && ends[step+1];
      missings[step*STEPS+:STEPS] <= missings[(step+1)*STEPS+:STEPS];
      registers[step*32+:32] <= missings[(step+1)*STEPS+step] ? went_back : came;
    end
  end
  assign ended = ends[0];
  assign register = registers[31:0];
  assign missing = missings[STEPS-1:0];
endmodule
