#![doc = include_str!("../../docs/SESSIONS.md")]
