//! Which program is measured, and where its figures go.

use crate::Outcome;
use std::path::{Path, PathBuf};

/// Options of every program that measures `wattline`.
#[derive(Debug, clap::Args)]
pub struct Files {
    /// The wattline program; without it the one beside this program.
    #[arg(long, value_name = "PATH")]
    wattline: Option<PathBuf>,
    /// Where the figures go as JSON; without it a file of this program's name, in bench/ of cargo's target
    /// folder.
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
}

impl Files {
    /// The program to measure.
    ///
    /// # Errors
    /// When it is not there.
    pub fn wattline(&self) -> Outcome<PathBuf> {
        let path = match &self.wattline {
            Some(path) => path.clone(),
            None => own_folder(&std::env::current_exe()?)?.join("wattline"),
        };
        path.canonicalize().map_err(|error| {
            let path = path.display();
            format!("{path}: {error}: build it with cargo build --release --bin wattline").into()
        })
    }

    /// Where the figures go.
    ///
    /// # Errors
    /// When nothing was given, and this program lies in no target folder.
    pub fn json(&self) -> Outcome<PathBuf> {
        if let Some(path) = &self.json {
            return Ok(path.clone());
        }
        let program = std::env::current_exe()?;
        let name = program.file_stem().ok_or("this program has no name")?;
        let target = own_folder(&program)?
            .parent()
            .ok_or("this program is in no target folder")?;
        Ok(target.join("bench").join(name).with_extension("json"))
    }
}

fn own_folder(program: &Path) -> Outcome<&Path> {
    Ok(program.parent().ok_or("this program is in no folder")?)
}
