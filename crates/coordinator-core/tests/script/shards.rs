//! Commands about a change of the shard count (rules G1 to G11).

use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::ShardCount;
use coordinator_core::shard_set::ShardSet;

use super::stage::Stage;
use super::words::Words;
use super::{ScriptError, evidence};

impl Stage {
    /// The input that a command stands for. Where it names no change with `id=`, the one under way is meant.
    pub fn about_shards(&mut self, verb: &str, words: &mut Words) -> Result<Input, ScriptError> {
        let resharding = self.resharding(words)?;
        let input = match verb {
            "scale" => Input::ScaleRequested {
                resharding,
                target: words
                    .number("to")?
                    .map(ShardCount::new)
                    .ok_or_else(|| words.error("`to=` is missing"))?,
            },
            "provisioned" => Input::MigrationProvisioned {
                resharding,
                generations: Generations::default(),
            },
            "rollback" => Input::RollbackRequested {
                resharding,
                is_decided: false,
            },
            "retired" => Input::ShardsRetired {
                resharding,
                shards: listed(words)?,
            },
            "retire-refused" => {
                let (shard, open) = evidence::read_open(words)?;
                Input::RetireRefused {
                    resharding,
                    shard,
                    open,
                }
            }
            _ => {
                let coordinated = self.coordinated();
                Input::DrainObserved {
                    resharding,
                    evidence: evidence::read(words, &coordinated)?,
                    coordinated,
                }
            }
        };
        Ok(input)
    }

    fn resharding(&mut self, words: &mut Words) -> Result<ReshardingId, ScriptError> {
        if let Some(id) = words.text("id") {
            return Ok(ReshardingId::new(&id));
        }
        let record = self.play(words.line())?.group.record();
        let active = record.migration.as_ref().map(|it| it.id.clone());
        let number = record.finished_migrations.len() + 1;
        Ok(active.unwrap_or_else(|| ReshardingId::new(&format!("change-{number}"))))
    }
}

fn listed(words: &mut Words) -> Result<ShardSet, ScriptError> {
    let text = words.word("the shards")?;
    words.parse_shards(&text)
}
