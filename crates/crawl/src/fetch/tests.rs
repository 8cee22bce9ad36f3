//! Real sockets.
