// Data units within queue_pair_fetch. They hold structures of other packages as plain bits, because Yosys 0.23 does not find their members' types.
package queue_pair_fetch_pkg;

  // In the order in which they take turns.
  typedef enum logic [2:0] {
    FETCH_UNIT_SCHEDULE_DONE = 3'd0,
    FETCH_UNIT_PROGRESS_NOTICE = 3'd1,
    FETCH_UNIT_POST_NOTICE = 3'd2,
    FETCH_UNIT_RESUME = 3'd3,  // The queue pair has become RTS.
    FETCH_UNIT_COMMAND = 3'd4
  } fetch_unit_kind_t;
  localparam int unsigned FETCH_UNIT_KINDS = 5;

  // A data unit of any link. Those that are no commands have number, function and sequence number in `kick`.
  typedef struct packed {
    fetch_unit_kind_t kind;
    logic stops;  // Of a post_notice: the doorbell slot stop.
    logic [7:0] refusal;  // refusal_t, of a schedule_done.
    logic [127:0] kick;  // hca_spec_pkg::kick_unit_t.
  } fetch_unit_t;
  localparam int unsigned FETCH_UNIT_WIDTH = 140;

  // A command in its PCB, as far as the decision needs it.
  typedef struct packed {
    logic [7:0] opcode;
    logic [8:0] length;
    logic fence;
    logic inline_data;
    logic [4:0] gather_count;
    logic [35:0] list_bytes;  // Sum of the lengths of its gather list.
    logic has_address;  // The address handle is one of the command's function.
    logic [23:0] address_domain;
    logic [7:0] address_port;
  } command_facts_t;

  // The decision on a unit, and its effects.
  typedef struct packed {
    logic [2:0] kind;  // fetch_unit_kind_t.
    logic [127:0] kick;  // kick_unit_t; of a command that is executed: with its status.
    logic writes;
    logic [511:0] requester;  // queue_pair_requester_t; `scheduled` is set with the pin.
    logic asks_to_schedule;  // If it can be pinned.
    logic [1:0] quality_of_service_level;  // Of the queue pair.
    logic executes;
    logic gives_back;  // The PCB and the credits.
    logic fails;  // The queue pair enters ERR, with an event.
    logic [7:0] refusal;
    logic flushes;  // The rest of the send queue is flushed.
    logic rewinds;
    logic [23:0] rewind_psn;
    logic is_stale;
    logic is_handed_back;
    logic [2:0] hold;  // send_hold_t, of a command that is held.
    logic [31:0] message_length;
    logic [23:0] packets;
    logic [23:0] first_psn;
    logic [23:0] next_packet;
  } fetch_outcome_t;

endpackage
