# Pins of the VCU118 that the design uses. Where they are is taken from the constraints that the open project corundum has for this card
# (github.com/corundum/corundum, fpga/mqnic/VCU118/fpga_100g/fpga.xdc); the card's user guide is UG1224.

set_property CFGBVS GND [current_design]
set_property CONFIG_VOLTAGE 1.8 [current_design]
set_property BITSTREAM.GENERAL.COMPRESS true [current_design]
# From the flash, eight bits at a time, with the clock of the card.
set_property BITSTREAM.CONFIG.EXTMASTERCCLK_EN {DIV-1} [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 8 [current_design]
set_property BITSTREAM.CONFIG.SPI_FALL_EDGE YES [current_design]
set_property BITSTREAM.CONFIG.SPI_32BIT_ADDR YES [current_design]

# PCIe: lanes 0 to 3 in quad 227, 4 to 7 in quad 226; the other half of each pair follows.
set_property PACKAGE_PIN AC9 [get_ports pcie_refclk_p]
create_clock -name pcie_refclk -period 10.000 [get_ports pcie_refclk_p]
set_property -dict {PACKAGE_PIN AM17 IOSTANDARD LVCMOS18 PULLUP true} [get_ports pcie_reset_n]
set_false_path -from [get_ports pcie_reset_n]
set_property PACKAGE_PIN AA4 [get_ports {pcie_rx_p[0]}]
set_property PACKAGE_PIN Y7 [get_ports {pcie_tx_p[0]}]
set_property PACKAGE_PIN AB2 [get_ports {pcie_rx_p[1]}]
set_property PACKAGE_PIN AB7 [get_ports {pcie_tx_p[1]}]
set_property PACKAGE_PIN AC4 [get_ports {pcie_rx_p[2]}]
set_property PACKAGE_PIN AD7 [get_ports {pcie_tx_p[2]}]
set_property PACKAGE_PIN AD2 [get_ports {pcie_rx_p[3]}]
set_property PACKAGE_PIN AF7 [get_ports {pcie_tx_p[3]}]
set_property PACKAGE_PIN AE4 [get_ports {pcie_rx_p[4]}]
set_property PACKAGE_PIN AH7 [get_ports {pcie_tx_p[4]}]
set_property PACKAGE_PIN AF2 [get_ports {pcie_rx_p[5]}]
set_property PACKAGE_PIN AK7 [get_ports {pcie_tx_p[5]}]
set_property PACKAGE_PIN AG4 [get_ports {pcie_rx_p[6]}]
set_property PACKAGE_PIN AM7 [get_ports {pcie_tx_p[6]}]
set_property PACKAGE_PIN AH2 [get_ports {pcie_rx_p[7]}]
set_property PACKAGE_PIN AN5 [get_ports {pcie_tx_p[7]}]

# The low-speed pins of both QSFP cages. Their lanes are in ethernet.xdc.
set_property -dict {PACKAGE_PIN AM21 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports {qsfp_modsell[0]}]
set_property -dict {PACKAGE_PIN AN23 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports {qsfp_modsell[1]}]
set_property -dict {PACKAGE_PIN BA22 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports {qsfp_resetl[0]}]
set_property -dict {PACKAGE_PIN AY22 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports {qsfp_resetl[1]}]
set_property -dict {PACKAGE_PIN AN21 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports {qsfp_lpmode[0]}]
set_property -dict {PACKAGE_PIN AT24 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports {qsfp_lpmode[1]}]
set_false_path -to [get_ports {qsfp_modsell[*] qsfp_resetl[*] qsfp_lpmode[*]}]

set_property -dict {PACKAGE_PIN AT32 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led[0]}]
set_property -dict {PACKAGE_PIN AV34 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led[1]}]
set_property -dict {PACKAGE_PIN AY30 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led[2]}]
set_property -dict {PACKAGE_PIN BB32 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led[3]}]
set_false_path -to [get_ports {led[*]}]
