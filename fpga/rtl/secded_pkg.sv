// Single error correction, double error detection over words of 64 data bits and 8 check bits: the odd-weight-column code of
// M. Y. Hsiao (IBM Journal of Research and Development, 1970). The column of a data bit names the check bits that cover it:
// data bits 0 to 55 have the 56 bytes with three set bits in ascending order, data bits 56 to 63 have 0x1f rotated left by 0
// to 7, and check bit r has only bit r. A syndrome equal to a column names one wrong bit; two wrong bits give an even number of
// ones, which no column has.
package secded_pkg;

  localparam int unsigned DATA_BITS = 64;
  localparam int unsigned CHECK_BITS = 8;
  localparam int unsigned BITS = DATA_BITS + CHECK_BITS;

  // The columns of all data bits, that of data bit 0 lowest.
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

  // The check bits of 64 data bits.
  function automatic logic [CHECK_BITS-1:0] encode(input logic [DATA_BITS-1:0] data);
    logic [DATA_BITS*CHECK_BITS-1:0] all_columns;
    all_columns = columns();
    encode = '0;
    for (int unsigned data_bit = 0; data_bit < DATA_BITS; data_bit++)
      encode = encode ^ (all_columns[data_bit*CHECK_BITS+:CHECK_BITS] & {CHECK_BITS{data[data_bit]}});
  endfunction

endpackage
