// An index has one list at most.
logic started = 1'b0;
always_ff @(posedge clock) started <= 1'b1;

for (genvar number = 0; number < LISTS; number++) begin : gen_formal
  for (genvar other = 0; other < number; other++) begin : gen_other
    always_comb if (started && assigned[number] && assigned[other]) assert (index[number] != index[other]);
  end
end
