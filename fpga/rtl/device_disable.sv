// Disables the device by register: when the host's started writes have taken effect, the half-written commands of all VCBs are cancelled.
// No other burst reaches collect_buffer meanwhile (US8589610, physical function: to disable the host channel adapter).
module device_disable #(
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS)
) (
    input logic clock,
    input logic reset,
    input logic disable_device,  // Held until it is done; `enabled` is clear by then.
    output logic disable_done,
    input logic host_writes,

    // To control_commands.
    output logic request,
    output logic [2:0] request_command,
    output logic [VCB_WIDTH:0] request_page,
    input logic request_done
);
  logic cancels;
  logic [VCB_WIDTH-1:0] virtual_collect_buffer;

  assign request = cancels;
  assign request_command = hca_spec_pkg::COLLECT_BUFFER_CONTROL_CANCEL;
  assign request_page = {1'b0, virtual_collect_buffer};
  assign disable_done = request_done && virtual_collect_buffer == VCB_WIDTH'(VIRTUAL_COLLECT_BUFFERS - 1);

  always_ff @(posedge clock) begin
    if (reset) cancels <= 1'b0;
    else cancels <= !disable_done && (cancels || disable_device && !host_writes);
    if (!cancels) virtual_collect_buffer <= '0;
    else if (request_done) virtual_collect_buffer <= virtual_collect_buffer + VCB_WIDTH'(1);
  end
endmodule
