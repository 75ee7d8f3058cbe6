// Builds the headers that all packets from one queue pair to another have in common, as wire::make_packet_template of the device model: everything up to
// the BTH, without lengths, opcode, flags and PSN. First byte highest, and the BTH lowest.
module packet_template (
    input logic clock,
    input logic reset,

    // The inputs stay the same until `done`.
    input logic start,
    input logic is_infiniband,
    input hca_spec_pkg::address_vector_t destination,
    input logic [47:0] source_mac,  // First byte highest.
    input logic [15:0] source_local_identifier,  // Of the port, to which the path bits are added.
    input logic [127:0] source_gid,  // First byte highest.
    input logic [15:0] partition_key,
    input logic [15:0] udp_source_port,  // From which the link sends; 0: any.
    input logic [23:0] source_queue_pair,
    input logic [23:0] destination_queue_pair,

    output logic done,
    output logic [1:0] framing,  // packet_framing_t
    output logic is_tagged,
    output logic [639:0] headers,
    output logic [15:0] ipv4_sum  // Ones' complement sum of the words of the IPv4 header.
);
  localparam logic [95:0] IPV4_GIDS = {80'd0, 16'hffff};  // ::ffff:a.b.c.d
  localparam int unsigned WIDTH = 640;
  hca_spec_pkg::ethernet_header_t ethernet;
  hca_spec_pkg::virtual_lan_header_t tag;
  hca_spec_pkg::ipv4_header_t ipv4;
  hca_spec_pkg::ipv6_header_t ipv6;
  hca_spec_pkg::udp_header_t udp;
  hca_spec_pkg::local_route_header_t local_route;
  hca_spec_pkg::global_route_header_t global_route;
  hca_spec_pkg::base_transport_header_t transport;

  logic [127:0] gid;
  logic hashed, is_ipv4;
  logic [15:0] given_port, hashed_port, path_identifier, network_type;
  logic unused_bits;
  assign unused_bits = &{1'b0, destination};
  for (genvar each = 0; each < 16; each++) begin : gen_byte
    assign gid[each*8+:8] = destination.destination_gid[(15-each)*8+:8];
  end
  source_port_hash i_hash (
      .done(hashed),
      .port(hashed_port),
      .*
  );

  // Parts that need a clock, and the sum of the IPv4 header, two of its words at a time.
  logic [16:0] sums[4];
  logic [18:0] sum;
  logic [16:0] folded;
  always_ff @(posedge clock) begin
    done <= !reset && hashed;
    is_ipv4 <= source_gid[127:32] == IPV4_GIDS && gid[127:32] == IPV4_GIDS;
    given_port <= udp_source_port != '0 ? udp_source_port : destination.udp_source_port;
    path_identifier <= source_local_identifier + 16'(destination.source_path_bits);
    is_tagged <= !is_infiniband && destination.vlan != '0;
    if (is_infiniband) framing <= {1'b1, destination.is_global};
    else framing <= is_ipv4 ? packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV4 : packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV6;
    sums[0] <= 17'(ipv4[159:144]) + 17'(ipv4[111:96]);
    sums[1] <= 17'(ipv4[95:80]);
    sums[2] <= 17'(ipv4[63:48]) + 17'(ipv4[47:32]);
    sums[3] <= 17'(ipv4[31:16]) + 17'(ipv4[15:0]);
    sum <= 19'(sums[0]) + 19'(sums[1]) + 19'(sums[2]) + 19'(sums[3]);
    folded <= 17'(sum[15:0]) + 17'(sum[18:16]);
    ipv4_sum <= folded[15:0] + 16'(folded[16]);
  end

  always_comb begin
    transport = '0;
    transport.migration_request = 1'b1;
    transport.partition_key = partition_key;
    transport.destination_queue_pair = destination_queue_pair;
    udp = '0;
    udp.source_port = given_port != '0 ? given_port : hashed_port;
    udp.destination_port = 16'(hca_spec_pkg::ROCEV2_UDP_PORT);
    ipv4 = '0;
    ipv4.version = 4'd4;
    ipv4.header_length = 4'(hca_spec_pkg::IPV4_HEADER_BYTES / 4);
    {ipv4.differentiated_services, ipv4.congestion_notification} = destination.traffic_class;
    ipv4.do_not_fragment = 1'b1;  // So that the identification may be 0 (RFC 6864).
    ipv4.time_to_live = destination.hop_limit;
    ipv4.protocol = hca_spec_pkg::IP_PROTOCOL_UDP;
    ipv4.source_address = source_gid[31:0];
    ipv4.destination_address = gid[31:0];
    ipv6 = '0;
    ipv6.version = 4'd6;
    ipv6.traffic_class = destination.traffic_class;
    ipv6.flow_label = destination.flow_label;
    ipv6.next_header = hca_spec_pkg::IP_PROTOCOL_UDP;
    ipv6.hop_limit = destination.hop_limit;
    ipv6.source_address = source_gid;
    ipv6.destination_address = gid;
    network_type = is_ipv4 ? hca_spec_pkg::ETHER_TYPE_IPV4 : hca_spec_pkg::ETHER_TYPE_IPV6;
    tag.tag_control = destination.vlan;
    tag.ether_type = network_type;
    ethernet = '0;
    // In the address vector the first byte is the lowest.
    ethernet.destination = {
      destination.destination_mac_low[7:0],
      destination.destination_mac_low[15:8],
      destination.destination_mac_low[23:16],
      destination.destination_mac_low[31:24],
      destination.destination_mac_high[7:0],
      destination.destination_mac_high[15:8]
    };
    ethernet.source = source_mac;
    ethernet.ether_type = is_tagged ? hca_spec_pkg::ETHER_TYPE_VIRTUAL_LAN : network_type;
    global_route = '0;
    global_route.ip_version = 4'd6;
    global_route.traffic_class = destination.traffic_class;
    global_route.flow_label = destination.flow_label;
    global_route.next_header = hca_spec_pkg::IP_PROTOCOL_INFINIBAND_TRANSPORT;
    global_route.hop_limit = destination.hop_limit;
    global_route.source_gid = source_gid;
    global_route.destination_gid = gid;
    local_route = '0;
    local_route.service_level = destination.service_level;
    local_route.link_next_header = destination.is_global ? hca_spec_pkg::LINK_NEXT_HEADER_GLOBAL : hca_spec_pkg::LINK_NEXT_HEADER_LOCAL;
    local_route.destination_local_identifier = destination.destination_local_identifier;
    local_route.source_local_identifier = path_identifier;
  end
  always_ff @(posedge clock) begin
    case (framing)
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV4:
      headers <= is_tagged ? WIDTH'({ethernet, tag, ipv4, udp, transport}) : WIDTH'({ethernet, ipv4, udp, transport});
      packet_framing_pkg::PACKET_FRAMING_ETHERNET_IPV6:
      headers <= is_tagged ? {ethernet, tag, ipv6, udp, transport} : WIDTH'({ethernet, ipv6, udp, transport});
      packet_framing_pkg::PACKET_FRAMING_INFINIBAND_LOCAL: headers <= WIDTH'({local_route, transport});
      default: headers <= WIDTH'({local_route, global_route, transport});
    endcase
  end
endmodule
