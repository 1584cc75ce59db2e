// The writer reports errors at the operation that causes them.
//
// RUN: tileiras-translate --mlir-to-tileirbc --bytecode-version=13.1 -no-implicit-module -allow-unregistered-dialect \
// RUN:   -split-input-file -verify-diagnostics %s

// expected-error @below {{only ops from the 'cuda_tile' dialect are allowed}}
cuda_tile.module @m {
  entry @k() {
    // expected-remark @below {{invalid op}}
    "test.foreign"() : () -> ()
    return
  }
}

// -----

// expected-error @below {{only function and global ops are allowed in the body}}
cuda_tile.module @m {
  // expected-remark @below {{invalid op}}
  constant <f32: 5.0> : tile<f32>
  entry @k() {
    return
  }
  // expected-remark @below {{invalid op}}
  constant <f32: 6.0> : tile<f32>
}

// -----

cuda_tile.module @m {
  // expected-error @below {{unsupported type in bytecode writer}}
  entry @k(%x: tensor<2xi16>) {
    return
  }
}

// -----

cuda_tile.module @m {
  entry @k() {
    // expected-error @unknown {{unsupported location, got NameLoc, expected DILocAttr or CallSiteLoc}}
    %t = make_token : token loc("name")
    return
  }
}

// -----

// expected-error @below {{attribute 'overflow' requires bytecode version 13.2+, but targeting 13.1}}
cuda_tile.module @m {
  entry @k(%x: tile<i32>) {
    %y = negi %x overflow<no_signed_wrap> : tile<i32>
    return
  }
}

// -----

// expected-error @below {{expected exactly one cuda_tile.module, found 2}}
module {
  cuda_tile.module @a {
  }
  cuda_tile.module @b {
  }
}

// -----

// expected-error @below {{type 'Float8E8M0FNU' requires bytecode version 13.2+, targeting 13.1}}
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f8E8M0FNU>>) {
    return
  }
}
