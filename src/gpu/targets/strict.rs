//! The types of the public language that NVIDIA's compiler rejects for a target. This compiler supports all of them,
//! with integer instructions if the target lacks native ones. Callers that rely on the rejection can request it.

use crate::Target;
use std::ops::RangeInclusive;

/// Element types that NVIDIA's `tileiras` accepts only for some targets, given by their numbers. Version 13.4.92 was
/// tested with each type and target; version 13.5.37 gave the same answer for the last type.
pub const STRICT_TYPES: &[(&str, RangeInclusive<u32>)] = &[
    ("f8E4M3FN", 90..=u32::MAX),
    ("f8E5M2", 90..=u32::MAX),
    ("f8E8M0FNU", 100..=u32::MAX),
    ("f4E2M1FN", 100..=u32::MAX),
    ("fnv8E5M3FNU", 107..=107),
];

impl Target {
    /// Returns the first element type in the text of a type that is rejected for this target.
    pub fn refused_type(&self, text: &str) -> Option<&'static str> {
        let refused =
            |(name, targets): &&(&str, RangeInclusive<u32>)| !targets.contains(&self.sm) && text.contains(name);
        STRICT_TYPES.iter().find(refused).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Target, strict::STRICT_TYPES};

    #[test]
    fn what_is_refused_where() {
        let refused = |target: &str| {
            let target = Target::by_name(target).unwrap();
            let types = STRICT_TYPES.iter().filter(|(t, _)| target.refused_type(&format!("!x.tile<4x{t}>")).is_some());
            types.map(|(t, _)| *t).collect::<Vec<_>>()
        };
        let all = ["f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "fnv8E5M3FNU"];
        for target in ["sm_80", "sm_86", "sm_87", "sm_88", "sm_89"] {
            assert_eq!(refused(target), all, "{target}");
        }
        assert_eq!(refused("sm_90"), all[2..]);
        for target in ["sm_100", "sm_103", "sm_110", "sm_120", "sm_121"] {
            assert_eq!(refused(target), all[4..], "{target}");
        }
        assert!(refused("sm_107").is_empty());
        assert_eq!(Target::by_name("sm_80").unwrap().refused_type("!cuda_tile.tile<4xtf32>"), None);
    }
}
