//! The law: the CRD of the generated types is the CRD that they were generated from. And its consequences: API servers judge
//! objects alike by both, and objects pass through the types unchanged.

mod files;
mod import;
mod objects;
mod package;
mod random;
mod served;
