//! The control state against a model that knows the whole history of a building and computes from it what
//! must be desired, and what must have become of each action.

#[path = "control_histories/history.rs"]
mod history;
#[path = "control_histories/in_memory.rs"]
mod in_memory;
#[path = "control_histories/machine.rs"]
mod machine;
#[path = "control_histories/model.rs"]
mod model;
#[path = "control_histories/random.rs"]
mod random;
#[path = "control_histories/stored.rs"]
mod stored;
