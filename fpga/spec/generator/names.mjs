// Names: one snake_case name in the specification becomes the name in each language.

/** `command_header` → `CommandHeader`. */
export const pascalCase = (name) => name.replace(/(?:^|_)([a-z0-9])/g, (_, letter) => letter.toUpperCase());

/** `command_header` → `commandHeader`. */
export const camelCase = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

/** `command_header` → `COMMAND_HEADER`. */
export const upperCase = (name) => name.toUpperCase();

const words = (text) => new Set(text.trim().split(/\s+/));

const cppWords = words(`
  alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
  compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
  default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
  int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
  register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch
  template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
  wchar_t while xor xor_eq linux unix errno`);

const systemVerilogWords = words(`
  accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin
  bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos
  config const constraint context continue cover covergroup coverpoint cross deassign default defparam design
  disable dist do edge else end endcase endclass endclocking endconfig endfunction endgenerate endgroup
  endinterface endmodule endpackage endprimitive endprogram endproperty endspecify endsequence endtable
  endtask enum event eventually expect export extends extern final first_match for force foreach forever fork
  forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements
  implies import incdir include initial inout input inside instance int integer interconnect interface
  intersect join join_any join_none large let liblist library local localparam logic longint macromodule
  matches medium modport module nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1
  null or output package packed parameter pmos posedge primitive priority program property protected pull0
  pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos
  real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always
  s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled signed small
  soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on
  sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0
  tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
  vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor`);

// Words that Verilator wants for itself.
const verilatorWords = words('queue');

/** The name of a structure's member in SystemVerilog: a word of that language, or of Verilator, gets a "_" at its end. */
export const systemVerilogMember = (name) =>
  systemVerilogWords.has(name) || verilatorWords.has(name) ? `${name}_` : name;

// Names that the generated structures and namespaces themselves declare.
const structureMembers = words('bytes dwords bits value reserved_is_zero');

/**
 * Says why a name cannot be used, or returns undefined when it can.
 * @param {unknown} name
 * @param {'constant' | 'member'} use a member stands beside what the generated structures declare themselves
 */
export function nameFault(name, use) {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) {
    return `name ${JSON.stringify(name)} is not snake_case: lower-case words and digits joined by single "_"`;
  }
  if (cppWords.has(name)) return `name "${name}" is a word of C++: choose a longer one`;
  if (use === 'constant') return undefined;
  if (structureMembers.has(name))
    return `name "${name}" is taken by the generated structures: choose a longer one`;
  if (/^reserved(_|$)/.test(name)) return `name "${name}": write {"reserved": width} for reserved bits`;
  return undefined;
}
