# The PCIe shell of the card, as a block design: the vendor's bridge from PCIe to AXI4 (DMA/Bridge Subsystem for PCI Express in bridge
# mode, UltraScale+, generation 3, eight lanes), a clock for the HCA, an interconnect that leads BAR 0 to the registers (AXI4-Lite)
# and BAR 2 to the VCB pages (AXI4), and one that leads the HCA to host memory through the bridge's slave side (AXI4). MSI-X vectors lie in the bridge, which has BAR 4 for their table. Product guides PG194 and PG195.

set page 65536
lassign [pci_function xilinx_shell] vendor device
set register_kilobytes [bar_kilobytes [expr {(2 + [parameter underlying_functions]) * $page}]]
set collect_kilobytes [bar_kilobytes [expr {[parameter virtual_collect_buffers] * [parameter virtual_collect_buffer_stride]}]]
set collect_begin [format 0x%08X [expr {$register_kilobytes * 1024}]]
set interrupt_begin [format 0x%08X [expr {($register_kilobytes + $collect_kilobytes) * 1024}]]
set vectors [parameter event_queues_per_function]

create_bd_design pcie_shell

# The bridge. What the HCA addresses is the PCIe address: all of the address space, untranslated.
create_bd_cell -type ip -vlnv xilinx.com:ip:xdma bridge
set_property -dict [list \
  CONFIG.functional_mode {AXI_Bridge} \
  CONFIG.mode_selection {Advanced} \
  CONFIG.device_port_type {PCI_Express_Endpoint_device} \
  CONFIG.pcie_blk_locn {X1Y2} \
  CONFIG.en_gt_selection {true} \
  CONFIG.select_quad {GTY_Quad_227} \
  CONFIG.pl_link_cap_max_link_width {X8} \
  CONFIG.pl_link_cap_max_link_speed {8.0_GT/s} \
  CONFIG.ref_clk_freq {100_MHz} \
  CONFIG.axi_addr_width {64} \
  CONFIG.axi_data_width {256_bit} \
  CONFIG.axisten_freq {250} \
  CONFIG.en_axi_slave_if {true} \
  CONFIG.axibar_num {1} \
  CONFIG.axibar_0 {0x0000000000000000} \
  CONFIG.axibar_highaddr_0 {0xFFFFFFFFFFFFFFFF} \
  CONFIG.axibar2pciebar_0 {0x0000000000000000} \
  CONFIG.vendor_id $vendor \
  CONFIG.pf0_device_id $device \
  CONFIG.pf0_class_code_base {0c} \
  CONFIG.pf0_class_code_sub {06} \
  CONFIG.pf0_class_code_interface {00} \
  CONFIG.pf0_bar0_enabled {true} \
  CONFIG.pf0_bar0_64bit {false} \
  CONFIG.pf0_bar0_prefetchable {false} \
  CONFIG.pf0_bar0_scale {Kilobytes} \
  CONFIG.pf0_bar0_size $register_kilobytes \
  CONFIG.pciebar2axibar_0 {0x00000000} \
  CONFIG.pf0_bar2_enabled {true} \
  CONFIG.pf0_bar2_64bit {true} \
  CONFIG.pf0_bar2_prefetchable {true} \
  CONFIG.pf0_bar2_scale {Kilobytes} \
  CONFIG.pf0_bar2_size $collect_kilobytes \
  CONFIG.pciebar2axibar_2 $collect_begin \
  CONFIG.pf0_bar4_enabled {true} \
  CONFIG.pf0_bar4_64bit {false} \
  CONFIG.pf0_bar4_prefetchable {false} \
  CONFIG.pf0_bar4_scale {Kilobytes} \
  CONFIG.pf0_bar4_size {64} \
  CONFIG.pciebar2axibar_4 $interrupt_begin \
  CONFIG.bar_indicator {BAR_4} \
  CONFIG.pf0_interrupt_pin {NONE} \
  CONFIG.pf0_msi_enabled {false} \
  CONFIG.pf0_msix_enabled {true} \
  CONFIG.pf0_msix_impl_locn {Internal} \
  CONFIG.pf0_msix_cap_table_size [format %03X [expr {$vectors - 1}]] \
  CONFIG.pf0_msix_cap_table_bir {BAR_4} \
  CONFIG.pf0_msix_cap_table_offset {00008000} \
  CONFIG.pf0_msix_cap_pba_bir {BAR_4} \
  CONFIG.pf0_msix_cap_pba_offset {00008FE0} \
  CONFIG.xdma_num_usr_irq $vectors \
] [get_bd_cells bridge]

create_bd_cell -type ip -vlnv xilinx.com:ip:util_ds_buf refclk_buffer
set_property CONFIG.C_BUF_TYPE {IBUFDSGTE} [get_bd_cells refclk_buffer]

# 100 MHz: the longest path of hca_front is too long for the bridge's 250 MHz (fpga/doc/synthesis.md).
create_bd_cell -type ip -vlnv xilinx.com:ip:clk_wiz clocks
set_property -dict [list \
  CONFIG.PRIM_SOURCE {No_buffer} \
  CONFIG.PRIM_IN_FREQ {250.000} \
  CONFIG.CLKOUT1_REQUESTED_OUT_FREQ {100.000} \
  CONFIG.RESET_TYPE {ACTIVE_LOW} \
] [get_bd_cells clocks]

create_bd_cell -type ip -vlnv xilinx.com:ip:proc_sys_reset resets
set_property CONFIG.C_EXT_RESET_HIGH {0} [get_bd_cells resets]

create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect interconnect
set_property -dict [list CONFIG.NUM_SI {1} CONFIG.NUM_MI {2} CONFIG.NUM_CLKS {2}] [get_bd_cells interconnect]

create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect memory_interconnect
set_property -dict [list CONFIG.NUM_SI {1} CONFIG.NUM_MI {1} CONFIG.NUM_CLKS {2}] [get_bd_cells memory_interconnect]

# Ports of the shell: what fpga/board/vcu118/stand_in/pcie_shell_wrapper.sv lists.
create_bd_intf_port -mode Slave -vlnv xilinx.com:interface:diff_clock_rtl:1.0 pcie_refclk
set_property CONFIG.FREQ_HZ {100000000} [get_bd_intf_ports pcie_refclk]
create_bd_intf_port -mode Master -vlnv xilinx.com:interface:pcie_7x_mgt_rtl:1.0 pcie
create_bd_port -dir I -type rst pcie_reset_n
set_property CONFIG.POLARITY {ACTIVE_LOW} [get_bd_ports pcie_reset_n]
create_bd_port -dir O -type clk hca_clock
create_bd_port -dir O -from 0 -to 0 -type rst hca_reset
set_property CONFIG.POLARITY {ACTIVE_HIGH} [get_bd_ports hca_reset]
create_bd_port -dir O link_up
create_bd_port -dir I -from [expr {$vectors - 1}] -to 0 interrupt_request
create_bd_port -dir O -from [expr {$vectors - 1}] -to 0 interrupt_acknowledge

create_bd_intf_port -mode Master -vlnv xilinx.com:interface:aximm_rtl:1.0 registers
set_property -dict [list CONFIG.PROTOCOL {AXI4LITE} CONFIG.ADDR_WIDTH {32} CONFIG.DATA_WIDTH {32} \
  CONFIG.FREQ_HZ {100000000}] [get_bd_intf_ports registers]
create_bd_intf_port -mode Master -vlnv xilinx.com:interface:aximm_rtl:1.0 collect
set_property -dict [list CONFIG.PROTOCOL {AXI4} CONFIG.ADDR_WIDTH {32} CONFIG.DATA_WIDTH {256} CONFIG.HAS_REGION {0} \
  CONFIG.FREQ_HZ {100000000}] [get_bd_intf_ports collect]
create_bd_intf_port -mode Slave -vlnv xilinx.com:interface:aximm_rtl:1.0 memory
set_property -dict [list CONFIG.PROTOCOL {AXI4} CONFIG.ADDR_WIDTH {64} CONFIG.DATA_WIDTH {256} CONFIG.ID_WIDTH {0} \
  CONFIG.HAS_REGION {0} CONFIG.NUM_READ_OUTSTANDING {64} CONFIG.NUM_WRITE_OUTSTANDING {64} \
  CONFIG.FREQ_HZ {100000000}] [get_bd_intf_ports memory]
set_property -dict [list CONFIG.ASSOCIATED_BUSIF {registers:collect:memory} CONFIG.FREQ_HZ {100000000}] [get_bd_ports hca_clock]

connect_bd_intf_net [get_bd_intf_ports pcie_refclk] [get_bd_intf_pins refclk_buffer/CLK_IN_D]
connect_bd_intf_net [get_bd_intf_ports pcie] [get_bd_intf_pins bridge/pcie_mgt]
connect_bd_intf_net [get_bd_intf_pins bridge/M_AXI_B] [get_bd_intf_pins interconnect/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins interconnect/M00_AXI] [get_bd_intf_ports registers]
connect_bd_intf_net [get_bd_intf_pins interconnect/M01_AXI] [get_bd_intf_ports collect]
connect_bd_intf_net [get_bd_intf_ports memory] [get_bd_intf_pins memory_interconnect/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins memory_interconnect/M00_AXI] [get_bd_intf_pins bridge/S_AXI_B]

connect_bd_net [get_bd_pins refclk_buffer/IBUF_OUT] [get_bd_pins bridge/sys_clk_gt]
connect_bd_net [get_bd_pins refclk_buffer/IBUF_DS_ODIV2] [get_bd_pins bridge/sys_clk]
connect_bd_net [get_bd_ports pcie_reset_n] [get_bd_pins bridge/sys_rst_n]
connect_bd_net [get_bd_pins bridge/user_lnk_up] [get_bd_ports link_up]
connect_bd_net [get_bd_ports interrupt_request] [get_bd_pins bridge/usr_irq_req]
connect_bd_net [get_bd_pins bridge/usr_irq_ack] [get_bd_ports interrupt_acknowledge]

connect_bd_net [get_bd_pins bridge/axi_aclk] [get_bd_pins clocks/clk_in1] [get_bd_pins interconnect/aclk] \
  [get_bd_pins memory_interconnect/aclk1]
connect_bd_net [get_bd_pins bridge/axi_aresetn] [get_bd_pins clocks/resetn] [get_bd_pins resets/ext_reset_in]
connect_bd_net [get_bd_pins clocks/clk_out1] [get_bd_pins resets/slowest_sync_clk] [get_bd_pins interconnect/aclk1] \
  [get_bd_pins memory_interconnect/aclk] [get_bd_ports hca_clock]
connect_bd_net [get_bd_pins clocks/locked] [get_bd_pins resets/dcm_locked]
connect_bd_net [get_bd_pins resets/interconnect_aresetn] [get_bd_pins interconnect/aresetn] \
  [get_bd_pins memory_interconnect/aresetn]
connect_bd_net [get_bd_pins resets/peripheral_reset] [get_bd_ports hca_reset]

assign_bd_address -offset 0x00000000 -range ${register_kilobytes}K \
  -target_address_space [get_bd_addr_spaces bridge/M_AXI_B] [get_bd_addr_segs registers/Reg]
assign_bd_address -offset $collect_begin -range ${collect_kilobytes}K \
  -target_address_space [get_bd_addr_spaces bridge/M_AXI_B] [get_bd_addr_segs collect/Reg]
assign_bd_address -offset 0x0000000000000000 -range 16E \
  -target_address_space [get_bd_addr_spaces memory] [get_bd_addr_segs bridge/S_AXI_B/BAR0]

validate_bd_design
save_bd_design
