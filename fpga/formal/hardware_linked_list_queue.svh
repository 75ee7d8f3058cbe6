// Credits are conserved: inbound credits and used entries are all entries, and a function holds the entry credits of the entries
// that it pays for, no more and no fewer. A list has an identifier as long as it has a data unit, and is ready when the first one
// is, and it is not closed. query_underlying_function and query_list stand for any one.
logic started = 1'b0;
logic [FUNCTION_WIDTH-1:0] function_before;
logic [LIST_WIDTH-1:0] list_before;
logic [COUNT_WIDTH-1:0] own_paid;
logic [COUNT_WIDTH-1:0] shared_paid;
logic [COUNT_WIDTH-1:0] used_count;

always_ff @(posedge clock) begin
  started <= 1'b1;
  function_before <= query_underlying_function;
  list_before <= query_list;
end

always_comb begin
  own_paid = '0;
  shared_paid = '0;
  used_count = '0;
  for (int unsigned entry = 0; entry < ENTRIES; entry++) begin
    own_paid = own_paid + COUNT_WIDTH'(used[entry] && entry_credit[entry]
        == {query_underlying_function, linked_list_queue_pkg::CREDIT_SOURCE_OWN});
    shared_paid = shared_paid + COUNT_WIDTH'(used[entry] && entry_credit[entry]
        == {query_underlying_function, linked_list_queue_pkg::CREDIT_SOURCE_SHARED});
    used_count = used_count + COUNT_WIDTH'(used[entry]);
  end
end

always_comb begin
  assume (!(push && inject_error));
  if (started) begin
    assume (query_underlying_function == function_before);
    assume (query_list == list_before);
    assert (inbound_credits + used_count == COUNT_WIDTH'(ENTRIES));
    assert (query_own_held == own_paid);
    assert (query_shared_held == shared_paid);
    if (CONTENT_ADDRESSED) assert (assigned == occupied);
    assert ((lists_ready & ~occupied) == '0);
    assert ((closed & ~occupied) == '0);
    assert ((lists_ready & closed) == '0);
    assert ((data_units_ready & ~used) == '0);
    assert (lists_ready[query_list] == (occupied[query_list] && !closed[query_list] && data_units_ready[query_head]));
  end
end
