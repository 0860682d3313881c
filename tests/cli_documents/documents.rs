//! Every document is as the schema says.

use std::collections::HashMap;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use crate::cases::{Case, DONE, FAILED};

/// The schema of all documents.
pub(crate) struct Checker {
    schemas: Schemas,
    compiler: Compiler,
    compiled: HashMap<String, SchemaIndex>,
}

pub(crate) fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/format-spec/cli.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

impl Checker {
    pub(crate) fn new() -> Self {
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        compiler.add_resource("http://seslog/cli.schema.json", schema()).unwrap();
        Self { schemas: Schemas::new(), compiler, compiled: HashMap::new() }
    }

    /// What is wrong with a value as the definition of this name; none: nothing.
    pub(crate) fn problem(&mut self, name: &str, value: &Value) -> Option<String> {
        let (compiler, schemas) = (&mut self.compiler, &mut self.schemas);
        let compiled = self.compiled.entry(name.to_owned()).or_insert_with(|| {
            let place = format!("http://seslog/cli.schema.json#/$defs/{name}");
            compiler.compile(&place, schemas).unwrap_or_else(|error| panic!("{name}: {error:#}"))
        });
        schemas.validate(value, *compiled).err().map(|error| format!("{error:#}"))
    }
}

/// The values on standard output: one document, or one a line.
fn values(stdout: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(stdout).into_iter().map(|value| value.expect(stdout)).collect()
}

fn holds(case: &Case, name: &str, checker: &mut Checker, faults: &mut Vec<String>) {
    let (_, ran) = case.run(&["--json"]);
    let values = values(&ran.stdout);
    let is_lines = ["append", "tail"].contains(&name);
    if values.is_empty() || (values.len() > 1 && !is_lines) {
        faults.push(format!("{}: {} documents", case.name, values.len()));
    }
    for value in &values {
        let problem = checker.problem(name, value);
        faults.extend(problem.map(|problem| format!("{}: {problem}", case.name)));
    }
}

#[test]
fn what_a_command_gives_is_what_the_schema_says() {
    let (mut checker, mut faults) = (Checker::new(), Vec::new());
    for case in DONE {
        holds(case, case.command(), &mut checker, &mut faults);
    }
    assert!(faults.is_empty(), "mend the command, or the schema and CLI.md:\n{}", faults.join("\n"));
}

#[test]
fn a_failure_gives_an_error_document_and_a_line_that_says_what_to_do() {
    let (mut checker, mut faults) = (Checker::new(), Vec::new());
    for case in FAILED {
        holds(case, "Error", &mut checker, &mut faults);
    }
    assert!(faults.is_empty(), "mend the command, or the schema and CLI.md:\n{}", faults.join("\n"));
}
