# Connects to a port of a host fabric as an untrusted process: host_intruder.py WAY NAME SEED.
import array, fcntl, mmap, os, random, socket, struct, sys

way, name, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(seed)
magic = 0x3174736F682D7666
ring_bytes, lanes = 128 + 64 * (4 + 4352), 2
peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
peer.connect("\0fpga-verbs/%d/host/%s/eth/0" % (os.getuid(), name))


def say(text):
    print(text, flush=True)


def bring(memory, size):
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory]))
    peer.sendmsg([struct.pack("=QQ", magic, size)], [rights])


size = ring_bytes * lanes
memory = os.memfd_create("intruder", os.MFD_ALLOW_SEALING)
os.truncate(memory, size)
if way == "a wrong message":
    peer.send(random.randbytes(16))
elif way == "unsealed":
    bring(memory, size)
elif way == "small":
    os.truncate(memory, 4096)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    bring(memory, size)
elif way in ("tail", "length"):  # one thing wrong: the other end closes the way
    rings = mmap.mmap(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    bring(memory, size)
    rings[128:132] = struct.pack("=I", 4353 if way == "length" else 64)
    rings[0:8] = struct.pack("=Q", 65 if way == "tail" else 1)
    peer.settimeout(20)
    try:
        peer.send(b"\0")
        say("closed" if peer.recv(1) == b"" else "believed")
    except (BrokenPipeError, ConnectionResetError):  # closed before it was told
        say("closed")
    except socket.timeout:
        say("believed")
elif way == "rings":  # of the right size, with all in them wrong
    rings = mmap.mmap(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    bring(memory, size)
    for _ in range(2000):
        at = random.choice([0, 8, 64, 72, 128, 132, 4484]) + random.choice([0, ring_bytes])
        rings[at : at + 4] = struct.pack("=I", random.choice([0, 1, 64, 65, 4352, 0xFFFFFFFF, random.getrandbits(32)]))
        peer.setblocking(False)
        try:
            peer.send(b"\0")
        except OSError:
            break  # it is left alone
if way not in ("tail", "length"):
    say("done")
sys.stdin.read()
