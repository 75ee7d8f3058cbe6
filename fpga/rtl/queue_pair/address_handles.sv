// Destinations of datagrams (InfiniBand volume 1, 10.2.2.2): each is an address vector in the protection domain of a function. A number consists of
// index and generation, so the number of a former handle finds nothing. The control port writes handles; after a reset none exists.
module address_handles #(
    parameter int unsigned HANDLES = hca_spec_pkg::ADDRESS_HANDLES,  // A power of two.
    localparam int unsigned INDEX_WIDTH = $clog2(HANDLES),
    localparam int unsigned VECTOR_BITS = hca_spec_pkg::ADDRESS_VECTOR_BYTES * 8
) (
    input logic clock,
    input logic reset,
    output logic clearing,

    input logic handle_write,
    input logic [31:0] handle_number,
    input logic handle_valid,
    input logic [3:0] handle_underlying_function,
    input logic [23:0] handle_protection_domain,
    input logic [VECTOR_BITS-1:0] handle_address_vector,

    // Answered two clocks later.
    input logic [31:0] look_number,
    input logic [3:0] look_underlying_function,
    output logic found,
    output logic [23:0] found_protection_domain,
    output hca_spec_pkg::address_vector_t found_address_vector
);
  if (HANDLES < 2 || HANDLES != 1 << INDEX_WIDTH || HANDLES > 65536) begin : gen_check
    $error("HANDLES has to be a power of two, 2 at least, and within the index of a number");
  end
  localparam int unsigned GENERATION_WIDTH = 8;

  logic [INDEX_WIDTH-1:0] cleared;
  logic valid_1, is_index_1;
  logic [15:0] generation_1;
  logic [GENERATION_WIDTH-1:0] own_generation_1;
  logic [3:0] function_1, own_function_1;
  logic [23:0] protection_domain_1;
  logic [VECTOR_BITS-1:0] vector_1;
  logic unused_number;
  assign unused_number = &{1'b0, handle_number};

  list_memory #(
      .WIDTH(1 + GENERATION_WIDTH + 4 + 24 + VECTOR_BITS),
      .SIZE(HANDLES),
      .BLOCK(1'b1)
  ) i_handles (
      .write(clearing || handle_write),
      .write_address(clearing ? cleared : handle_number[INDEX_WIDTH-1:0]),
      .write_data(clearing ? '0 : {
        handle_valid, handle_number[16+:GENERATION_WIDTH], handle_underlying_function, handle_protection_domain, handle_address_vector
      }),
      .read_address(look_number[INDEX_WIDTH-1:0]),
      .read_data({valid_1, own_generation_1, own_function_1, protection_domain_1, vector_1}),
      .*
  );
  always_ff @(posedge clock) begin
    if (reset) begin
      clearing <= 1'b1;
      cleared <= '0;
    end else if (clearing) begin
      clearing <= cleared != '1;
      cleared <= cleared + INDEX_WIDTH'(1);
    end
    is_index_1 <= 16'(look_number[INDEX_WIDTH-1:0]) == look_number[15:0];
    generation_1 <= look_number[31:16];
    function_1 <= look_underlying_function;
    found <= valid_1 && is_index_1 && generation_1 == 16'(own_generation_1) && function_1 == own_function_1;
    found_protection_domain <= protection_domain_1;
    found_address_vector <= vector_1;
  end
endmodule
