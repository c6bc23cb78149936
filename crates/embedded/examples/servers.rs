//! Starts Mosquitto, PostgreSQL and Kafka in a folder and keeps them until standard input ends.
//!
//! `cargo run -p embedded --example servers -- FOLDER`

use std::{error::Error, io::Read, path::PathBuf};

use embedded::{
    Edition, Kafka, KafkaOptions, Mosquitto, MosquittoOptions, Postgres, PostgresOptions,
};

#[expect(clippy::print_stdout, reason = "what it prints is what it is for")]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder?")?);
    let mosquitto = Mosquitto::start(&MosquittoOptions::new(folder.join("mosquitto")))?;
    println!("{}", mosquitto.url());
    let postgres = Postgres::start(&PostgresOptions::new(
        folder.join("postgres"),
        Edition::Plain,
    ))?;
    println!("{}", postgres.url("postgres"));
    let kafka = Kafka::start(&KafkaOptions::new(folder.join("kafka")))?;
    println!("{}", kafka.brokers());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
