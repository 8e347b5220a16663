//! Known-wrong variants of the machine, to see whether the checks notice them. They exist only with the feature `planted`, which no product build has; without
//! it nothing here is reachable and every use is a constant.
#![cfg_attr(not(feature = "planted"), allow(unreachable_pub))]

/// One rule that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineFault {
    /// Rule T2: the lease counts from the receiving of the answer.
    LeaseFromReceiving,
    /// Rule T2: the member goes on when its lease is over.
    ReadsOnAfterLease,
    /// Rule O5b: a shard is reported as given up before its worker has ended.
    GivesUpBeforeTheEnd,
}
