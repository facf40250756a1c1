//! Values of the one JSON object that an example prints. Reading JSON is for tests.
//!
//! ```
//! use vyre_examples::json::Value;
//! assert_eq!(Value::from("a \"b\"\n").to_string(), r#""a \"b\"\u000a""#);
//! assert_eq!(Value::from(0.5).to_string() + &Value::from(f64::NAN).to_string(), "0.5null");
//! ```

use std::fmt::{self, Write};

/// A JSON number, boolean or string, as it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(String);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! printed_as_in_rust {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Value {
            fn from(value: $ty) -> Value {
                Value(value.to_string())
            }
        }
    )*};
}

printed_as_in_rust!(bool, i32, u32, u64, usize);

/// JSON has no number that is not finite: `null`.
impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value(match value.is_finite() {
            true => format!("{value:?}"),
            false => "null".to_owned(),
        })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        let mut quoted = String::from('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                c if c < ' ' => {
                    let _infallible = write!(quoted, "\\u{:04x}", u32::from(c));
                }
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        Value(quoted)
    }
}

/// What is not known is `null`.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or_else(|| Value("null".to_owned()), T::into)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::from(text.as_str())
    }
}
