//! Linear layouts over F2.
