// Headers before the BTH of a packet, numbered as wire::PacketFraming of the device model.
package packet_framing_pkg;
  typedef enum logic [1:0] {
    PACKET_FRAMING_ETHERNET_IPV4 = 2'd0,  // Ethernet, IPv4 and UDP (RoCEv2).
    PACKET_FRAMING_ETHERNET_IPV6 = 2'd1,  // Ethernet, IPv6 and UDP (RoCEv2).
    PACKET_FRAMING_INFINIBAND_LOCAL = 2'd2,  // LRH.
    PACKET_FRAMING_INFINIBAND_GLOBAL = 2'd3  // LRH and GRH.
  } packet_framing_t;
endpackage
