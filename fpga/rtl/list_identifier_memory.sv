// Index to list identifier memory and list identifier to index memory (US8804752). Content addressed: an index is compared
// with those of all lists at once, and gets the lowest free list identifier for as long as its list has a data unit. Direct:
// the index is the list identifier, for few indexes that are all possible (a TVL).
module list_identifier_memory #(
    parameter int unsigned LISTS = 64,
    parameter int unsigned INDEX_WIDTH = 32,
    parameter bit CONTENT_ADDRESSED = 1'b1,
    parameter int unsigned LIST_WIDTH = LISTS > 1 ? $clog2(LISTS) : 1
) (
    input logic clock,
    input logic reset,

    // The list of an index, and the one that it would get.
    input logic [INDEX_WIDTH-1:0] find_index,
    output logic found,
    output logic [LIST_WIDTH-1:0] list,
    output logic available,

    input logic [INDEX_WIDTH-1:0] other_index,
    output logic other_found,
    output logic [LIST_WIDTH-1:0] other_list,

    // Assigns `list` to `find_index`; ends the assignment of lists, a bit each.
    input logic allocate,
    input logic [LISTS-1:0] release_lists,

    output logic [LISTS-1:0] assigned,
    input logic [LIST_WIDTH-1:0] list_a,
    output logic [INDEX_WIDTH-1:0] index_a,
    input logic [LIST_WIDTH-1:0] list_b,
    output logic [INDEX_WIDTH-1:0] index_b
);
  if (CONTENT_ADDRESSED) begin : gen_content_addressed
    logic [INDEX_WIDTH-1:0] index[LISTS];
    logic [LISTS-1:0] match;
    logic [LISTS-1:0] other_match;
    logic [LIST_WIDTH-1:0] found_list;
    logic [LIST_WIDTH-1:0] free_list;

    for (genvar number = 0; number < LISTS; number++) begin : gen_list
      assign match[number] = assigned[number] && index[number] == find_index;
      assign other_match[number] = assigned[number] && index[number] == other_index;
      always_ff @(posedge clock) begin
        if (reset) assigned[number] <= 1'b0;
        else if (allocate && list == LIST_WIDTH'(number)) assigned[number] <= 1'b1;
        else if (release_lists[number]) assigned[number] <= 1'b0;
        if (allocate && list == LIST_WIDTH'(number)) index[number] <= find_index;
      end
    end

    find_first #(.SIZE(LISTS)) i_match (.bits(match), .first(found_list));
    find_first #(.SIZE(LISTS)) i_other_match (.bits(other_match), .first(other_list));
    find_first #(.SIZE(LISTS)) i_free (.bits(~assigned), .first(free_list));

    assign index_a = index[list_a];
    assign index_b = index[list_b];
    assign found = match != '0;
    assign other_found = other_match != '0;
    assign list = found ? found_list : free_list;
    assign available = found || assigned != '1;

`ifdef FORMAL
`include "list_identifier_memory.svh"
`endif
  end else begin : gen_direct
    logic unused_inputs;
    assign unused_inputs = &{1'b0, clock, reset, allocate, release_lists};
    assign index_a = INDEX_WIDTH'(list_a);
    assign index_b = INDEX_WIDTH'(list_b);
    assign assigned = '1;
    assign found = find_index < INDEX_WIDTH'(LISTS);
    assign list = LIST_WIDTH'(find_index);
    assign available = found;
    assign other_found = other_index < INDEX_WIDTH'(LISTS);
    assign other_list = LIST_WIDTH'(other_index);
  end
endmodule
