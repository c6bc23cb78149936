//! Which program is measured, and where its figures go.

use crate::Outcome;
use std::path::{Path, PathBuf};

/// Options of every program that measures `wattline`.
#[derive(Debug, clap::Args)]
pub struct Files {
    /// The wattline program; without it the one beside this program.
    #[arg(long, value_name = "PATH")]
    wattline: Option<PathBuf>,
    /// Where the figures go as JSON; without it a file named after this program or its results, in bench/ of cargo's target
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
            None => beside("wattline")?,
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
        let program = std::env::current_exe()?;
        let name = program.file_stem().ok_or("this program has no name")?;
        self.json_named(&name.to_string_lossy())
    }

    /// The same with a name of its own for the file.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn json_named(&self, name: &str) -> Outcome<PathBuf> {
        if let Some(path) = &self.json {
            return Ok(path.clone());
        }
        let folder = own_folder()?;
        let target = folder
            .parent()
            .ok_or("this program is in no target folder")?;
        Ok(target.join("bench").join(name).with_extension("json"))
    }
}

/// Where a program is that was built with this one.
///
/// # Errors
/// When this one is in no folder.
pub fn beside(program: &str) -> Outcome<PathBuf> {
    Ok(own_folder()?.join(program))
}

fn own_folder() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().map(Path::to_owned);
    Ok(folder.ok_or("this program is in no folder")?)
}
