#pragma once

// A function that programs call: its version is that of version.map.
#define VERBS_EXPORT extern "C" __attribute__((visibility("default")))
