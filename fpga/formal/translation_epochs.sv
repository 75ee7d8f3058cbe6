// A command is answered when no access that took a slot before it is in flight. The proof follows one arbitrary access and counts the
// others.
module translation_epochs #(
    parameter bit REACHES = 1'b0  // Claims that no command is answered after the access has taken its slot, which must fail.
) (
    input logic clock,
    input logic reset,
    input logic control,
    input memory_translation_pkg::control_t control_command,
    input logic clearing,
    input logic takes,
    input logic finish,
    input logic finish_epoch,
    input logic follows,  // The access that takes a slot is the followed one.
    input logic is_followed  // The access that finishes is the followed one.
);
  logic control_ready, controlled, row_write, live, quiesced, clear_keys, clear_lines, clears_key, clears_function, epoch, keeps, may_take;
  logic [1:0] key;
  logic [7:0] variant;
  logic [2:0] underlying_function;
  logic [3:0] first, last;
  translation_control #(
      .KEYS(4),
      .LINE_WIDTH(4),
      .UNITS(8)
  ) i_control (
      .control_key('0),
      .control_live(1'b0),
      .control_quiesced(1'b0),
      .control_variant('0),
      .control_underlying_function('0),
      .control_first('0),
      .control_last('0),
      .*
  );

  logic begun, was_followed, is_under_way, its_epoch, is_commanded;
  logic [3:0] others_0, others_1;
  initial begun = 1'b0;
  always_ff @(posedge clock) begin
    begun <= 1'b1;
    if (reset) begin
      was_followed <= 1'b0;
      is_under_way <= 1'b0;
      is_commanded <= 1'b0;
      others_0 <= '0;
      others_1 <= '0;
    end else begin
      if (takes && follows) begin
        was_followed <= 1'b1;
        is_under_way <= 1'b1;
        its_epoch <= epoch;
      end
      if (finish && is_followed) is_under_way <= 1'b0;
      // A command begins while the access is in flight.
      if (control && control_ready) is_commanded <= is_under_way && !(finish && is_followed);
      others_0 <= others_0 + 4'(takes && !follows && !epoch) - 4'(finish && !is_followed && !finish_epoch);
      others_1 <= others_1 + 4'(takes && !follows && epoch) - 4'(finish && !is_followed && finish_epoch);
    end
  end

  always_comb begin
    assume (reset == !begun);
    assume (!takes || may_take);
    assume (!follows || takes && !was_followed);
    assume (!is_followed || finish && is_under_way && finish_epoch == its_epoch);
    assume (!finish || is_followed || (finish_epoch ? others_1 : others_0) != '0);
    if (begun && controlled && is_commanded) begin
      assert (!REACHES);
      assert (!is_under_way);
    end
    // No result is stored for an access of another epoch, or while the caches are swept.
    if (begun && (clear_keys || clear_lines)) assert (!keeps);
  end
endmodule
