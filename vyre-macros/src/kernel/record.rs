//! What the items of lists and frontiers, and the elements of buffers, consist of.

use super::types::scalar_type;
use proc_macro2::TokenStream;
use quote::ToTokens;
use vyre_core::vir0::scalar::Scalar;

/// A scalar of a struct or tuple.
pub(crate) struct Part {
    /// The way to it.
    pub(crate) path: Vec<syn::Member>,
    pub(crate) scalar: Scalar,
}

/// What the items of a list or frontier, or the elements of a buffer, consist of.
pub(crate) struct Record {
    /// Its scalars, in order.
    pub(crate) fields: Vec<Part>,
    /// The structs in it, innermost first.
    pub(crate) structs: Vec<RecordStruct>,
}

/// A struct of items or elements: its name, and its fields with the scalars that they consist of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordStruct {
    pub(crate) name: String,
    pub(crate) fields: Vec<(String, Shape)>,
}

/// A scalar, or what a struct or tuple consists of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Scalar(Scalar),
    Tuple(Vec<Shape>),
}

impl ToTokens for Shape {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Shape::Scalar(scalar) => scalar_type(*scalar),
            Shape::Tuple(parts) => quote::quote! { (#(#parts,)*) },
        });
    }
}

impl RecordStruct {
    /// The call that makes it a record where it is declared.
    pub(crate) fn implementation(&self, private: &TokenStream) -> TokenStream {
        let name = quote::format_ident!("{}", self.name);
        let names = self.fields.iter().map(|(n, _)| quote::format_ident!("{n}"));
        let shapes = self.fields.iter().map(|(_, shape)| shape);
        quote::quote! { #private::record!(#name { #(#names: #shapes),* }); }
    }
}

/// Whether a struct derives a trait.
pub(crate) fn derives(item: &syn::ItemStruct, what: &str) -> bool {
    item.attrs
        .iter()
        .any(|a| a.path().is_ident("derive") && a.to_token_stream().to_string().contains(what))
}
