// The free PCB list (US8589610): a bit string in which a set bit is a free PCB. The pool's PCBs come first, then the dedicated ones: those
// of the management pages, then those for fetched commands. For each kind the lowest free one is taken.
//
// The block searches three PCBs of the pool in advance, one a clock, so that one can be taken in every clock. A returned PCB can be taken
// four clocks later. After a return, the search restarts when nothing in flight could take one.
module physical_collect_buffer_list #(
    parameter int unsigned PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned DEDICATED_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned MANAGEMENT_PHYSICAL_COLLECT_BUFFERS = hca_spec_pkg::MANAGEMENT_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned BUFFERS = PHYSICAL_COLLECT_BUFFERS + DEDICATED_PHYSICAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = BUFFERS > 1 ? $clog2(BUFFERS) : 1
) (
    input logic clock,
    input logic reset,

    // A PCB of the pool that can be taken in this clock.
    output logic pool_available,
    output logic [PCB_WIDTH-1:0] pool_buffer,
    input logic take_pool,

    input logic idle,  // No PCB is taken in this clock or in the next two.

    output logic [BUFFERS-1:0] free_buffers,
    output logic management_available,
    output logic [PCB_WIDTH-1:0] management_buffer,
    output logic dedicated_available,
    output logic [PCB_WIDTH-1:0] dedicated_buffer,

    // The PCB that was taken, of any kind, reported afterwards; PCBs that are released: without a kick, and after it.
    input logic taken,
    input logic [PCB_WIDTH-1:0] taken_buffer,
    input logic give_back,
    input logic [PCB_WIDTH-1:0] give_back_buffer,
    input logic release_buffer,
    input logic [PCB_WIDTH-1:0] release_physical_collect_buffer
);
  localparam int unsigned POOL = PHYSICAL_COLLECT_BUFFERS;
  localparam int unsigned DEDICATED = DEDICATED_PHYSICAL_COLLECT_BUFFERS;
  localparam int unsigned MANAGEMENT = MANAGEMENT_PHYSICAL_COLLECT_BUFFERS;

  // A PCB as a bit: apart for the pool, whose words simulation shifts at once. A number of the other kind is shifted out.
  function automatic logic [BUFFERS-1:0] bit_of(input logic is_there, input logic [PCB_WIDTH-1:0] number);
    bit_of = {DEDICATED'(is_there) << (number - PCB_WIDTH'(POOL)), POOL'(is_there) << number};
  endfunction

  logic [BUFFERS-1:0] comes_back;
  logic pool_comes_back;
  assign comes_back = bit_of(give_back, give_back_buffer) | bit_of(release_buffer, release_physical_collect_buffer);
  assign pool_comes_back = give_back && 32'(give_back_buffer) < POOL || release_buffer && 32'(release_physical_collect_buffer) < POOL;
  always_ff @(posedge clock) begin
    if (reset) free_buffers <= '1;
    else free_buffers <= free_buffers & ~bit_of(taken, taken_buffer) | comes_back;
  end

  // PCBs of the pool: free and not found yet; the lowest of these; the one found, as a bit; the next two.
  logic [POOL-1:0] left, lowest, candidate, found_before;
  logic [PCB_WIDTH-1:0] found, next_buffer;
  logic looks, has_candidate, finds, next_available, has_come_back, renews;
  assign renews = idle && has_come_back;
  assign finds = !next_available && has_candidate;
  assign looks = !has_candidate || finds;
  assign lowest = left & (~left + POOL'(1));
  find_first #(
      .SIZE(POOL),
      .WIDTH(PCB_WIDTH),
      .ISOLATED(1'b1)
  ) i_found (
      .bits(candidate),
      .first(found)
  );
  assign found_before = POOL'(pool_available) << pool_buffer | POOL'(next_available) << next_buffer | (has_candidate ? candidate : '0);

  always_ff @(posedge clock) begin
    if (reset) left <= '1;
    else if (renews) left <= left | found_before | comes_back[POOL-1:0];
    else left <= left & ~(looks ? lowest : '0) | comes_back[POOL-1:0];
    if (looks) candidate <= lowest;
    if (reset || renews) has_candidate <= 1'b0;
    else if (looks) has_candidate <= left != '0;
    has_come_back <= !reset && (pool_comes_back || has_come_back && !idle);
    if (reset || renews) begin
      pool_available <= 1'b0;
      next_available <= 1'b0;
    end else begin
      pool_available <= pool_available && !take_pool || next_available || finds;
      next_available <= pool_available && !take_pool && (next_available || finds);
    end
    if (!pool_available || take_pool) pool_buffer <= next_available ? next_buffer : found;
    if (!next_available) next_buffer <= found;
  end

  // Dedicated PCBs, which are few.
  always_comb begin
    management_available = 1'b0;
    management_buffer = '0;
    dedicated_available = 1'b0;
    dedicated_buffer = '0;
    for (int unsigned number = DEDICATED; number > 0; number--) begin
      if (number <= MANAGEMENT && free_buffers[POOL+number-1]) begin
        management_available = 1'b1;
        management_buffer = PCB_WIDTH'(POOL + number - 1);
      end
      if (number > MANAGEMENT && free_buffers[POOL+number-1]) begin
        dedicated_available = 1'b1;
        dedicated_buffer = PCB_WIDTH'(POOL + number - 1);
      end
    end
  end
endmodule
