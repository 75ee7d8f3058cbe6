// Lists neither lose, duplicate nor reorder: every used entry is on one list at one place, comes to it at the end, moves by one
// when the head leaves, and leaves only from place 0. By induction, over the block alone and as a part of the queue.
(* mem2reg *) logic [COUNT_WIDTH-1:0] place[ENTRIES];  // Of a used entry in its list, from 0.
(* mem2reg *) logic [COUNT_WIDTH-1:0] peeked[LISTS];  // Data units that were peeked at and are still there.
logic started = 1'b0;
logic [COUNT_WIDTH-1:0] free_count;

function automatic logic leaves_from(input logic [LIST_WIDTH-1:0] list);
  leaves_from = remove_a && list_a == list || remove_b && list_b == list;
endfunction

always_ff @(posedge clock) begin
  started <= 1'b1;
  for (int unsigned entry = 0; entry < ENTRIES; entry++) begin
    if (append && append_entry == ENTRY_WIDTH'(entry))
      place[entry] <= count[append_list] - COUNT_WIDTH'(leaves_from(append_list));
    else if (leaves_from(owner[entry])) place[entry] <= place[entry] - COUNT_WIDTH'(1);
  end
  for (int unsigned list = 0; list < LISTS; list++) begin
    if (reset) peeked[list] <= '0;
    else if (list_b == LIST_WIDTH'(list) && reset_peek_pointer)
      peeked[list] <= '0;
    else
      peeked[list] <= peeked[list] + COUNT_WIDTH'(list_b == LIST_WIDTH'(list) && advance_peek_pointer)
          - COUNT_WIDTH'(leaves_from(LIST_WIDTH'(list))
            && (peeked[list] != '0 || list_b == LIST_WIDTH'(list) && advance_peek_pointer));
  end
end

// What the surroundings owe: assumed of the block alone, proved of the queue.
logic contract;
assign contract = reset || !(append && free_entries == '0) && !(remove_a && !occupied[list_a])
    && !(remove_b && !occupied[list_b]) && !(remove_a && remove_b && list_a == list_b)
    && !(advance_peek_pointer && (remove_b || !peek_pending[list_b]))
    && !(reset_peek_pointer && (remove_b || advance_peek_pointer || !occupied[list_b]));

always_comb begin
  free_count = '0;
  for (int unsigned entry = 0; entry < ENTRIES; entry++) free_count = free_count + COUNT_WIDTH'(!used[entry]);
end

always_comb begin
  if (!started) assume (reset);
`ifdef FORMAL_DATA_LIST
  assume (contract);
`else
  if (started) assert (contract);
`endif
  if (started) begin
    assert (free_entries == free_count);
    if (append && !reset) assert (!used[append_entry]);
    if (remove_a && !reset) assert (used[head_a] && owner[head_a] == list_a && place[head_a] == '0);
    if (remove_b && !reset) assert (used[head_b] && owner[head_b] == list_b && place[head_b] == '0);
    for (int unsigned entry = 0; entry < ENTRIES; entry++) begin
      if (used[entry]) begin
        assert (place[entry] < count[owner[entry]]);
        if (place[entry] + COUNT_WIDTH'(1) == count[owner[entry]])
          assert (tail[owner[entry]] == ENTRY_WIDTH'(entry));
        else
          assert (used[successor[entry]] && owner[successor[entry]] == owner[entry]
              && place[successor[entry]] == place[entry] + COUNT_WIDTH'(1));
        for (int unsigned other = 0; other < entry; other++)
          if (used[other] && owner[other] == owner[entry]) assert (place[other] != place[entry]);
      end
    end
  end
end

for (genvar list = 0; list < LISTS; list++) begin : gen_formal_list
  logic [COUNT_WIDTH-1:0] on_list;
  always_comb begin
    on_list = '0;
    for (int unsigned entry = 0; entry < ENTRIES; entry++)
      on_list = on_list + COUNT_WIDTH'(used[entry] && owner[entry] == LIST_WIDTH'(list));
    if (started) begin
      assert (count[list] == on_list);
      assert (peek_pending[list] == (peeked[list] < count[list]));
      assert (peeked[list] <= count[list]);
      if (occupied[list])
        assert (used[head[list]] && owner[head[list]] == LIST_WIDTH'(list) && place[head[list]] == '0);
      if (peek_pending[list])
        assert (used[peek_pointer[list]] && owner[peek_pointer[list]] == LIST_WIDTH'(list)
            && place[peek_pointer[list]] == peeked[list]);
    end
  end
end
