// Reads host memory for descriptor_fetch: tails at their address, references by the page table of their queue. Each queue has one read at a time, so
// every list here has room for all queues, and answers of host memory never wait.
module descriptor_reads #(
    parameter int unsigned BEAT_BYTES = hca_spec_pkg::BEAT_BYTES,
    parameter int unsigned QUEUES = 512,  // A power of two.
    localparam int unsigned QUEUE_WIDTH = $clog2(QUEUES),
    localparam int unsigned LANE_WIDTH = $clog2(BEAT_BYTES)
) (
    input logic clock,
    input logic reset,

    // A queue's read.
    input logic ask,
    input logic [QUEUE_WIDTH-1:0] ask_queue,
    input descriptor_fetch_pkg::read_t ask_read,

    // The next queue whose read is answered.
    output logic returned,
    output logic [QUEUE_WIDTH-1:0] returned_queue,
    output logic returned_failed,
    output logic returned_unmapped,
    input logic returned_taken,

    // A clock later: the tail of a queue, the address of its last read, and the reference in a place of its line.
    input logic [QUEUE_WIDTH-1:0] look_queue,
    output hca_spec_pkg::receive_queue_tail_t look_tail,
    output logic [47:0] look_address,
    input logic [QUEUE_WIDTH-1:0] line_queue,
    input logic [2:0] line_place,
    output hca_spec_pkg::work_queue_reference_t line_reference,  // Two clocks later.

    output logic translate,
    input logic translate_ready,
    output logic [3:0] translate_underlying_function,
    output logic [31:0] translate_page_table,
    output logic [8:0] translate_page,
    output logic [QUEUE_WIDTH-1:0] translate_user,
    input logic translated,
    output logic translated_ready,
    input logic translated_done,
    input logic [51:0] translated_page,
    input logic [QUEUE_WIDTH-1:0] translated_user,

    output logic read,
    input logic read_ready,
    output logic [3:0] read_underlying_function,
    output logic [63:0] read_address,
    output logic [6:0] read_bytes,
    output logic [LANE_WIDTH-1:0] read_lane,
    output logic [QUEUE_WIDTH-1:0] read_user,
    input logic data_valid,
    input logic [BEAT_BYTES*8-1:0] data,
    input logic data_last,
    input logic data_failed,
    input logic [QUEUE_WIDTH-1:0] data_user
);
  localparam int unsigned BEAT_REFERENCES = BEAT_BYTES / 8;
  localparam int unsigned BEATS = 64 / BEAT_BYTES;
  localparam int unsigned BEAT_WIDTH = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam logic [6:0] TAIL_BYTES = 7'(hca_spec_pkg::RECEIVE_QUEUE_TAIL_BYTES);

  // Reads that were asked for, in order: each is fetched from its memory, then goes to the translation or to host memory.
  logic is_asked, takes_asked, is_fetching, is_fetched, has_read, translates, reads_tail;
  logic [QUEUE_WIDTH-1:0] asked_queue, fetched_queue, next_queue;
  logic [$clog2(QUEUES):0] unused_asked, unused_returned;
  descriptor_fetch_pkg::read_t fetched_read, next_read, page_read;
  unit_queue #(
      .UNIT_WIDTH(QUEUE_WIDTH),
      .ENTRIES(QUEUES)
  ) i_asked (
      .push(ask),
      .push_unit(ask_queue),
      .valid(is_asked),
      .unit(asked_queue),
      .pop(takes_asked),
      .filling(unused_asked),
      .*
  );
  logic [QUEUE_WIDTH-1:0] page_queue;
  list_memory #(
      .WIDTH($bits(ask_read)),
      .SIZE(QUEUES),
      .BLOCK(1'b1)
  ) i_reads (
      .write(ask),
      .write_address(ask_queue),
      .write_data(ask_read),
      .read_address(fetched_queue),
      .read_data(fetched_read),
      .*
  );
  assign takes_asked = is_asked && !is_fetching && !is_fetched && !has_read;
  assign translates = has_read && next_read.is_table;
  assign translate = translates;
  assign translate_underlying_function = next_read.underlying_function;
  assign translate_page_table = next_read.address[63:32];
  assign translate_page = next_read.address[8:0];
  assign translate_user = next_queue;
  always_ff @(posedge clock) begin
    is_fetching <= !reset && takes_asked;
    is_fetched <= !reset && is_fetching;
    if (takes_asked) fetched_queue <= asked_queue;
    has_read <= !reset && (is_fetched || has_read && !(translates ? translate_ready : reads_tail));
    if (is_fetched) begin
      next_read <= fetched_read;
      next_queue <= fetched_queue;
    end
  end

  // Pages: a mapped one is read, an unmapped one is reported in a clock without data.
  logic has_page, is_page_known, has_page_read, page_done, reads_page, reports, data_2, data_ends;
  logic [51:0] page;
  logic unused_bits;
  assign unused_bits = &{1'b0, page_read, next_read};
  list_memory #(
      .WIDTH($bits(ask_read)),
      .SIZE(QUEUES),
      .BLOCK(1'b1)
  ) i_page_reads (
      .write(ask),
      .write_address(ask_queue),
      .write_data(ask_read),
      .read_address(page_queue),
      .read_data(page_read),
      .*
  );
  assign translated_ready = !has_page && !is_page_known && !has_page_read;
  assign reports = has_page_read && !page_done && !data_ends;
  assign reads_page = has_page_read && page_done && (!read || read_ready);
  assign reads_tail = has_read && !next_read.is_table && (!read || read_ready) && !reads_page;
  always_ff @(posedge clock) begin
    has_page <= !reset && translated && translated_ready;
    is_page_known <= !reset && has_page;
    has_page_read <= !reset && (is_page_known || has_page_read && !reports && !reads_page);
    if (translated && translated_ready) begin
      page_queue <= translated_user;
      page_done <= translated_done;
      page <= translated_page;
    end
    read <= !reset && (reads_page || reads_tail || read && !read_ready);
    if (reads_page) begin
      read_underlying_function <= page_read.underlying_function;
      read_address <= {page, page_read.place, 3'd0};
      read_bytes <= {page_read.count, 3'd0};
      read_lane <= LANE_WIDTH'({page_read.place[2:0], 3'd0});
      read_user <= page_queue;
    end else if (reads_tail) begin
      read_underlying_function <= next_read.underlying_function;
      read_address <= next_read.address;
      read_bytes <= TAIL_BYTES;
      read_lane <= '0;
      read_user <= next_queue;
    end
  end
  list_memory #(
      .WIDTH(48),
      .SIZE(QUEUES),
      .BLOCK(1'b1)
  ) i_addresses (
      .write(read && read_ready),
      .write_address(read_user),
      .write_data(read_address[47:0]),
      .read_address(look_queue),
      .read_data(look_address),
      .*
  );

  // 1: a beat, and whether its queue reads its tail or from which reference on. 2: the beat is written; behind the last one, the read has returned.
  logic valid_1, last_1, failed_1, begins_1, is_tail_1, last_2, failed_2, is_tail_2, has_begun;
  logic [2:0] first_1;
  logic [BEAT_WIDTH-1:0] beat_1, beat_2, next_beat;
  logic [QUEUE_WIDTH-1:0] user_1, user_2;
  logic [BEAT_BYTES*8-1:0] data_at_1, data_at_2;
  lut_memory #(
      .WIDTH(4),
      .SIZE(QUEUES)
  ) i_expected (
      .write(ask),
      .write_address(ask_queue),
      .write_data({!ask_read.is_table, ask_read.place[2:0]}),
      .read_addresses(user_1),
      .read_data({is_tail_1, first_1}),
      .*
  );
  assign beat_1 = begins_1 ? BEAT_WIDTH'(32'(first_1) / BEAT_REFERENCES) : next_beat;
  assign data_ends = data_2 && last_2;
  always_ff @(posedge clock) begin
    valid_1 <= !reset && data_valid;
    data_at_1 <= data;
    last_1 <= data_last;
    failed_1 <= data_failed;
    user_1 <= data_user;
    begins_1 <= !has_begun;
    if (reset) has_begun <= 1'b0;
    else if (data_valid) has_begun <= !data_last;
    if (valid_1) next_beat <= beat_1 + BEAT_WIDTH'(1);
    data_2 <= !reset && valid_1;
    data_at_2 <= data_at_1;
    beat_2 <= beat_1;
    last_2 <= last_1;
    failed_2 <= failed_1;
    user_2 <= user_1;
    is_tail_2 <= is_tail_1;
  end
  list_memory #(
      .WIDTH(32),
      .SIZE(QUEUES),
      .BLOCK(1'b1)
  ) i_tails (
      .write(data_2 && is_tail_2),
      .write_address(user_2),
      .write_data(data_at_2[31:0]),
      .read_address(look_queue),
      .read_data(look_tail),
      .*
  );
  logic [QUEUE_WIDTH+BEAT_WIDTH-1:0] write_line, read_line;
  logic [BEAT_BYTES*8-1:0] line;
  logic [2:0] place_1, place_2;
  assign write_line = {user_2, beat_2};
  assign read_line = {line_queue, BEAT_WIDTH'(32'(line_place) / BEAT_REFERENCES)};
  list_memory #(
      .WIDTH(BEAT_BYTES * 8),
      .SIZE(QUEUES << BEAT_WIDTH),
      .BLOCK(1'b1)
  ) i_lines (
      .write(data_2 && !is_tail_2),
      .write_address(write_line),
      .write_data(data_at_2),
      .read_address(read_line),
      .read_data(line),
      .*
  );
  assign place_2 = place_1 & 3'(BEAT_REFERENCES - 1);
  always_ff @(posedge clock) begin
    place_1 <= line_place;
    line_reference <= line[{29'd0, place_2}*64+:64];
  end
  unit_queue #(
      .UNIT_WIDTH(QUEUE_WIDTH + 2),
      .ENTRIES(QUEUES)
  ) i_returned (
      .push(data_ends || reports),
      .push_unit(data_ends ? {user_2, failed_2, 1'b0} : {page_queue, 2'b11}),
      .valid(returned),
      .unit({returned_queue, returned_failed, returned_unmapped}),
      .pop(returned_taken),
      .filling(unused_returned),
      .*
  );
endmodule
