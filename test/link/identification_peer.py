# Peers that send RoCEv2 datagrams to a queue pair with IPv4 headers of their own making, on the loopback interface of a network
# namespace: a phase for each line of the input, and at its end a datagram with immediate data from an address of its own.
# The ICRC is zlib's CRC-32 over what annex A17.3.3 says.
import socket, struct, sys, zlib

destination, queue_pair = sys.argv[1], int(sys.argv[2])
wire = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
port = 4791
do_not_fragment = 0x4000
state = 7


def noise():
    global state
    state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return state >> 8 & 0xFFFF


def datagram(source, identification, flags=do_not_fragment, immediate=None, payload=b"payload!"):
    opcode = 0x64 if immediate is None else 0x65
    transport = struct.pack(">BBHII", opcode, 0x40, 0xFFFF, queue_pair, 5) + struct.pack(">II", 0x11111111, 77)
    transport += (b"" if immediate is None else struct.pack(">I", immediate)) + payload
    udp = struct.pack(">HHHH", 0xC001, port, 8 + len(transport) + 4, 0)
    addresses = socket.inet_aton(source) + socket.inet_aton(destination)
    length = 20 + len(udp) + len(transport) + 4
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length, identification, flags, 64, 17, 0) + addresses
    masked_ip = struct.pack(">BBHHHBBH", 0x45, 0xFF, length, identification, flags, 0xFF, 17, 0xFFFF) + addresses
    masked = b"\xff" * 8 + masked_ip + udp[:6] + b"\xff\xff" + transport[:4] + b"\xff" + transport[5:]
    return ip + udp + transport + struct.pack("<I", zlib.crc32(masked))


def send(packet, source):
    # The kernel puts an identification of its own where there is 0, unless the packet is not to be fragmented.
    wire.sendto(packet, (destination, 0))


def flipped(packet, bit):
    bits = bytearray(packet)
    bits[bit // 8] ^= 0x80 >> bit % 8
    return bytes(bits)


def zeros(source, count):
    for _ in range(count):
        send(datagram(source, 0), source)


def counted(source, count, flags=do_not_fragment):
    for _ in range(count):
        send(datagram(source, noise() or 1, flags), source)


def damaged(source, identification=0x1234):
    # Every bit behind the UDP header but of the reserved byte of the BTH, which the ICRC leaves out.
    transport = 28 * 8
    whole = datagram(source, identification)
    for bit in range(transport, len(whole) * 8):
        if not transport + 32 <= bit < transport + 40:
            send(flipped(whole, bit), source)


phases = [
    lambda: zeros("127.0.0.2", 100),
    lambda: counted("127.0.0.3", 100),
    lambda: damaged("127.0.0.3"),
    lambda: counted("127.0.0.3", 100),
    lambda: counted("127.0.0.2", 100),
    lambda: zeros("127.0.0.2", 100),
    lambda: counted("127.0.0.4", 100, 0),
    lambda: damaged("127.0.0.4"),
    lambda: zeros("127.0.0.5", 100),
    lambda: damaged("127.0.0.5", 0),
    lambda: counted("127.0.0.5", 100),
]
for phase, _ in zip(phases, sys.stdin):
    phase()
    send(datagram("127.0.0.9", 0, immediate=1), "127.0.0.9")
