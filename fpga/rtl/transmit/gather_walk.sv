// The accesses of one packet: pieces of a command's gather list, from the end of the previous packet, or every entry of its scatter list. A packet
// without data has an access of 0 bytes, so that each packet has a last access.
module gather_walk #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    localparam int unsigned BEATS_WIDTH = $clog2(512 / BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    // A packet; done in the clock in which its last access is accepted. Whether an access is the last is known a clock later.
    input logic start,
    input logic start_is_check,  // Of all entries of the list.
    input logic [4:0] start_count,
    input logic [4:0] start_entry,  // The start of the packet: an entry, and the bytes of it that earlier packets have sent.
    input logic [31:0] start_offset,
    input logic [12:0] start_bytes,
    output logic done,
    output logic [4:0] entry,
    output logic [31:0] offset,

    // A beat of the PCB, in the clock after the one in which the read is taken.
    output logic read,
    input logic read_ready,
    output logic [BEATS_WIDTH-1:0] read_beat,
    input logic [BEAT_BYTES*8-1:0] read_data,

    output logic access,
    input logic access_ready,
    output logic [31:0] access_key,
    output logic [63:0] access_address,
    output logic [31:0] access_length,
    output logic access_last
);
  localparam int unsigned ENTRY_BYTES = hca_spec_pkg::GATHER_ENTRY_BYTES;
  localparam int unsigned FIRST = hca_spec_pkg::COMMAND_HEADER_BYTES / ENTRY_BYTES;  // Place of the first entry in a PCB, in entries.
  localparam int unsigned PLACE_WIDTH = $clog2(512 / ENTRY_BYTES);
  typedef enum logic [2:0] {
    STATE_REST = 3'd0,
    STATE_READS = 3'd1,
    STATE_CAME = 3'd2,
    STATE_LEFT = 3'd3,
    STATE_PIECE = 3'd4,
    STATE_ASKS = 3'd5
  } state_t;

  state_t state;
  logic is_check, is_half, is_upper, is_over, is_end, goes_on;
  logic [4:0] count, next_entry;
  logic [12:0] left;  // Bytes of the packet without an access yet.
  logic [31:0] entry_left;
  logic [PLACE_WIDTH-1:0] place;
  hca_spec_pkg::gather_entry_t came, found;

  assign next_entry = entry + 5'd1;
  assign place = PLACE_WIDTH'(entry) + PLACE_WIDTH'(FIRST);
  assign read = state == STATE_READS;
  if (BEAT_BYTES >= ENTRY_BYTES) begin : gen_wide  // A beat contains whole entries.
    localparam int unsigned SHARE = BEAT_BYTES / ENTRY_BYTES;
    assign is_upper = 1'b0;
    assign is_half = 1'b0;
    assign read_beat = BEATS_WIDTH'(place / PLACE_WIDTH'(SHARE));
    always_comb begin
      came = read_data[ENTRY_BYTES*8-1:0];
      for (int unsigned part = 0; part < SHARE; part++)
        if (place % PLACE_WIDTH'(SHARE) == PLACE_WIDTH'(part)) came = read_data[part*ENTRY_BYTES*8+:ENTRY_BYTES*8];
    end
  end else begin : gen_narrow  // An entry fills two beats.
    logic second;
    assign is_upper = second;
    assign is_half = !second;
    assign read_beat = {place, second};
    assign came = {read_data, read_data};
    always_ff @(posedge clock) begin
      if (state == STATE_REST) second <= 1'b0;
      else if (state == STATE_CAME) second <= !second;
    end
  end

  assign is_over = entry_left == '0;
  assign is_end = entry_left[31:13] == '0 && entry_left[12:0] < left;  // The access ends with the entry, before the end of the packet.
  assign access = state == STATE_ASKS;
  assign done = access && access_ready && access_last;
  assign goes_on = state == STATE_PIECE && !is_check && is_over;  // The entry has no bytes left.

  always_ff @(posedge clock) begin
    if (reset) state <= STATE_REST;
    else
      case (state)
        STATE_REST: if (start) state <= (start_is_check ? start_count == '0 : start_bytes == '0) ? STATE_ASKS : STATE_READS;
        STATE_READS: if (read_ready) state <= STATE_CAME;
        STATE_CAME: state <= is_half ? STATE_READS : STATE_LEFT;
        STATE_LEFT: state <= STATE_PIECE;
        STATE_PIECE: state <= goes_on ? STATE_READS : STATE_ASKS;
        default: if (access_ready) state <= access_last ? STATE_REST : STATE_READS;
      endcase
    if (state == STATE_REST) begin
      is_check <= start_is_check;
      count <= start_count;
      entry <= start_is_check ? '0 : start_entry;
      offset <= start_is_check ? '0 : start_offset;
      left <= start_bytes;
      access_length <= '0;
      access_last <= 1'b1;
    end
    if (state == STATE_CAME) begin
      if (!is_upper) found.address <= came.address;
      if (!is_half) {found.local_key, found.length} <= {came.local_key, came.length};
    end
    if (state == STATE_LEFT) begin
      entry_left <= found.length - offset;
      access_address <= found.address + 64'(offset);
      access_key <= found.local_key;
    end
    if (state == STATE_PIECE) begin
      access_length <= is_check || is_end ? entry_left : 32'(left);
      access_last <= is_check ? next_entry == count : !is_end;
    end
    if (goes_on || access && access_ready && !access_last) begin
      entry <= next_entry;
      offset <= '0;
    end else if (done) offset <= offset + access_length;
    if (access && access_ready) left <= left - access_length[12:0];
  end
endmodule
