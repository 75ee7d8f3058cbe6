// What a function owns is there for it whatever the others do: as long as a group is told that it may take a PCB, one is free. `held`
// is what each group holds, by function, low, high and shared. Counts are those of PCBs in use, and all that is owned or shared is
// all there is. A division leaves what is borrowed covered: what half-written commands hold goes back at once (division_settling);
// what kicked ones hold has come back.
logic started = 1'b0;
logic divided = 1'b0;
logic [COUNT_WIDTH+FUNCTION_WIDTH+1:0] all_owned;
logic [COUNT_WIDTH+FUNCTION_WIDTH+1:0] all_held;

always_ff @(posedge clock) begin
  started <= 1'b1;
  divided <= set_allotment && allotment_allowed;
end

always_comb begin
  all_owned = '0;
  all_held = '0;
  for (int unsigned number = 0; number < UNDERLYING_FUNCTIONS; number++)
    all_owned = all_owned + (COUNT_WIDTH + FUNCTION_WIDTH + 2)'(owns[number]);
  for (int unsigned group = 0; group < 3 * UNDERLYING_FUNCTIONS; group++)
    all_held = all_held + (COUNT_WIDTH + FUNCTION_WIDTH + 2)'(held[group*COUNT_WIDTH+:COUNT_WIDTH]);
  if (divided) assume (all_borrowed <= shared_total);
  if (started) begin
    assert (all_borrowed <= shared_total);
    assert (all_owned + shared_total == PHYSICAL_COLLECT_BUFFERS);
    assert (all_held <= PHYSICAL_COLLECT_BUFFERS);
    if (available) assert (all_held < PHYSICAL_COLLECT_BUFFERS);
  end
end

for (genvar number = 0; number < UNDERLYING_FUNCTIONS; number++) begin : gen_formal
  always_comb begin
    if (started) begin
      assert (gen_function[number].taken_low == held[(3*number)*COUNT_WIDTH+:COUNT_WIDTH]);
      assert (gen_function[number].taken_high == held[(3*number+1)*COUNT_WIDTH+:COUNT_WIDTH]);
      assert (gen_function[number].taken_shared == held[(3*number+2)*COUNT_WIDTH+:COUNT_WIDTH]);
      assert (gen_function[number].total_low <= PHYSICAL_COLLECT_BUFFERS);
      assert (gen_function[number].total_high <= PHYSICAL_COLLECT_BUFFERS);
      assert (gen_function[number].total_shared <= PHYSICAL_COLLECT_BUFFERS);
    end
  end
end
