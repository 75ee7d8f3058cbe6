# Lanes and reference clocks of the QSFP cages, for the port that is not in RTL yet. build.tcl does not read this file: pins of a
# transceiver can be placed only when the design has the transceiver. Where they are: as in vcu118.xdc.

# Cage 1, quad 231.
set_property PACKAGE_PIN W9 [get_ports {qsfp_refclk_p[0]}]
create_clock -name qsfp_refclk_0 -period 6.400 [get_ports {qsfp_refclk_p[0]}]
set_property PACKAGE_PIN Y2 [get_ports {qsfp_rx_p[0]}]
set_property PACKAGE_PIN V7 [get_ports {qsfp_tx_p[0]}]
set_property PACKAGE_PIN W4 [get_ports {qsfp_rx_p[1]}]
set_property PACKAGE_PIN T7 [get_ports {qsfp_tx_p[1]}]
set_property PACKAGE_PIN V2 [get_ports {qsfp_rx_p[2]}]
set_property PACKAGE_PIN P7 [get_ports {qsfp_tx_p[2]}]
set_property PACKAGE_PIN U4 [get_ports {qsfp_rx_p[3]}]
set_property PACKAGE_PIN M7 [get_ports {qsfp_tx_p[3]}]
# Cage 2, quad 232.
set_property PACKAGE_PIN R9 [get_ports {qsfp_refclk_p[1]}]
create_clock -name qsfp_refclk_1 -period 6.400 [get_ports {qsfp_refclk_p[1]}]
set_property PACKAGE_PIN T2 [get_ports {qsfp_rx_p[4]}]
set_property PACKAGE_PIN L5 [get_ports {qsfp_tx_p[4]}]
set_property PACKAGE_PIN R4 [get_ports {qsfp_rx_p[5]}]
set_property PACKAGE_PIN K7 [get_ports {qsfp_tx_p[5]}]
set_property PACKAGE_PIN P2 [get_ports {qsfp_rx_p[6]}]
set_property PACKAGE_PIN J5 [get_ports {qsfp_tx_p[6]}]
set_property PACKAGE_PIN M2 [get_ports {qsfp_rx_p[7]}]
set_property PACKAGE_PIN H7 [get_ports {qsfp_tx_p[7]}]
