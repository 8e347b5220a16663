//! What the codes of the scripts mean. The numbers are those of the scripts.

use super::reply::Reply;
use crate::error::LifecycleError;
use crate::model::{Generation, Identity};

/// Whom an answer is for.
pub(crate) struct Context<'a> {
    /// The shard.
    pub(crate) base: &'a str,
    /// What the caller's handle is bound to.
    pub(crate) bound: Option<&'a Identity>,
}

impl Context<'_> {
    fn base(&self) -> String {
        self.base.to_owned()
    }
}

/// Turns any answer but the good one into its error.
pub(crate) fn accept(mut reply: Reply, context: &Context<'_>) -> Result<Reply, LifecycleError> {
    if reply.code() == 0 {
        return Ok(reply);
    }
    Err(refusal(&mut reply, context).unwrap_or_else(|error| error))
}

fn refusal(reply: &mut Reply, context: &Context<'_>) -> Result<LifecycleError, LifecycleError> {
    let error = match reply.code() {
        1 => LifecycleError::NotFound {
            base: context.base(),
        },
        2 => mismatch(reply, context.bound)?,
        3 => LifecycleError::Destroyed {
            generation: generation(reply)?,
        },
        4 => LifecycleError::Expired {
            generation: generation(reply)?,
            expired_ms: reply.number()?,
        },
        5 => LifecycleError::Sealed {
            base: context.base(),
        },
        6 => LifecycleError::KeyConflict {
            key: reply.text()?,
            found: Some(reply.text()?),
        },
        7 => LifecycleError::Denied {
            what: reply.text()?,
        },
        8 => LifecycleError::DataLost {
            base: context.base(),
        },
        9 => LifecycleError::AlreadyExists {
            current: reply.identity()?,
        },
        10 => LifecycleError::RetentionDiffers {
            requested: reply.text()?,
            current: reply.text()?,
        },
        11 => LifecycleError::DeadlinePassed {
            deadline_ms: reply.number()?,
            now_ms: reply.number()?,
        },
        12 => LifecycleError::StillAlive {
            current: reply.identity()?,
        },
        21 => LifecycleError::NothingToAdopt,
        _ => of_use(reply, context)?,
    };
    Ok(error)
}

/// Codes of publishing, reading and recovering.
fn of_use(reply: &mut Reply, context: &Context<'_>) -> Result<LifecycleError, LifecycleError> {
    let error = match reply.code() {
        13 => LifecycleError::NotDrained {
            group: reply.text()?,
            condition: reply.text()?,
            pending: reply.number()?,
            lag: reply.optional_number()?,
        },
        14 => LifecycleError::IdempotencyConflict {
            original: reply.id()?,
        },
        15 => LifecycleError::SnapshotTooLarge {
            length: reply.number()?,
            most: 0,
        },
        16 => LifecycleError::NoGroup {
            base: context.base(),
            group: reply.text()?,
        },
        17 => LifecycleError::ConsumerFenced {
            token: reply.optional_number()?,
            epoch: reply.optional_number()?,
        },
        18 => LifecycleError::StillPending {
            pending: reply.number()?,
        },
        19 => LifecycleError::LeaseHeld {
            owner: reply.text()?,
            left_ms: reply.number()?,
        },
        20 => LifecycleError::LeaseLost {
            latest: reply.optional_number()?,
        },
        23 => LifecycleError::NotPending {
            group: reply.text()?,
            id: reply.id()?,
        },
        24 => LifecycleError::MalformedEntry {
            id: reply.text()?,
            problem: format!("it has {} fields, too many to be copied", reply.number()?),
        },
        22 => {
            let text = reply.text()?;
            reply.bad(&text)
        }
        code => reply.bad(&format!("the code {code}")),
    };
    Ok(error)
}

fn generation(reply: &mut Reply) -> Result<Generation, LifecycleError> {
    let number = reply.number()?;
    Generation::new(number).map_err(|error| reply.bad(&error.to_string()))
}

fn mismatch(reply: &mut Reply, bound: Option<&Identity>) -> Result<LifecycleError, LifecycleError> {
    let current = reply.identity()?;
    let Some(bound) = bound.cloned() else {
        return Ok(LifecycleError::AlreadyExists { current });
    };
    Ok(if current.generation < bound.generation {
        LifecycleError::Regressed { bound, current }
    } else {
        LifecycleError::GenerationMismatch { bound, current }
    })
}
