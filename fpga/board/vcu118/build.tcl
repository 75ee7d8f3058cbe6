# Builds the bitstream: vivado -mode batch -source fpga/board/vcu118/build.tcl [-tclargs DIRECTORY]
# The project goes to DIRECTORY, else to build/vcu118; beside it vcu118.bit and the reports of timing and utilization.

set board [file normalize [file dirname [info script]]]
source [file join $board .. sources.tcl]

set directory [file join $repository build vcu118]
if {[llength $argv] > 0} {
  set directory [file normalize [lindex $argv 0]]
}

create_project -force -part xcvu9p-flga2104-2L-e vcu118 $directory
add_files -norecurse [rtl_sources hca_front]
add_files -norecurse [list [file join $board .. hca_board.sv] [file join $board vcu118.sv]]
add_files -fileset constrs_1 -norecurse [list [file join $board vcu118.xdc]]

source [file join $board pcie_shell.tcl]
set design [get_files pcie_shell.bd]
generate_target all $design
add_files -norecurse [make_wrapper -top -files $design]
set_property top vcu118 [current_fileset]

launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
  error "no bitstream: [get_property STATUS [get_runs impl_1]]"
}
open_run impl_1
report_timing_summary -file [file join $directory timing.txt]
report_utilization -hierarchical -file [file join $directory utilization.txt]
file copy -force [file join [get_property DIRECTORY [get_runs impl_1]] vcu118.bit] [file join $directory vcu118.bit]
set slack [get_property STATS.WNS [get_runs impl_1]]
if {$slack < 0} {
  error "timing is not met by [expr {-$slack}] ns: see [file join $directory timing.txt]"
}
puts "built [file join $directory vcu118.bit], slack $slack ns"
