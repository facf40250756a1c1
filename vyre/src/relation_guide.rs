#![doc = include_str!("../../docs/RELATIONS.md")]
