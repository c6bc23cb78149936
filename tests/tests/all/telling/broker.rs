//! The bridge and control tell what is wrong with the MQTT broker.

use super::cause::{all_are_well, all_tell, are_untouched};
use crate::WATTLINE;
use std::path::PathBuf;
use testkit::{Mode, World};

/// Starts the world's broker again, with its configuration changed by `change`.
fn restart(world: &World, change: impl FnOnce(&str) -> String) {
    let path = world.folder().join("mosquitto/mosquitto.conf");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, change(&text)).unwrap();
    tokio::task::block_in_place(|| world.mosquitto().restart().unwrap());
}

/// Mosquitto's plugin that can refuse a subscription; its access control list cannot.
fn dynamic_security() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").unwrap();
    folders
        .map(|it| it.unwrap().path().join("mosquitto_dynamic_security.so"))
        .find(|it| it.exists())
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn bridge_and_control_tell_within_five_seconds_what_is_wrong_with_the_broker() {
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    let url = format!("mqtt://ada:sesame@127.0.0.1:{}", world.mqtt_port());
    world.settings.insert("WATTLINE_MQTT_URL".to_owned(), url);
    world.building();
    let bridge = world.start(&["bridge"]);
    let control = world.start(&["control"]);
    let both = [&bridge, &control];
    all_are_well("start", &both).await;
    let name = format!("mqtt broker 127.0.0.1:{}", world.mqtt_port());
    let name = name.as_str();

    world.mosquitto().kill();
    let words: &[&str] = &[name, "Connection refused"];
    all_tell("killed", &both.map(|it| (it, "mqtt", words))).await;
    restart(&world, str::to_owned);
    all_are_well("killed", &both).await;

    world.mosquitto().freeze();
    let words: &[&str] = &[name, "has not answered"];
    all_tell("frozen", &both.map(|it| (it, "mqtt", words))).await;
    world.mosquitto().thaw();
    all_are_well("frozen", &both).await;

    restart(&world, |text| {
        text.replace(
            "allow_anonymous true",
            "allow_anonymous false\npassword_file /dev/null",
        )
    });
    let words: &[&str] = &[name, "refused"];
    all_tell("login refused", &both.map(|it| (it, "mqtt", words))).await;
    restart(&world, |text| {
        text.replace(
            "allow_anonymous false\npassword_file /dev/null",
            "allow_anonymous true",
        )
    });
    all_are_well("login refused", &both).await;

    are_untouched("all of it", &both).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bridge_tells_within_five_seconds_that_its_subscription_is_refused() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let serve = world.serve().await;
    let access = world.folder().join("access.json");
    let refused = r#"{"defaultACLAccess": {"publishClientSend": true, "publishClientReceive": true,
        "subscribe": false, "unsubscribe": true}, "clients": [], "groups": [], "roles": []}"#;
    std::fs::write(&access, refused).unwrap();
    let plugin = dynamic_security().display().to_string();
    let access = access.display().to_string();
    restart(&world, |text| {
        format!("{text}plugin {plugin}\nplugin_opt_config_file {access}\n")
    });
    let name = format!("mqtt broker 127.0.0.1:{}", world.mqtt_port());
    let words: &[&str] = &[&name, "does not grant the subscription"];
    all_tell("subscription refused", &[(&serve, "mqtt", words)]).await;
    restart(&world, |text| {
        let (kept, _) = text.split_once("plugin ").unwrap();
        kept.to_owned()
    });
    all_are_well("subscription refused", &[&serve]).await;
}
