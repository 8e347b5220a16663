//! Random operations by several handles of several generations, against a pure model: answers and keys are equal throughout.

mod model;
mod model_consumers;
mod model_redelivery;
mod op;
mod play;
mod play_redelivery;

use play::Play;

/// Two worlds of ten thousand operations each; each world can be played alone by its seed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_random_operations_agree_with_a_pure_model() {
    let worlds = [1, 2].map(|seed| {
        tokio::spawn(async move {
            let mut play = Play::new(seed).await;
            for _ in 0..10_000 {
                play.step().await;
            }
            play.answers()
        })
    });
    let mut all = std::collections::BTreeMap::new();
    for world in worlds {
        for (answer, count) in world.await.unwrap() {
            *all.entry(answer).or_insert(0_usize) += count;
        }
    }
    // Every answer that the model knows was given: nothing of it is untested.
    for answer in model::ANSWERS {
        assert!(
            all.get(*answer).is_some_and(|count| *count >= 3),
            "{answer}: {all:#?}"
        );
    }
}
