// Decides on an access of descriptor_fetch, as DescriptorFetch of the device model does. The access stays until it is carried out; each register here
// follows from those before it, and the decision is there eight clocks after the access.
module descriptor_decision #(
    parameter int unsigned QUEUES = 512,
    parameter int unsigned SHARED = hca_spec_pkg::SHARED_RECEIVE_QUEUES,
    localparam int unsigned QUEUE_WIDTH = $clog2(QUEUES),
    localparam int unsigned SHARED_WIDTH = $clog2(SHARED)
) (
    input logic clock,
    input logic hold,  // The decision is carried out: it stays, although the row has changed.

    input descriptor_fetch_pkg::access_t access,
    input logic found,
    input hca_spec_pkg::queue_pair_control_t control,
    input hca_spec_pkg::queue_pair_responder_t responder,
    input descriptor_fetch_pkg::command_t command,
    input logic is_pair_at_work,  // A question to the queue pair's own queue waits for host memory.

    // The shared queue, and what was read; each a clock behind its address.
    output logic [SHARED_WIDTH-1:0] row_index,
    input descriptor_fetch_pkg::row_t row_read,
    output logic [QUEUE_WIDTH-1:0] queue,
    input hca_spec_pkg::receive_queue_tail_t look_tail,
    output logic [2:0] line_place,
    input hca_spec_pkg::work_queue_reference_t line_reference,

    output descriptor_fetch_pkg::row_t row,
    output descriptor_fetch_pkg::numbers_t numbers,
    output logic [8:0] first,  // The reference at the head, in its page,
    output logic [5:0] page,  // and that page.
    output hca_spec_pkg::work_queue_reference_t reference,
    output descriptor_fetch_pkg::decision_t decision
);
  localparam int unsigned CONTEXT_WIDTH = QUEUE_WIDTH - 1;
  localparam logic [9:0] SHORTEST = 10'(hca_spec_pkg::RECEIVE_ENTRY_HEADER_BYTES);
  localparam logic [9:0] LONGEST =
      10'(hca_spec_pkg::RECEIVE_ENTRY_HEADER_BYTES + hca_spec_pkg::GATHER_ENTRIES * hca_spec_pkg::GATHER_ENTRY_BYTES);
  localparam logic [31:0] ALIGNMENT = 32'(hca_spec_pkg::WORK_QUEUE_ENTRY_ALIGNMENT);
  localparam logic [7:0] NONE = 8'(hca_spec_pkg::REFUSAL_NONE);
  localparam logic [7:0] FAULT = 8'(hca_spec_pkg::REFUSAL_RECEIVE_QUEUE_FAULT);
  localparam logic [7:0] MISMATCH = 8'(hca_spec_pkg::REFUSAL_RECEIVE_QUEUE_MISMATCH);

  logic is_question, is_tail, is_references, is_limit, is_doorbell, is_control, names_row;
  assign is_question = access.kind == descriptor_fetch_pkg::ACCESS_QUESTION;
  assign is_tail = access.kind == descriptor_fetch_pkg::ACCESS_TAIL;
  assign is_references = access.kind == descriptor_fetch_pkg::ACCESS_REFERENCES;
  assign is_limit = access.kind == descriptor_fetch_pkg::ACCESS_LIMIT;
  assign is_doorbell = access.kind == descriptor_fetch_pkg::ACCESS_DOORBELL;
  assign is_control = access.kind == descriptor_fetch_pkg::ACCESS_CONTROL;
  assign names_row = is_doorbell || is_control;

  // 0: which queue.
  logic is_shared, is_new;
  logic [23:0] row_number;
  assign is_new = is_question && !access.is_resumed;
  assign row_number = names_row ? access.number : control.shared_receive_queue;
  assign is_shared = is_new ? control.shared_receive_queue != '0 : access.is_shared;
  assign row_index = is_new || names_row ? row_number[SHARED_WIDTH-1:0] : access.index[SHARED_WIDTH-1:0];
  assign queue = is_shared ? {1'b1, CONTEXT_WIDTH'(row_index)} : {1'b0, access.number[CONTEXT_WIDTH-1:0]};

  // 1: the row is there. 2: its numbers, or those of the context.
  logic is_row, is_ended, is_shared_2;
  hca_spec_pkg::receive_queue_tail_t tail_read;
  always_ff @(posedge clock) if (!hold) begin
    row <= row_read;
    tail_read <= look_tail;
    is_shared_2 <= is_shared;
    is_row <= row_read.valid && row_read.generation == row_number[23:16] && 16'(row_index) == row_number[15:0]
        && row_read.underlying_function == access.underlying_function;
    is_ended <= !found || is_shared && (control.destroying || control.state == hca_spec_pkg::QUEUE_PAIR_STATE_ERROR);
    numbers.queue_log2 <= is_shared ? row_read.queue_log2 : control.receive_queue_log2;
    numbers.queue_pages <= is_shared ? row_read.queue_pages : control.receive_queue_pages;
    numbers.entry_bytes <= is_shared ? row_read.entry_bytes : control.receive_entry_bytes;
    numbers.tail_address <= is_shared ? row_read.tail_address : control.receive_tail_address;
    numbers.head <= is_shared ? row_read.head : responder.receive_head;
    numbers.tail <= is_references ? access.tail : is_shared ? row_read.tail : responder.receive_tail;
    numbers.prefetched <= is_references ? access.count : is_shared ? row_read.prefetched : responder.receive_prefetched;
    numbers.limit <= is_control ? command.limit : row_read.limit;
  end

  // 3: where the head is, and distances from it.
  logic [15:0] slot, known, posted, claimed;
  logic [16:0] entries;
  logic [3:0] line_size;
  logic is_open, is_failed_row, gives_credits;
  logic [23:0] owed;
  assign line_place = slot[2:0];
  assign first = slot[8:0];
  assign page = slot[14:9];
  always_ff @(posedge clock) begin
    for (int unsigned bit_ = 0; bit_ < 16; bit_++) slot[bit_] <= numbers.head[bit_] && 5'(bit_) < numbers.queue_log2;
    entries <= 17'd1 << numbers.queue_log2;
    line_size <= numbers.queue_log2 >= 5'd3 ? 4'd8 : 4'd1 << numbers.queue_log2[1:0];
    known <= numbers.tail - numbers.head;
    posted <= tail_read.tail - numbers.head;
    claimed <= access.tail - numbers.head;
    is_open <= is_shared_2 || numbers.entry_bytes != '0;
    is_failed_row <= is_shared_2 && row.failure != NONE;
    // The peer has used what it may: the difference of 24 bits is not negative.
    owed <= responder.message_sequence_number - responder.advertised_limit;
    gives_credits <= control.end_to_end_credits && control.shared_receive_queue == '0;
  end

  // 4: comparisons.
  logic [3:0] to_line_end, line_end_4;
  logic is_short, is_wrong, is_posted_short, is_posted_below, is_below, is_below_taken, is_empty, is_claimed, is_owed, has_limit, is_tail_none;
  logic [3:0] count_posted;
  logic [15:0] head_next;
  logic reaches_end;
  assign to_line_end = line_size - {1'b0, slot[2:0]};
  assign reaches_end = posted < 16'(to_line_end);
  always_ff @(posedge clock) begin
    line_end_4 <= to_line_end;
    is_short <= known < 16'(to_line_end);
    is_posted_short <= reaches_end;
    count_posted <= posted[3:0];
    is_wrong <= tail_read.reserved_1 != '0 || 17'(posted) > entries;
    is_tail_none <= posted == '0;
    is_posted_below <= posted < numbers.limit;
    is_below <= known < numbers.limit;
    is_below_taken <= known <= numbers.limit;
    has_limit <= numbers.limit != '0;
    is_empty <= known == '0;
    is_claimed <= claimed > known && 17'(claimed) <= entries;
    is_owed <= gives_credits && !owed[23];
    head_next <= numbers.head + 16'd1;
  end

  // 5: the reference. 6: its sums. 7: whether it is sound.
  logic [12:0] page_end;
  logic [32:0] area_end;
  logic is_formed, is_sound;
  always_ff @(posedge clock) begin
    reference <= line_reference;
    page_end <= 13'(line_reference.offset[11:0]) + 13'(line_reference.length);
    area_end <= 33'(line_reference.offset) + 33'(line_reference.length);
    is_formed <= line_reference.sequence_number == numbers.head && line_reference.reserved_3 == '0 && line_reference.length >= SHORTEST
        && line_reference.length <= LONGEST && (line_reference.offset & (ALIGNMENT - 32'd1)) == '0;
    is_sound <= is_formed && page_end <= 13'(hca_spec_pkg::PAGE_BYTES) && area_end <= 33'(numbers.entry_bytes);
  end

  // 8: the decision.
  logic looks, is_below_after, keeps;  // keeps: where the queue stands follows from this access.
  descriptor_fetch_pkg::decision_t next;
  always_comb begin
    next = '0;
    next.head = numbers.head;
    next.tail = numbers.tail;
    next.prefetched = numbers.prefetched;
    next.count = line_end_4;
    next.left = posted;
    looks = row.looks;
    is_below_after = is_below;
    keeps = 1'b0;
    if (is_question || is_tail || is_references) begin
      next.answers = 1'b1;
      next.ends_work = !is_new;
      if (is_ended || is_new && is_shared_2 && !is_row || !is_open) begin
        // None; the block discards a read for a queue pair that has failed since.
        is_below_after = has_limit;
      end else if (is_new && is_shared_2 && row.at_work) begin
        next.answers = 1'b0;
        next.appends = 1'b1;
      end else if (is_question && is_failed_row) next.refusal = row.failure;
      else if (access.failed) begin
        keeps = 1'b1;
        next.refusal = FAULT;
        next.faults = !access.unmapped;
        next.prefetched = '0;
      end else if (is_tail && is_wrong) next.refusal = MISMATCH;
      else if (is_tail && is_tail_none) begin
        keeps = 1'b1;
        next.tail = tail_read.tail;
        next.prefetched = '0;
        is_below_after = has_limit;
      end else if (is_tail || is_question && numbers.prefetched == '0) begin
        next.answers = 1'b0;
        next.ends_work = 1'b0;
        next.reads_tail = is_question && is_short;
        next.reads_references = !next.reads_tail;
        if (is_tail) begin
          next.tail = tail_read.tail;
          if (is_posted_short) next.count = count_posted;
        end
      end else if (is_sound) begin
        keeps = 1'b1;
        next.taken = 1'b1;
        next.head = head_next;
        next.prefetched = numbers.prefetched - 4'd1;
        is_below_after = is_below_taken;
        looks = 1'b1;
      end else begin
        keeps = 1'b1;
        next.refusal = MISMATCH;
      end
      next.fails_pair = next.refusal != NONE;
      next.fails_queue = next.fails_pair && is_shared_2 && !is_failed_row;
      next.writes_context = is_shared_2 ? next.taken : keeps;
      next.writes_row = is_shared_2 && keeps;
    end
    if (is_limit) begin
      next.ends_work = 1'b1;
      if (!row.looks && has_limit && is_below) begin
        if (access.failed || is_wrong) begin
          next.refusal = access.failed ? FAULT : MISMATCH;
          next.faults = access.failed;
          next.fails_queue = 1'b1;
        end else begin
          next.writes_row = 1'b1;
          next.tail = tail_read.tail;
          next.reaches_limit = is_posted_below;
        end
      end
      is_below_after = has_limit && is_below && row.looks;
    end
    if (is_doorbell) begin
      next.is_unknown = access.is_shared ? !is_row : !found;
      next.is_deferred = !access.is_shared && found && is_pair_at_work;
      if (!access.is_shared && found && !is_pair_at_work && control.state != hca_spec_pkg::QUEUE_PAIR_STATE_RESET) begin
        next.writes_context = is_claimed;
        if (is_claimed) next.tail = access.tail;
        next.rings = control.state == hca_spec_pkg::QUEUE_PAIR_STATE_ERROR || is_owed && (is_claimed || !is_empty);
      end
    end
    if (is_control) begin
      next.commanded = 1'b1;
      if (command.creates) begin
        next.writes_row = 1'b1;
      end else if (!is_row) next.command_result = 2'd1;
      else if (is_failed_row && (command.resizes || command.arms)) next.command_result = 2'd2;
      else if (row.at_work && (command.destroys || command.resizes && !row.is_between)) begin
        next.commanded = 1'b0;
        next.retries = 1'b1;
      end else begin
        next.writes_row = 1'b1;
        next.reads_limit = command.arms && !row.at_work && has_limit && is_below;
      end
    end
    if (next.ends_work || next.taken) begin
      next.reads_limit = is_shared_2 && looks && has_limit && is_below_after && !next.fails_queue && !is_failed_row;
      next.resumes = next.ends_work && is_shared_2 && row.has_waiting && !next.reads_limit;
    end
    if (next.reads_limit) next.ends_work = 1'b0;
  end
  logic unused_bits;
  assign unused_bits = &{1'b0, control, responder, command, slot[15], owed};
  always_ff @(posedge clock) if (!hold) decision <= next;
endmodule
