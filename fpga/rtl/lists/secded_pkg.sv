// Single error correction, double error detection over words of 64 data bits and 8 check bits: the odd-weight-column code of
// M. Y. Hsiao (IBM Journal of Research and Development, 1970). The column of a data bit names the check bits that cover it:
// data bits 0 to 55 have the 56 bytes with three set bits in ascending order, data bits 56 to 63 have 0x1f rotated left by 0
// to 7, and check bit r has only bit r. A syndrome equal to a column names one wrong bit; two wrong bits give an even number of
// ones, which no column has.
package secded_pkg;

  localparam int unsigned DATA_BITS = 64;
  localparam int unsigned CHECK_BITS = 8;
  localparam int unsigned BITS = DATA_BITS + CHECK_BITS;

  // The columns of all data bits, data bit 0 in the lowest place.
  function automatic logic [DATA_BITS*CHECK_BITS-1:0] columns();
    int unsigned data_bit;
    data_bit = 0;
    columns = '0;
    for (int unsigned value = 0; value < 256; value++) begin
      if (value[0] + value[1] + value[2] + value[3] + value[4] + value[5] + value[6] + value[7] == 3) begin
        columns[data_bit*CHECK_BITS+:CHECK_BITS] = value[CHECK_BITS-1:0];
        data_bit = data_bit + 1;
      end
    end
    for (int unsigned rotation = 0; rotation < CHECK_BITS; rotation++)
      columns[(data_bit+rotation)*CHECK_BITS+:CHECK_BITS] = 8'h1f << rotation | 8'h1f >> (CHECK_BITS - rotation);
  endfunction

  // The data bits that a check bit covers.
  function automatic logic [DATA_BITS-1:0] covered(input int unsigned check_bit);
    logic [DATA_BITS*CHECK_BITS-1:0] all_columns;
    all_columns = columns();
    for (int unsigned data_bit = 0; data_bit < DATA_BITS; data_bit++)
      covered[data_bit] = all_columns[data_bit*CHECK_BITS+check_bit];
  endfunction

  localparam logic [DATA_BITS-1:0] COVERED_0 = covered(0);
  localparam logic [DATA_BITS-1:0] COVERED_1 = covered(1);
  localparam logic [DATA_BITS-1:0] COVERED_2 = covered(2);
  localparam logic [DATA_BITS-1:0] COVERED_3 = covered(3);
  localparam logic [DATA_BITS-1:0] COVERED_4 = covered(4);
  localparam logic [DATA_BITS-1:0] COVERED_5 = covered(5);
  localparam logic [DATA_BITS-1:0] COVERED_6 = covered(6);
  localparam logic [DATA_BITS-1:0] COVERED_7 = covered(7);

  // The check bits of 64 data bits.
  function automatic logic [CHECK_BITS-1:0] encode(input logic [DATA_BITS-1:0] data);
    encode = {^(data & COVERED_7), ^(data & COVERED_6), ^(data & COVERED_5), ^(data & COVERED_4),
              ^(data & COVERED_3), ^(data & COVERED_2), ^(data & COVERED_1), ^(data & COVERED_0)};
  endfunction

endpackage
