//! The tests are a package of their own, which is not optimised as the emulator is: with all passes that they take in, that took
//! longer than they run.
