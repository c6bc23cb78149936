//! Every bound of the api, each with its reason.

use ops::shutdown::GRACE;
use std::time::Duration;

/// Largest request body (`decisions.md`, general).
pub(crate) const BODY_BYTES: usize = 64 * 1024;

/// How much of a body that is too large is still read, so that its sender gets to see the 413 instead
/// of a broken connection.
pub(crate) const DISCARDED_BODY_BYTES: usize = 4 * 1024 * 1024;

/// Request line and headers together: room for the uuids of a thousand sensors.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;

/// Headers of a request: more than any chain of proxies adds.
pub(crate) const HEADERS: usize = 500;

/// How long a client may take to send a request's head, and how long a connection may be idle.
pub(crate) const HEAD_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a client may take to shake hands on HTTPS: a few round trips, and two signatures.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client may take to read what the kernel does not hold for it of an answer: enough for
/// the largest answer over the slowest line in use.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How often the files of the certificate are looked at: whoever renews it need not wait.
pub(crate) const CERTIFICATE_LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How long browsers are told to use HTTPS only, where the process speaks it itself: a year.
pub(crate) const HTTPS_ONLY: &str = "max-age=31536000";

/// How long a client may take to send a body of at most [`BODY_BYTES`].
pub(crate) const BODY_READ_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer may take: what is in flight when the process is told to stop ends in time.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(8);

/// How long requests in flight may take to end after the process was told to stop; the rest of
/// the process needs the last second itself.
pub(crate) const DRAIN_TIMEOUT: Duration = GRACE.saturating_sub(Duration::from_secs(1));

/// How long a connection without a request in flight may still begin one when the process was told
/// to stop: its bytes may be on their way.
pub(crate) const LAST_REQUEST_WAIT: Duration = Duration::from_millis(250);

/// Connections held at once; further ones wait in the kernel's queue.
pub(crate) const CONNECTIONS_AT_ONCE: usize = 4_096;

/// Connections that one address may have, unless it is a trusted proxy's: a quarter, which is plenty for
/// an office behind one address, and leaves the others theirs.
pub(crate) const CONNECTIONS_OF_ONE_ADDRESS: usize = CONNECTIONS_AT_ONCE / 4;

/// Length of the network that one IPv6 client has to itself, and can take any address of.
pub(crate) const IPV6_CLIENT_PREFIX: u8 = 64;

/// Requests worked on at once; further ones wait, within [`REQUEST_TIMEOUT`]. What waits for a body is
/// not worked on.
pub(crate) const REQUESTS_AT_ONCE: usize = 512;

/// Passwords checked at once: each costs a core for some 20 ms, and 19 MiB that are kept.
pub(crate) const PASSWORD_CHECKS_AT_ONCE: usize = 2;

/// Refresh tokens that a user may have outstanding (`interface.md`, limits).
pub(crate) const OUTSTANDING_REFRESH_TOKENS: i64 = 50;

/// Failed logins that are borne, of one user name and from one address (`decisions.md`, tokens).
pub(crate) const FAILED_LOGINS_BY_NAME: i64 = 5;
pub(crate) const FAILED_LOGINS_BY_ADDRESS: i64 = 20;
/// For how long a failed login counts.
pub(crate) const FAILED_LOGIN_WINDOW: Duration = Duration::from_secs(15 * 60);

/// Requests in a window for each building that the user is linked to (`interface.md`, limits).
pub(crate) const REQUESTS_PER_BUILDING: i64 = 500;
/// Requests in a window whatever the user is linked to (`decisions.md`, rate limit).
pub(crate) const LEAST_REQUESTS: i64 = 500;
/// The window of the rate limit, from its first request on.
pub(crate) const REQUEST_WINDOW: Duration = Duration::from_secs(60 * 60);

/// Statements that admit requests at once: two, so that a user's row that somebody holds keeps nobody else waiting, and
/// few, so that those who come meanwhile come in together.
pub(crate) const ADMISSION_LANES: usize = 2;
/// Requests that one statement admits: it locks as many users' rows until it ends.
pub(crate) const ADMITTED_AT_ONCE: usize = 128;

/// How often what counts for nothing any more is cleared away.
pub(crate) const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// For how long budgets are kept from the start of their window: so long that no process whose clock is
/// a little behind still counts in one.
pub(crate) const KEPT_BUDGET: Duration = REQUEST_WINDOW.saturating_mul(2);

/// How often the key file is looked at.
pub(crate) const KEY_FILE_INTERVAL: Duration = Duration::from_secs(1);

/// What `Retry-After` says when the service cannot answer now.
pub(crate) const RETRY_AFTER_S: u64 = 2;

/// Broken rules that one answer lists: more than anybody mends in one go.
pub(crate) const VIOLATIONS_LISTED: usize = 1_000;

/// Characters of a property's name that the words about it repeat; its pointer has all of it.
pub(crate) const NAME_CHARACTERS: usize = 100;

/// Largest integer of a body, watts and seconds alike, and with a minus sign the smallest
/// (`decisions.md`, general).
pub(crate) const LARGEST_INTEGER: i32 = 2_147_483_647;

/// A number of a body is below this, and with a minus sign above: what no double can hold is read as this
/// one.
pub(crate) const LARGEST_NUMBER: f64 = 1e308;

/// Longest `Idempotency-Key` (`decisions.md`, actions).
pub(crate) const IDEMPOTENCY_KEY_CHARACTERS: usize = 255;

/// Actions on a page of their list (`decisions.md`, actions).
pub(crate) const ACTIONS_A_PAGE: usize = 100;

/// Grid limit occurrences on a page of their list (`decisions.md`, grid limits).
pub(crate) const GRID_LIMITS_A_PAGE: usize = 1_000;

/// Grid limit occurrences that one request may delete (`interface.md`, limits).
pub(crate) const GRID_LIMITS_DELETED_AT_ONCE: usize = 100;

/// Longest `X-Request-Id` that is taken over from a request.
pub(crate) const REQUEST_ID_BYTES: usize = 128;
