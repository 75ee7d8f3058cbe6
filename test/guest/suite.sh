# Runs in the guest: the bundled tests on PCI functions, through vfio: by an ordinary user: sh suite.sh SLOT...
modprobe -a vfio-pci vfio_iommu_type1
devices=
for slot in "$@"; do
  devices=$devices${devices:+,}vfio:$slot
  echo vfio-pci > "/sys/bus/pci/devices/$slot/driver_override"
  echo "$slot" > /sys/bus/pci/drivers_probe
  chown 1000 "/dev/vfio/$(basename "$(readlink "/sys/bus/pci/devices/$slot/iommu_group")")"
done
ulimit -l 262144
export FPGA_VERBS_ADDON=/repo/build/Release/fpga_verbs.node FPGA_VERBS_TEST_ADDON=/repo/build/Release/fpga_verbs_test.node
export FPGA_VERBS_TEST_DEVICE=$devices HOME=/tmp
/usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups \
  node node_modules/vitest/vitest.mjs run --config test/guest/suite.config.mjs --configLoader native
