// Builds packets, as wire::build_packet of the device model does: puts headers, from a template and fields, before a payload, and pad and ICRC after
// it (InfiniBand volume 1, chapters 5, 7 and 9; annex A17 for RoCEv2). The output is one beat per clock. The link adds the VCRC of an InfiniBand
// packet.
//
// Headers end at byte 128, where the payload begins; the beats from the first byte of the packet on go to a byte_aligner.
module packet_headers #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES  // 8, 16, 32 or 64.
) (
    input logic clock,
    input logic reset,

    // A packet. Its template ends with the BTH, first byte highest, and lacks lengths; ipv4_sum is the ones' complement sum of the words of its IPv4
    // header. Only the fields of the opcode's extended headers are used.
    input logic packet,
    output logic packet_ready,
    input logic [1:0] packet_framing,  // packet_framing_t
    input logic packet_is_tagged,
    input logic [639:0] packet_template,
    input logic [15:0] packet_ipv4_sum,
    input logic [7:0] packet_opcode,
    input logic packet_solicited_event,
    input logic packet_acknowledge_request,
    input logic [23:0] packet_packet_sequence_number,
    input logic [63:0] packet_virtual_address,
    input logic [31:0] packet_remote_key,
    input logic [31:0] packet_dma_length,
    input logic [63:0] packet_swap_add,
    input logic [63:0] packet_compare,
    input logic [63:0] packet_original_data,
    input logic [23:0] packet_message_sequence_number,
    input logic [7:0] packet_syndrome,
    input logic [31:0] packet_immediate_data,
    input logic [31:0] packet_queue_key,
    input logic [23:0] packet_source_queue_pair,
    input logic [12:0] packet_payload_bytes,  // At most 4096.

    // Its payload, from lane 0: as many beats as it fills, none if it is empty.
    input logic payload,
    output logic payload_ready,
    input logic [BEAT_BYTES*8-1:0] payload_data,

    // The packet, from its first link byte to its ICRC, AXI4-Stream.
    output logic whole_tvalid,
    input logic whole_tready,
    output logic [BEAT_BYTES*8-1:0] whole_tdata,
    output logic [BEAT_BYTES-1:0] whole_tkeep,
    output logic whole_tlast
);
  localparam int unsigned BITS = BEAT_BYTES * 8;
  localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES);
  localparam int unsigned HEADROOM = hca_spec_pkg::PACKET_HEADROOM;
  localparam int unsigned HEAD_BEATS = HEADROOM / BEAT_BYTES;
  localparam int unsigned NUMBER_WIDTH = $clog2(HEAD_BEATS);
  localparam int unsigned TEMPLATE_BITS = 640;
  localparam int unsigned ENTRIES = 16;  // Packets whose headers wait.

  // Sizes of headers, in bytes.
  localparam int unsigned DATAGRAM = hca_spec_pkg::DATAGRAM_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned RDMA = hca_spec_pkg::RDMA_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned ATOMIC = hca_spec_pkg::ATOMIC_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned ACKNOWLEDGE = hca_spec_pkg::ACKNOWLEDGE_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned ORIGINAL = hca_spec_pkg::ATOMIC_ACKNOWLEDGE_EXTENDED_TRANSPORT_HEADER_BYTES;
  localparam int unsigned TAIL = hca_spec_pkg::IMMEDIATE_EXTENDED_TRANSPORT_HEADER_BYTES;  // An IETH has the same size.
  localparam int unsigned TRANSPORT = hca_spec_pkg::BASE_TRANSPORT_HEADER_BYTES;
  localparam int unsigned ETHERNET = hca_spec_pkg::ETHERNET_HEADER_BYTES - hca_spec_pkg::ETHERNET_HEADER_PADDING_WIDTH / 8;
  localparam int unsigned MAIN_BITS = ATOMIC * 8;
  localparam int unsigned HEAD_BITS = TEMPLATE_BITS + MAIN_BITS + TAIL * 8;

  // 1: the request, and the extended headers of its opcode.
  logic valid_1, is_tagged_1, solicited_1, acknowledge_1, has_datagram_1, has_rdma_1, has_atomic_1, has_acknowledge_1, has_original_1,
      has_immediate_1, has_invalidate_1;
  logic [1:0] framing_1;
  logic [TEMPLATE_BITS-1:0] template_1;
  logic [15:0] ipv4_sum_1;
  logic [7:0] opcode_1;
  logic [23:0] sequence_1;
  logic [12:0] payload_1;
  logic [95:0] rdma_address_1;  // Address and key of RETH and AtomicETH.
  logic [31:0] dma_length_1, acknowledge_header_1, immediate_1, key_1;
  logic [127:0] atomic_operands_1;
  logic [63:0] original_1, datagram_1;
  logic [$clog2(ENTRIES):0] heads;
  always_ff @(posedge clock) begin
    packet_ready <= !reset && 32'(heads) + 8 < ENTRIES;  // Room for those in flight.
    valid_1 <= !reset && packet && packet_ready;
    framing_1 <= packet_framing;
    is_tagged_1 <= packet_is_tagged;
    template_1 <= packet_template;
    ipv4_sum_1 <= packet_ipv4_sum;
    opcode_1 <= packet_opcode;
    solicited_1 <= packet_solicited_event;
    acknowledge_1 <= packet_acknowledge_request;
    sequence_1 <= packet_packet_sequence_number;
    payload_1 <= packet_payload_bytes;
    rdma_address_1 <= {packet_virtual_address, packet_remote_key};
    dma_length_1 <= packet_dma_length;
    acknowledge_header_1 <= {packet_syndrome, packet_message_sequence_number};
    atomic_operands_1 <= {packet_swap_add, packet_compare};
    original_1 <= packet_original_data;
    datagram_1 <= {packet_queue_key, 8'd0, packet_source_queue_pair};
    immediate_1 <= packet_immediate_data;
    key_1 <= packet_remote_key;
    has_datagram_1 <= hca_spec_pkg::PACKET_OPCODES_WITH_DATAGRAM[packet_opcode];
    has_rdma_1 <= hca_spec_pkg::PACKET_OPCODES_WITH_RDMA[packet_opcode];
    has_atomic_1 <= hca_spec_pkg::PACKET_OPCODES_WITH_ATOMIC[packet_opcode];
    has_acknowledge_1 <= hca_spec_pkg::PACKET_OPCODES_WITH_ACKNOWLEDGE[packet_opcode];
    has_original_1 <= hca_spec_pkg::PACKET_OPCODES_WITH_ATOMIC_ACKNOWLEDGE[packet_opcode];
    has_immediate_1 <= hca_spec_pkg::PACKET_OPCODES_WITH_IMMEDIATE[packet_opcode];
    has_invalidate_1 <= hca_spec_pkg::PACKET_OPCODES_WITH_INVALIDATE[packet_opcode];
  end

  // 2: the extended headers: the last four bytes, and the bytes before them; and the bytes of headers and payload.
  logic valid_2, is_tagged_2, solicited_2, acknowledge_2, has_tail_2;
  logic [1:0] framing_2, pad_2;
  logic [TEMPLATE_BITS-1:0] template_2;
  logic [15:0] ipv4_sum_2;
  logic [7:0] opcode_2;
  logic [23:0] sequence_2;
  logic [12:0] payload_2, padded_2;
  logic [MAIN_BITS-1:0] main_2;
  logic [4:0] main_bytes, main_bytes_2;
  logic [TAIL*8-1:0] tail_2;
  always_comb begin
    if (has_atomic_1) main_bytes = 5'(ATOMIC);
    else if (has_rdma_1) main_bytes = 5'(RDMA);
    else if (has_original_1) main_bytes = 5'(ACKNOWLEDGE + ORIGINAL);
    else if (has_datagram_1) main_bytes = 5'(DATAGRAM);
    else if (has_acknowledge_1) main_bytes = 5'(ACKNOWLEDGE);
    else main_bytes = '0;
  end
  always_ff @(posedge clock) begin
    valid_2 <= !reset && valid_1;
    framing_2 <= framing_1;
    is_tagged_2 <= is_tagged_1;
    template_2 <= template_1;
    ipv4_sum_2 <= ipv4_sum_1;
    opcode_2 <= opcode_1;
    solicited_2 <= solicited_1;
    acknowledge_2 <= acknowledge_1;
    sequence_2 <= sequence_1;
    payload_2 <= payload_1;
    pad_2 <= 2'd0 - payload_1[1:0];
    padded_2 <= {payload_1[12:2] + 11'(payload_1[1:0] != '0), 2'd0};
    main_bytes_2 <= main_bytes;
    main_2 <= has_atomic_1 ? {rdma_address_1, atomic_operands_1} :
        has_rdma_1 ? MAIN_BITS'({rdma_address_1, dma_length_1}) :
        has_original_1 ? MAIN_BITS'({acknowledge_header_1, original_1}) :
        has_datagram_1 ? MAIN_BITS'(datagram_1) :
        has_acknowledge_1 ? MAIN_BITS'(acknowledge_header_1) : '0;
    has_tail_2 <= has_immediate_1 || has_invalidate_1;
    tail_2 <= has_immediate_1 ? immediate_1 : key_1;
  end

  // 3: lengths; header_lengths takes two more clocks.
  logic valid_3, is_tagged_3, solicited_3, acknowledge_3, has_tail_3, valid_4, is_tagged_4, has_tail_4, valid_5, is_tagged_5, has_tail_5;
  logic [1:0] framing_3, pad_3, framing_4, framing_5;
  logic [TEMPLATE_BITS-1:0] template_3, headers_5;
  logic [15:0] ipv4_sum_3;
  logic [7:0] opcode_3;
  logic [23:0] sequence_3;
  logic [13:0] transport_bytes_3;
  logic [12:0] payload_3, padded_3, payload_4, padded_4, payload_5, padded_5;
  logic [MAIN_BITS-1:0] main_3, main_4, main_5;
  logic [4:0] main_bytes_3, main_bytes_4, main_bytes_5;
  logic [TAIL*8-1:0] tail_3, tail_4, tail_5;
  logic [6:0] size, size_3, size_4, size_5;  // Bytes of all headers.
  always_comb begin
    size = 7'(TRANSPORT) + 7'(main_bytes_2) + (has_tail_2 ? 7'(TAIL) : 7'd0);
    case (framing_2)
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV4:
      size = size + 7'(ETHERNET + hca_spec_pkg::IPV4_HEADER_BYTES + hca_spec_pkg::UDP_HEADER_BYTES);
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV6:
      size = size + 7'(ETHERNET + hca_spec_pkg::IPV6_HEADER_BYTES + hca_spec_pkg::UDP_HEADER_BYTES);
      packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL: size = size + 7'(hca_spec_pkg::LOCAL_ROUTE_HEADER_BYTES);
      default: size = size + 7'(hca_spec_pkg::LOCAL_ROUTE_HEADER_BYTES + hca_spec_pkg::GLOBAL_ROUTE_HEADER_BYTES);
    endcase
  end
  always_ff @(posedge clock) begin
    valid_3 <= !reset && valid_2;
    framing_3 <= framing_2;
    is_tagged_3 <= is_tagged_2;
    template_3 <= template_2;
    ipv4_sum_3 <= ipv4_sum_2;
    opcode_3 <= opcode_2;
    solicited_3 <= solicited_2;
    acknowledge_3 <= acknowledge_2;
    sequence_3 <= sequence_2;
    payload_3 <= payload_2;
    padded_3 <= padded_2;
    pad_3 <= pad_2;
    main_3 <= main_2;
    main_bytes_3 <= main_bytes_2;
    has_tail_3 <= has_tail_2;
    tail_3 <= tail_2;
    size_3 <= size + (is_tagged_2 ? 7'(hca_spec_pkg::VIRTUAL_LAN_HEADER_BYTES) : 7'd0);
    transport_bytes_3 <= 14'(padded_2) + 14'(main_bytes_2) + (has_tail_2 ? 14'(TAIL) : 14'd0)
        + 14'(TRANSPORT + hca_spec_pkg::ICRC_BYTES);
    valid_4 <= !reset && valid_3;
    framing_4 <= framing_3;
    is_tagged_4 <= is_tagged_3;
    payload_4 <= payload_3;
    padded_4 <= padded_3;
    main_4 <= main_3;
    main_bytes_4 <= main_bytes_3;
    has_tail_4 <= has_tail_3;
    tail_4 <= tail_3;
    size_4 <= size_3;
    valid_5 <= !reset && valid_4;
    framing_5 <= framing_4;
    is_tagged_5 <= is_tagged_4;
    payload_5 <= payload_4;
    padded_5 <= padded_4;
    main_5 <= main_4;
    main_bytes_5 <= main_bytes_4;
    has_tail_5 <= has_tail_4;
    tail_5 <= tail_4;
    size_5 <= size_4;
  end
  header_lengths i_lengths (
      .framing(framing_3),
      .template_headers(template_3),
      .ipv4_sum(ipv4_sum_3),
      .transport_bytes(transport_bytes_3),
      .opcode(opcode_3),
      .solicited_event(solicited_3),
      .acknowledge_request(acknowledge_3),
      .pad_count(pad_3),
      .packet_sequence_number(sequence_3),
      .headers(headers_5),
      .*
  );

  // 6, 7: all headers joined, last byte lowest.
  logic valid_6, is_tagged_6, has_tail_6, valid_7, is_tagged_7;
  logic [1:0] framing_6, framing_7;
  logic [12:0] payload_6, padded_6, payload_7, bytes_7;
  logic [6:0] size_6, begin_7;
  logic [TEMPLATE_BITS+MAIN_BITS-1:0] joined, joined_6;
  logic [TAIL*8-1:0] tail_6;
  logic [HEAD_BITS-1:0] head_7;
  always_comb begin
    case (main_bytes_5)
      5'(ATOMIC): joined = {headers_5, main_5};
      5'(RDMA): joined = (TEMPLATE_BITS + MAIN_BITS)'({headers_5, main_5[RDMA*8-1:0]});
      5'(ACKNOWLEDGE + ORIGINAL): joined = (TEMPLATE_BITS + MAIN_BITS)'({headers_5, main_5[(ACKNOWLEDGE+ORIGINAL)*8-1:0]});
      5'(DATAGRAM): joined = (TEMPLATE_BITS + MAIN_BITS)'({headers_5, main_5[DATAGRAM*8-1:0]});
      5'(ACKNOWLEDGE): joined = (TEMPLATE_BITS + MAIN_BITS)'({headers_5, main_5[ACKNOWLEDGE*8-1:0]});
      default: joined = (TEMPLATE_BITS + MAIN_BITS)'(headers_5);
    endcase
  end
  always_ff @(posedge clock) begin
    valid_6 <= !reset && valid_5;
    framing_6 <= framing_5;
    is_tagged_6 <= is_tagged_5;
    payload_6 <= payload_5;
    padded_6 <= padded_5;
    has_tail_6 <= has_tail_5;
    tail_6 <= tail_5;
    size_6 <= size_5;
    joined_6 <= joined;
    valid_7 <= !reset && valid_6;
    framing_7 <= framing_6;
    is_tagged_7 <= is_tagged_6;
    payload_7 <= payload_6;
    bytes_7 <= padded_6 + 13'(size_6);
    begin_7 <= 7'd0 - size_6;  // In the headroom.
    head_7 <= has_tail_6 ? {joined_6, tail_6} : HEAD_BITS'(joined_6);
  end

  // Packets wait for their payload, and are announced to the aligner, which has room for all of them.
  logic has_head, loads, is_loaded, in_head, takes, beat, beat_ready, is_last_head, is_last, unused_piece_ready;
  logic [12:0] head_payload, left;
  logic [HEAD_BITS-1:0] queued_head;
  logic [HEADROOM*8-1:0] head;  // First byte lowest.
  logic [NUMBER_WIDTH-1:0] head_number, number;
  unit_queue #(
      .UNIT_WIDTH(NUMBER_WIDTH + 13 + HEAD_BITS),
      .ENTRIES(ENTRIES)
  ) i_heads (
      .push(valid_7),
      .push_unit({begin_7[6:LANE_WIDTH], payload_7, head_7}),
      .valid(has_head),
      .unit({head_number, head_payload, queued_head}),
      .pop(loads),
      .filling(heads),
      .*
  );
  assign loads = has_head && (!is_loaded || takes && is_last);
  assign is_last_head = number == NUMBER_WIDTH'(HEAD_BEATS - 1);
  assign is_last = in_head ? is_last_head && left == '0 : left <= 13'(BEAT_BYTES);
  assign beat = is_loaded && (in_head || payload);
  assign takes = beat && beat_ready;
  assign payload_ready = is_loaded && !in_head && beat_ready;
  always_ff @(posedge clock) begin
    if (reset) is_loaded <= 1'b0;
    else is_loaded <= loads || is_loaded && !(takes && is_last);
    if (loads) begin
      in_head <= 1'b1;
      number <= head_number;
      left <= head_payload;
      for (int unsigned place = 0; place < HEADROOM; place++)
        head[place*8+:8] <= place < HEADROOM - HEAD_BITS / 8 ? 8'd0 : queued_head[(HEADROOM-1-place)*8%HEAD_BITS+:8];
    end else if (takes) begin
      number <= number + NUMBER_WIDTH'(1);
      if (in_head) in_head <= !is_last_head;
      else left <= left - 13'(BEAT_BYTES);
    end
  end

  // A beat of headers and payload, with zeros after the payload.
  logic [BITS-1:0] beat_data, bare_tdata;
  logic [BEAT_BYTES-1:0] is_there, bare_tkeep;
  logic bare_tvalid, bare_tready, bare_tlast, unused_first, unused_failed;
  logic [2:0] bare_tuser;
  always_comb begin
    for (int unsigned lane = 0; lane < BEAT_BYTES; lane++) begin
      is_there[lane] = left > 13'(lane);
      beat_data[lane*8+:8] = in_head ? head[32'(number)*BITS+lane*8+:8] : is_there[lane] ? payload_data[lane*8+:8] : 8'd0;
    end
  end
  byte_aligner #(
      .BEAT_BYTES(BEAT_BYTES),
      .LENGTH_WIDTH(13),
      .USER_WIDTH(3),
      .PIECES(2 * ENTRIES)
  ) i_aligner (
      .piece(valid_7),
      .piece_ready(unused_piece_ready),
      .piece_from(begin_7[LANE_WIDTH-1:0]),
      .piece_to('0),
      .piece_bytes(bytes_7),
      .piece_user({is_tagged_7, framing_7}),
      .beat(beat),
      .beat_ready(beat_ready),
      .beat_data(beat_data),
      .beat_failed(1'b0),
      .moved(bare_tvalid),
      .moved_ready(bare_tready),
      .moved_data(bare_tdata),
      .moved_strobe(bare_tkeep),
      .moved_first(unused_first),
      .moved_last(bare_tlast),
      .moved_failed(unused_failed),
      .moved_user(bare_tuser),
      .*
  );
  icrc_append #(
      .BEAT_BYTES(BEAT_BYTES)
  ) i_icrc (.*);
endmodule
