//! The one command that writes a record. NOMKSTREAM is always there: a producer never creates a stream.

use redis::Cmd;

use crate::record::Record;
use crate::settings::MaxLen;

/// `XADD key NOMKSTREAM [MAXLEN ~|= n] * field value …`
pub(crate) fn xadd(stream_key: &str, max_len: MaxLen, record: &Record) -> Cmd {
    let mut command = redis::cmd("XADD");
    command.arg(stream_key).arg("NOMKSTREAM");
    match max_len {
        MaxLen::Unlimited => {}
        MaxLen::Approximate(length) => {
            command.arg("MAXLEN").arg("~").arg(length);
        }
        MaxLen::Exact(length) => {
            command.arg("MAXLEN").arg("=").arg(length);
        }
    }
    command.arg("*");
    for (name, value) in record.fields() {
        command.arg(name.as_slice()).arg(value.as_slice());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::xadd;
    use crate::record::Record;
    use crate::settings::MaxLen;

    fn words(max_len: MaxLen) -> String {
        let record = Record::new("k").field("a", "1").field("b", [0xff]);
        let packed = xadd("orders:3", max_len, &record).get_packed_command();
        String::from_utf8_lossy(&packed)
            .split("\r\n")
            .filter(|line| !line.is_empty() && !line.starts_with(['$', '*']) || *line == "*")
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_stream_is_never_created_and_trimmed_as_set() {
        assert_eq!(
            words(MaxLen::Unlimited),
            "XADD orders:3 NOMKSTREAM * a 1 b \u{fffd}"
        );
        assert_eq!(
            words(MaxLen::Approximate(9)),
            "XADD orders:3 NOMKSTREAM MAXLEN ~ 9 * a 1 b \u{fffd}"
        );
        assert_eq!(
            words(MaxLen::Exact(9)),
            "XADD orders:3 NOMKSTREAM MAXLEN = 9 * a 1 b \u{fffd}"
        );
    }
}
