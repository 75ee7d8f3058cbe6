// Forms the data units that collect_buffer sends: the result of the beat in its last stage, one clock later.
module collect_buffer_units #(
    parameter int unsigned UNDERLYING_FUNCTIONS = hca_spec_pkg::UNDERLYING_FUNCTIONS,
    parameter int unsigned VIRTUAL_COLLECT_BUFFERS = hca_spec_pkg::VIRTUAL_COLLECT_BUFFERS,
    parameter int unsigned PCB_WIDTH = 7,
    parameter int unsigned VCB_WIDTH = $clog2(VIRTUAL_COLLECT_BUFFERS),
    parameter int unsigned FUNCTION_WIDTH = UNDERLYING_FUNCTIONS > 1 ? $clog2(UNDERLYING_FUNCTIONS) : 1
) (
    input logic clock,
    input logic reset,

    // The outcome of the beat.
    input logic kicks,
    input logic kicks_send_queue_mode,
    input logic rings,
    input logic refuses,
    input logic [7:0] reason,
    input logic collected,  // The command is complete in a PCB and is kicked unless its checksum differs.
    input logic takes_kick_number,
    input logic tells_half_written,

    // The page, its function, and the fields of the beat.
    input logic [VCB_WIDTH:0] page,
    input logic is_management,
    input logic [FUNCTION_WIDTH-1:0] underlying_function,
    input logic [PCB_WIDTH-1:0] buffer,
    input hca_spec_pkg::command_header_t header,
    input logic [47:0] known_segment_0,  // 0 until segment 0 has arrived.
    input logic [63:0] first_write,
    input logic [1:0] slot,
    input hca_spec_pkg::doorbell_slot_write_t ring,
    input hca_spec_pkg::quality_of_service_level_t named_level,  // The level of the queue pair that a slot names.
    input logic [9:0] first_dword,

    output logic kick,
    output hca_spec_pkg::kick_unit_t kick_unit,
    output logic kick_record,
    output logic [VCB_WIDTH-1:0] kick_virtual_collect_buffer,
    output hca_spec_pkg::opcode_t kick_opcode,
    output logic [63:0] kick_first_write,
    output logic post_notice,
    output hca_spec_pkg::post_notice_t post_notice_unit,
    output logic send_queue_mode_kick,
    output logic management,
    output hca_spec_pkg::management_unit_t management_unit,
    output logic refused,
    output hca_spec_pkg::event_unit_t refused_event,
    output logic half_written,
    output hca_spec_pkg::event_unit_t half_written_event
);
  logic [31:0] kick_number;
  logic unused_header;

  assign unused_header = &{1'b0, header, ring};

  always_ff @(posedge clock) begin
    if (reset) kick_number <= '0;
    else if (takes_kick_number) kick_number <= kick_number + 32'd1;

    kick <= !reset && kicks && !is_management;
    kick_record <= !reset && (kicks && !is_management || kicks_send_queue_mode);
    management <= !reset && kicks && is_management;
    if (collected || kicks_send_queue_mode || takes_kick_number) begin  // Else simulation has no unit to form.
      kick_unit <= '0;
      kick_unit.underlying_function <= 4'(underlying_function);
      kick_unit.quality_of_service_level <= header.quality_of_service_level;
      kick_unit.origin <= collected ? hca_spec_pkg::KICK_ORIGIN_COLLECTED : hca_spec_pkg::KICK_ORIGIN_SEND_QUEUE_MODE;
      kick_unit.queue_pair_number <= header.queue_pair_number;
      kick_unit.send_queue_sequence_number <= header.send_queue_sequence_number;
      kick_unit.length <= header.length;
      kick_unit.kick_number <= kick_number;
      if (collected) kick_unit.physical_collect_buffer <= 8'(buffer);

      kick_virtual_collect_buffer <= page[VCB_WIDTH-1:0];
      kick_opcode <= header.opcode;
      kick_first_write <= first_write;

      management_unit <= '0;
      management_unit.physical_collect_buffer <= 8'(buffer);
      management_unit.underlying_function <= 8'(underlying_function);
      management_unit.send_queue_sequence_number <= header.send_queue_sequence_number;
    end

    post_notice <= !reset && (rings || kicks_send_queue_mode);
    send_queue_mode_kick <= !reset && kicks_send_queue_mode;
    if (rings || kicks_send_queue_mode) begin
      post_notice_unit <= '0;
      post_notice_unit.underlying_function <= 4'(underlying_function);
      post_notice_unit.queue_pair_number <= rings ? ring.queue_pair_number : header.queue_pair_number;
      post_notice_unit.send_queue_sequence_number <= rings ? ring.send_queue_sequence_number :
          header.send_queue_sequence_number;
      post_notice_unit.quality_of_service_level <= named_level;
      if (kicks_send_queue_mode) post_notice_unit.quality_of_service_level <= header.quality_of_service_level;
      post_notice_unit.slot <= rings ? slot : 2'd0;
    end

    refused <= !reset && refuses;
    if (refuses) begin
      refused_event <= '0;
      refused_event.type_ <= hca_spec_pkg::EVENT_TYPE_VIRTUAL_COLLECT_BUFFER_ERROR;
      refused_event.underlying_function <= 8'(underlying_function);
      refused_event.reason <= reason;
      refused_event.object <= is_management ? 32'h0000_ffff : 32'(page);
      refused_event.detail <= known_segment_0;
      refused_event.offset <= 16'({first_dword, 2'd0});
    end

    half_written <= !reset && tells_half_written;
    if (tells_half_written) begin
      half_written_event <= '0;
      half_written_event.type_ <= hca_spec_pkg::EVENT_TYPE_HALF_WRITTEN_COMMAND;
      half_written_event.underlying_function <= 8'(underlying_function);
      half_written_event.object <= 32'(page);
      half_written_event.detail <= known_segment_0;
    end
  end
endmodule
