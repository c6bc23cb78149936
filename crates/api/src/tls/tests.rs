use super::*;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use tempfile::TempDir;

/// Certificate and key in PEM.
fn pair(year: i32) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
    parameters.not_after = date_time_ymd(year, 1, 1);
    let certificate = parameters.self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn files(&self) -> TlsFiles {
        TlsFiles {
            certificate: self.0.path().join("cert.pem"),
            key: self.0.path().join("key.pem"),
        }
    }

    fn write(&self, certificate: &str, key: &str) -> &Self {
        fs::write(self.files().certificate, certificate).unwrap();
        fs::write(self.files().key, key).unwrap();
        self
    }

    fn read(&self) -> Result<Tls, TlsFailure> {
        Tls::read(self.files())
    }
}

/// Seconds of the first of January.
const YEAR_2040: i64 = 2_208_988_800;
const YEAR_2041: i64 = 2_240_611_200;

#[test]
fn a_pair_that_belongs_together_is_taken_and_its_end_is_known() {
    let (certificate, key) = pair(2040);
    let tls = Folder::new().write(&certificate, &key).read().unwrap();
    assert_eq!(tls.not_after().seconds(), YEAR_2040);
    assert!(!format!("{tls:?}").contains("PRIVATE"));
}

#[test]
fn what_is_wrong_with_a_pair_is_told() {
    let (certificate, key) = pair(2040);
    let (_, other_key) = pair(2040);
    let check = |certificate: &str, key: &str, expected: &str| {
        let failure = Folder::new().write(certificate, key).read().unwrap_err();
        assert!(failure.to_string().starts_with(expected), "{failure}");
    };
    check(
        &certificate,
        &other_key,
        "the key belongs to another certificate",
    );
    check("", &key, "certificate: no certificate in PEM");
    check(&key, &key, "certificate: no certificate in PEM");
    check(&certificate, "", "key: no private key in PEM");
    check(&certificate, &certificate, "key: no private key in PEM");
    let (half, _) = certificate.split_at(certificate.len() / 2);
    check(half, &key, "certificate: ");
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    check(nonsense, &key, "certificate: ");
    let nonsense = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    check(&certificate, nonsense, "key: ");
    let failure = Folder::new().read().unwrap_err();
    assert!(matches!(failure, TlsFailure::Certificate(_)), "{failure}");
}

#[test]
fn a_look_takes_over_what_belongs_together_and_keeps_the_old_pair_until_then() {
    let (old, old_key) = pair(2040);
    let (new, new_key) = pair(2041);
    let folder = Folder::new();
    let tls = folder.write(&old, &old_key).read().unwrap();
    assert_eq!(tls.look(), Ok(None));

    fs::write(folder.files().certificate, &new).unwrap();
    assert_eq!(tls.look(), Err(TlsFailure::Mismatch));
    assert_eq!(tls.look(), Err(TlsFailure::Mismatch), "looked at again");
    assert_eq!(tls.not_after().seconds(), YEAR_2040);

    fs::remove_file(folder.files().key).unwrap();
    assert!(matches!(tls.look(), Err(TlsFailure::Key(_))));
    fs::write(folder.files().key, &new_key).unwrap();
    assert_eq!(tls.look(), Ok(Some(Timestamp::from_seconds(YEAR_2041))));
    assert_eq!(tls.not_after().seconds(), YEAR_2041);
    assert_eq!(tls.look(), Ok(None));
}

#[test]
fn a_link_that_is_turned_is_a_change() {
    let folder = Folder::new();
    let path = |name: &str| folder.0.path().join(name);
    for (name, year) in [("first", 2040), ("second", 2041)] {
        let (certificate, key) = pair(year);
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join("cert.pem"), certificate).unwrap();
        fs::write(path(name).join("key.pem"), key).unwrap();
    }
    std::os::unix::fs::symlink("first", path("live")).unwrap();
    let files = TlsFiles {
        certificate: path("live/cert.pem"),
        key: path("live/key.pem"),
    };
    let tls = Tls::read(files).unwrap();
    assert_eq!(tls.look(), Ok(None));
    std::os::unix::fs::symlink("second", path("next")).unwrap();
    fs::rename(path("next"), path("live")).unwrap();
    assert_eq!(tls.look(), Ok(Some(Timestamp::from_seconds(YEAR_2041))));
}

#[test]
fn every_cause_is_told_once_until_the_files_are_right_again() {
    let mut told = None;
    tell(Err(TlsFailure::Mismatch), &mut told);
    assert_eq!(told, Some(TlsFailure::Mismatch));
    tell(Ok(Some(Timestamp::from_seconds(0))), &mut told);
    assert_eq!(told, None);
}
