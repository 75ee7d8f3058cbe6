// What segment 0 says of a command: version, reserved bits, length, queue pair, level. A management command belongs to no queue
// pair, and to no level: 0 in both fields.
module command_admission (
    input hca_spec_pkg::command_header_t header,  // Of which segment 0 is looked at.
    input logic is_management,
    input logic queue_pair_found,
    input hca_spec_pkg::quality_of_service_level_t queue_pair_quality_of_service_level,
    output logic [7:0] refusal  // refusal_t
);
  logic known;
  logic right_level;
  logic unused_header;

  assign unused_header = &{1'b0, header};
  assign known = is_management ? header.queue_pair_number == '0 : queue_pair_found;
  assign right_level = header.quality_of_service_level
      == (is_management ? hca_spec_pkg::QUALITY_OF_SERVICE_LEVEL_LOW : queue_pair_quality_of_service_level);

  assign refusal = header.version != 4'(hca_spec_pkg::COMMAND_VERSION) ? hca_spec_pkg::REFUSAL_UNKNOWN_VERSION :
      header.reserved_6 ? hca_spec_pkg::REFUSAL_RESERVED_NOT_ZERO :
      header.length > 9'(hca_spec_pkg::COMMAND_PAYLOAD_BYTES) ? hca_spec_pkg::REFUSAL_LENGTH_OVER_MAXIMUM :
      !known ? hca_spec_pkg::REFUSAL_UNKNOWN_QUEUE_PAIR :
      !right_level ? hca_spec_pkg::REFUSAL_WRONG_QUALITY_OF_SERVICE_LEVEL : hca_spec_pkg::REFUSAL_NONE;
endmodule
