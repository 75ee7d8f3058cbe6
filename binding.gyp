{
  "variables": {
    "library_sources": [
      "native/hca/check_parameters.cpp",
      "native/hca/collect_buffer.cpp",
      "native/hca/collect_buffer_dedicated.cpp",
      "native/hca/collect_buffer_states.cpp",
      "native/hca/collect_group_table.cpp",
      "native/hca/context_memory.cpp",
      "native/hca/control_registers.cpp",
      "native/hca/data_list.cpp",
      "native/hca/event_queue.cpp",
      "native/hca/hca.cpp",
      "native/hca/hca_blocks.cpp",
      "native/hca/identity_registers.cpp",
      "native/hca/kick_records.cpp",
      "native/hca/list_identifier_memory.cpp",
      "native/hca/mailbox.cpp",
      "native/hca/management_queue.cpp",
      "native/hca/memory_translation.cpp",
      "native/hca/pipeline_sink.cpp",
      "native/hca/protection_domains.cpp",
      "native/hca/queue_pair_attributes.cpp",
      "native/hca/queue_pair_fetch.cpp",
      "native/hca/queue_pair_state_cache.cpp",
      "native/hca/queue_pair_transitions.cpp",
      "native/hca/queuing_structures.cpp",
      "native/hca/register_page.cpp",
      "native/hca/resource_manager.cpp",
      "native/hca/resource_manager_objects.cpp",
      "native/hca/resource_manager_queue_pairs.cpp",
      "native/hca/run_allocator.cpp",
      "native/hca/secded.cpp",
      "native/hca/send_queue_scheduler.cpp",
      "native/hca/underlying_function_registers.cpp",
      "native/hca/underlying_function_table.cpp",
      "native/hca/virtual_kick.cpp",
      "native/board/bar_map.cpp",
      "native/board/board_clock.cpp",
      "native/board/board_host.cpp",
      "native/board/cache_line_round_trip.cpp",
      "native/board/device_side.cpp",
      "native/board/device_thread.cpp",
      "native/board/dma_memory.cpp",
      "native/board/doorbell_probe.cpp",
      "native/board/emulated_board.cpp",
      "native/board/emulated_function.cpp",
      "native/board/fault_rules.cpp",
      "native/board/hca_board.cpp",
      "native/board/held_writes.cpp",
      "native/board/interrupts.cpp",
      "native/board/iommu.cpp",
      "native/board/own_progress.cpp",
      "native/board/progress.cpp",
      "native/board/shared_progress.cpp",
      "native/board/sleeper.cpp",
      "native/board/write_combining.cpp"
    ],
    "addon_sources": [
      "native/addon/addon_data.cpp",
      "native/addon/arguments.cpp",
      "native/addon/board_function.cpp",
      "native/addon/board_options.cpp",
      "native/addon/board_values.cpp",
      "native/addon/command_writer.cpp",
      "native/addon/dma_memory.cpp",
      "native/addon/doorbell_probe.cpp",
      "native/addon/emulated_board.cpp",
      "native/addon/foreign_memory.cpp",
      "native/addon/interrupt.cpp",
      "native/addon/module.cpp",
      "native/addon/open_function.cpp"
    ],
    "test_sources": [
      "native/test/bit_mask_port.cpp",
      "native/test/collect_buffer_port.cpp",
      "native/test/event_queue_port.cpp",
      "native/test/hca_port.cpp",
      "native/test/linked_list_queue_port.cpp",
      "native/test/module.cpp",
      "native/test/order_port.cpp",
      "native/test/register_file_board.cpp",
      "native/test/register_file_device.cpp",
      "native/test/resource_manager_port.cpp",
      "native/test/secded_port.cpp",
      "native/test/spec_golden.cpp",
      "native/test/spec_golden_port.cpp",
      "native/test/test_host.cpp",
      "native/test/transaction_ring_port.cpp"
    ]
  },
  "target_defaults": {
    "include_dirs": [
      "native",
      "<!(node -p \"require('node-addon-api').include_dir\")"
    ],
    "defines": [
      "NAPI_VERSION=9",
      "NODE_ADDON_API_CPP_EXCEPTIONS",
      "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
      "FPGA_VERBS_VERSION=\"0.1.0\""
    ],
    "cflags_cc!": [
      "-fno-exceptions",
      "-std=gnu++17",
      "-fno-rtti"
    ],
    "cflags_cc": [
      "-std=c++20",
      "-O3"
    ]
  },
  "targets": [
    {
      "target_name": "fpga_verbs",
      "sources": [
        "<@(library_sources)",
        "<@(addon_sources)"
      ]
    }
  ]
}
