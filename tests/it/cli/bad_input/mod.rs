//! Input that is wrong, hostile or damaged.
