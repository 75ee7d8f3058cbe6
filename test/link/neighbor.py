# A neighbor on an Ethernet cable of Unix datagram sockets: sends the frames of its arguments, in hexadecimal digits, and prints
# the frames that it receives, one per line.
import os, socket, sys

own, peer, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
wire.bind(own)
wire.settimeout(60)
print("ready", flush=True)
for line in sys.stdin:
    wire.sendto(bytes.fromhex(line), peer)
for _ in range(count):
    print(wire.recv(9000).hex(), flush=True)
os.unlink(own)
