//! The answer of `ckpt schema`.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::cli::answer::Report;
use crate::cli::error::{ErrorCode, Failure};
use ckpt_model::schema::{ALL, Schema};

#[derive(Debug, Serialize)]
pub(crate) struct SchemaReport {
    name: Option<&'static str>,
    schema: Option<Box<RawValue>>,
    schemas: Vec<&'static str>,
    warnings: Vec<String>,
    #[serde(skip)]
    text: &'static str,
}

impl SchemaReport {
    pub(crate) fn names() -> Self {
        let schemas = ALL.iter().map(|schema| schema.name).collect();
        Self { name: None, schema: None, schemas, warnings: Vec::new(), text: "" }
    }

    pub(crate) fn one(schema: Schema) -> Result<Self, Failure> {
        // Compacted, because the answer is one line.
        let value: serde_json::Value = serde_json::from_str(schema.text)
            .map_err(|error| Failure::new(ErrorCode::Output, format!("the schema cannot be read: {error}")))?;
        let compact = serde_json::value::to_raw_value(&value).ok();
        Ok(Self { name: Some(schema.name), schema: compact, text: schema.text, ..Self::names() })
    }
}

impl Report for SchemaReport {
    const FORMAT: &'static str = "ckpt.schema.v1";

    fn essential(&self) -> String {
        match self.name {
            Some(_) => self.text.to_owned(),
            None => self.schemas.iter().map(|name| format!("{name}\n")).collect(),
        }
    }
}
