//! What is refused by name, and what to write instead.
