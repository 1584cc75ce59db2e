//! The part of `core` that the libraries need.
//!
//! The crate `core` for nvptx64 is not part of a plain installation of Rust. With it (`rustup target add
//! nvptx64-nvidia-cuda`), a library is an ordinary crate with `#![no_std]`, and this file is not needed.

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "legacy_receiver"]
pub trait LegacyReceiver {}
impl<T: PointeeSized> LegacyReceiver for &T {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for bool {}
impl<T> Copy for *mut T {}
impl<T> Copy for *const T {}

#[lang = "not"]
pub trait Not {
    type Output;
    fn not(self) -> Self::Output;
}
#[lang = "eq"]
pub trait PartialEq<Right = Self> {
    fn eq(&self, right: &Right) -> bool;
    fn ne(&self, right: &Right) -> bool;
}
#[lang = "partial_ord"]
pub trait PartialOrd<Right = Self>: PartialEq<Right> {
    fn lt(&self, right: &Right) -> bool;
    fn le(&self, right: &Right) -> bool;
    fn gt(&self, right: &Right) -> bool;
    fn ge(&self, right: &Right) -> bool;
}

macro_rules! binary {
    ($($name:literal $operator:ident $function:ident $symbol:tt,)*) => {$(
        #[lang = $name]
        pub trait $operator<Right = Self> {
            type Output;
            fn $function(self, right: Right) -> Self::Output;
        }
    )*};
}

binary! {
    "add" Add add +,
    "sub" Sub sub -,
    "mul" Mul mul *,
    "bitand" BitAnd bitand &,
    "bitxor" BitXor bitxor ^,
    "shl" Shl shl <<,
    "shr" Shr shr >>,
}

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Copy for $number {}
        numbers!($number: Add add +, Sub sub -, Mul mul *, BitAnd bitand &, BitXor bitxor ^, Shl shl <<, Shr shr >>);
        impl PartialEq for $number {
            fn eq(&self, right: &$number) -> bool { *self == *right }
            fn ne(&self, right: &$number) -> bool { *self != *right }
        }
        impl PartialOrd for $number {
            fn lt(&self, right: &$number) -> bool { *self < *right }
            fn le(&self, right: &$number) -> bool { *self <= *right }
            fn gt(&self, right: &$number) -> bool { *self > *right }
            fn ge(&self, right: &$number) -> bool { *self >= *right }
        }
    )*};
    ($number:ident: $($operator:ident $function:ident $symbol:tt),*) => {$(
        impl $operator for $number {
            type Output = $number;
            fn $function(self, right: $number) -> $number { self $symbol right }
        }
    )*};
}

numbers! { i32 u32 u64 isize }

impl Not for bool {
    type Output = bool;
    fn not(self) -> bool {
        !self
    }
}
impl PartialEq for bool {
    fn eq(&self, right: &bool) -> bool {
        *self == *right
    }
    fn ne(&self, right: &bool) -> bool {
        *self != *right
    }
}

/// The address of an element of an array.
#[rustc_intrinsic]
pub unsafe fn arith_offset<T>(array: *const T, index: isize) -> *const T;
