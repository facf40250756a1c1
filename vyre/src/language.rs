#![doc = include_str!("../../docs/LANGUAGE.md")]
