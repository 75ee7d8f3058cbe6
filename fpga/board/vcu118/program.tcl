# Loads the bitstream by JTAG, until power goes: vivado -mode batch -source fpga/board/vcu118/program.tcl [-tclargs BITSTREAM]

set bitstream [file normalize [file join [file dirname [info script]] .. .. .. build vcu118 vcu118.bit]]
if {[llength $argv] > 0} {
  set bitstream [file normalize [lindex $argv 0]]
}
if {![file exists $bitstream]} {
  error "there is no $bitstream: build.tcl makes it"
}

open_hw_manager
connect_hw_server
open_hw_target
set device [lindex [get_hw_devices xcvu9p_*] 0]
if {$device eq ""} {
  error "no xcvu9p on the JTAG chain: is the card on, and its USB cable in?"
}
current_hw_device $device
set_property PROGRAM.FILE $bitstream $device
program_hw_devices $device
close_hw_manager
