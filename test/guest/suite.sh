# Runs in the guest: the bundled tests on PCI functions, through vfio: by an ordinary user: sh suite.sh BACKEND LINE BOARD..., each
# board the slots of its functions with + between them.
backend=$1
line=$2
shift 2
stty -F "$line" raw -echo
devices=
for board in "$@"; do
  devices=$devices${devices:+,}$backend:$(echo "$board" | sed "s/+/+$backend:/g")
done
export FPGA_VERBS_ADDON=/repo/build/Release/fpga_verbs.node FPGA_VERBS_TEST_ADDON=/repo/build/Release/fpga_verbs_test.node
export FPGA_VERBS_TEST_DEVICE=$devices FPGA_VERBS_TEST_LINE=$line HOME=/tmp
as=
if [ "$backend" = vfio ]; then
  modprobe -a vfio-pci vfio_iommu_type1
  for slot in $(echo "$@" | tr + ' '); do
    echo vfio-pci > "/sys/bus/pci/devices/$slot/driver_override"
    echo "$slot" > /sys/bus/pci/drivers_probe
    chown 1000 "/dev/vfio/$(basename "$(readlink "/sys/bus/pci/devices/$slot/iommu_group")")"
  done
  chown 1000 "$line"
  ulimit -l 262144
  as='/usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups'
fi
$as node node_modules/vitest/vitest.mjs run --config test/guest/suite.config.mjs --configLoader native
