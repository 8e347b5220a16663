//! Shows, chooses and forgets contexts.

use crate::cli::{Connection, ContextCommand};
use crate::context::{self, ContextError};
use crate::failure::Failure;
use crate::output::Output;
use crate::show::Look;
use crate::show::context::{Shown, list, one};

pub(super) fn run(
    connection: &Connection,
    command: &ContextCommand,
    output: Output,
) -> Result<(), Failure> {
    let path = context::place(connection.contexts_file.as_deref())?;
    let mut contexts = context::load(&path)?;
    let look = Look::at(output);
    match command {
        ContextCommand::List => {
            let all = Shown::all(&contexts);
            output.answer(&all, || list(&all, &look))
        }
        ContextCommand::Show { name } => {
            let asked = name.as_deref().or(connection.context.as_deref());
            let chosen = contexts.chosen(asked)?;
            let (name, context) = chosen.ok_or(ContextError::NotCurrent)?;
            let shown = Shown::new(name, context, &contexts);
            output.answer(&shown, || one(&shown, &look))
        }
        ContextCommand::Use { name } => {
            contexts.named(name)?;
            contexts.current = Some(name.clone());
            context::save(&path, &contexts)?;
            done(name, "is the current context now", output)
        }
        ContextCommand::Delete { name } => {
            contexts.named(name)?;
            contexts.contexts.remove(name);
            if contexts.current.as_ref() == Some(name) {
                contexts.current = None;
            }
            context::save(&path, &contexts)?;
            done(name, "and its token are forgotten", output)
        }
    }
}

fn done(name: &str, what: &str, output: Output) -> Result<(), Failure> {
    let told = serde_json::json!({ "name": name });
    output.answer(&told, || format!("context `{name}` {what}"))
}
