// The polynomial of the ICRC (InfiniBand volume 1, 7.8.1), and the matrices over GF(2) that advance a register by many bits at once, or move it back.
// A register takes low bits first and starts as all ones; the wire carries its inverse, low byte first.
package icrc_pkg;

  // Bit 0 is the coefficient of x^31; that of x^32 is one and not stored.
  localparam logic [31:0] POLYNOMIAL = 32'hedb8_8320;
  localparam logic [31:0] START = '1;

  // The register after this many ones.
  function automatic logic [31:0] after_ones(input logic [31:0] register, input int unsigned bits);
    after_ones = register;
    for (int unsigned number = 0; number < bits; number++)
      after_ones = after_ones >> 1 ^ (after_ones[0] ? 32'd0 : POLYNOMIAL);
  endfunction


  // Row by row of the register, from bit 0: the bits of a beat that change it. Bit n of a row stands for the bit of the beat that n bits follow.
  localparam int unsigned MOST_BITS = 512;
  function automatic logic [32*MOST_BITS-1:0] forward_rows();
    logic [31:0] column;
    logic [MOST_BITS-1:0] row;
    logic [MOST_BITS-2:0] lowest;
    column = POLYNOMIAL;
    for (int unsigned number = 0; number < MOST_BITS - 1; number++) begin
      lowest[number] = column[0];
      column = column >> 1 ^ (column[0] ? POLYNOMIAL : 32'd0);
    end
    row = '0;
    for (int unsigned place = 32; place > 0; place--) begin
      row = {row[MOST_BITS-2:0] ^ (POLYNOMIAL[place-1] ? lowest : '0), POLYNOMIAL[place-1]};
      forward_rows[(place-1)*MOST_BITS+:MOST_BITS] = row;
    end
  endfunction
  localparam logic [32*MOST_BITS-1:0] FORWARD_ROWS = forward_rows();

  // The same for the bits of a register that is moved back by n zeros: bits n to n + 31 of a row stand for bits 0 to 31.
  localparam int unsigned MOST_BACK = 288;
  function automatic logic [32*MOST_BACK-1:0] back_rows();
    logic [31:0] column;
    logic [MOST_BACK-1:0] row;
    logic [MOST_BACK-2:0] highest;
    column = 32'd1;
    for (int unsigned number = 0; number < MOST_BACK - 1; number++) begin
      highest[number] = column[31];
      column = {column[30:0] ^ (column[31] ? POLYNOMIAL[30:0] : 31'd0), column[31]};
    end
    row = {highest, 1'b1};
    back_rows[0+:MOST_BACK] = row;
    for (int unsigned place = 1; place < 32; place++) begin
      row = {row[MOST_BACK-2:0] ^ (POLYNOMIAL[place-1] ? highest : '0), 1'b0};
      back_rows[place*MOST_BACK+:MOST_BACK] = row;
    end
  endfunction
  localparam logic [32*MOST_BACK-1:0] BACK_ROWS = back_rows();

endpackage
