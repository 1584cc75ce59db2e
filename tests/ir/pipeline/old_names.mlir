// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-take-turns{compute-capability=sm_90 turns=never}, tileaa-slice-products)' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s
// RUN: tileiras-opt %s --tileas-skip-scaling -o %t 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=2 compute-capability=sm_90 disable-pass=tileas-rotate-products})' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=DISABLE
// RUN: not tileiras-opt %s --pass-pipeline='builtin.module(tileas-take-turns{no-such-option=1})' -o %t 2>&1 | FileCheck %s --check-prefix=WRONG
// Old names of passes are accepted, with a note.
// CHECK: note: pass 'tileas-take-turns' has been renamed to 'tileas-ping-pong'; the old name will be removed
// CHECK: note: pass 'tileaa-slice-products' has been renamed to 'tileaa-slice-dots'
// CHECK: tileas-ping-pong{compute-capability=sm_90 when=never}
// CHECK: tileaa-slice-dots
// FLAG: note: pass 'tileas-skip-scaling' has been renamed to 'tileas-skip-rescale'
// DISABLE: note: pass 'tileas-rotate-products' has been renamed to 'tileas-pipeline-dots'
// DISABLE-NOT: tileas-pipeline-dots
// WRONG: no such option no-such-option
module {}
