//! The simulated fleet, seen from the service.

use crate::WATTLINE;
use serde_json::json;
use testkit::{Mode, World, eventually};

/// Whether each building's controller is there, as it was told last.
async fn presence(world: &World) -> Vec<serde_json::Value> {
    world
        .rows(
            "select distinct on (building_uuid) online from presence
             order by building_uuid, received_at desc",
        )
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_sends_every_kind_and_its_last_will_tells_when_it_is_cut_off() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let fleet = simulator::Fleet::new(1, 3).fleet_file("x");
    world.apply_fleet(&fleet);
    let _serve = world.serve().await;
    let simulate = || {
        world.start(&[
            "simulate",
            "--seed",
            "1",
            "--buildings",
            "3",
            "--connections",
            "3",
        ])
    };
    let all_are = async |online: bool| {
        let expected = vec![json!({"online": online}); 3];
        eventually(async || match presence(&world).await {
            told if told == expected => Ok(()),
            other => Err(other),
        })
        .await;
    };
    let mut running = simulate();
    all_are(true).await;
    let sensors = "select count(distinct sensor_id) from sensor_reading";
    eventually(async || match world.count(sensors).await {
        // Seven or eight instruments a building, and the registers of some main meters.
        21.. => Ok(()),
        other => Err(other),
    })
    .await;
    running.kill();
    all_are(false).await;
    let mut running = simulate();
    all_are(true).await;
    assert!(running.stop().success());
    all_are(false).await;
    let refused = world.count("select count(*) from dead_letter").await;
    assert_eq!(refused, 0, "every sensor is known and takes what it gets");
}
