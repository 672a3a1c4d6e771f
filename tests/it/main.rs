//! Tests of the whole, one folder for each subject.

mod archive;
