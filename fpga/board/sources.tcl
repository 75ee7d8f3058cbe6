# What the scripts of a board take from the rest of the repository: sources of RTL blocks, numbers of the specification.

set repository [file normalize [file join [file dirname [info script]] .. ..]]

proc text_of {file} {
  set channel [open [file join $::repository $file]]
  set text [read $channel]
  close $channel
  return $text
}

# The first match of a pattern, in which NAME stands for the name, in a file: what its groups caught.
proc caught {file pattern name} {
  set groups [regexp -inline [string map [list NAME $name] $pattern] [text_of $file]]
  if {$groups eq {}} {
    error "$file has no $name"
  }
  return [lrange $groups 1 end]
}

# The SystemVerilog sources of a block, in the order of fpga/rtl/blocks.json: packages first, the block last.
proc rtl_sources {block} {
  set names [lindex [caught fpga/rtl/blocks.json {"NAME": \{\s*"rtl": \[([^\]]*)\]} $block] 0]
  set sources {}
  foreach {quoted name} [regexp -all -inline {"([\w/]+)"} $names] {
    lappend sources [file join $::repository fpga rtl $name.sv]
  }
  return $sources
}

# A number of fpga/spec/parameters.json.
proc parameter {name} {
  return [lindex [caught fpga/spec/parameters.json {"name": "NAME", "value": (\d+)} $name] 0]
}

# Vendor and device number of a PCI function of fpga/spec/pci_functions.json: hexadecimal digits.
proc pci_function {name} {
  set pattern {"name": "NAME", "vendor": "0x([[:xdigit:]]+)", "device": "0x([[:xdigit:]]+)"}
  return [caught fpga/spec/pci_functions.json $pattern $name]
}

# The smallest power of two that is a multiple of 64 KiB and holds this many bytes, in KiB: the size of a BAR.
proc bar_kilobytes {bytes} {
  set kilobytes 64
  while {$kilobytes * 1024 < $bytes} {
    set kilobytes [expr {$kilobytes * 2}]
  }
  return $kilobytes
}
