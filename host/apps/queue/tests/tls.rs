//! Connections over TLS, to a database with an authority of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod engines;

use engines::{LEASE, Server};
use passhost_queue::{Postgres, Queue as _, QueueError, QueueLimits};
use postgres::{Client, NoTls};
use std::time::Duration;

/// A database that other machines reach over TLS alone, under the name of its certificate. Its address is this process's own.
fn script(address: &str) -> String {
    format!(
        r#"
        cd "$directory"
        for authority in own another; do
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $authority.key -out $authority.pem -days 2 -subj /CN=$authority
        done 2> /dev/null
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout data/server.key -out server.csr -subj /CN=server 2> /dev/null
        echo "subjectAltName = DNS:db.example, IP:{address}" > names
        openssl x509 -req -in server.csr -CA own.pem -CAkey own.key -CAcreateserial -days 2 -extfile names -out data/server.crt \
            2> /dev/null
        chmod 600 data/server.key
        echo "ssl = on
        listen_addresses = '{address}'" >> data/postgresql.conf
        echo "local all all trust
        hostssl all all all trust" > data/pg_hba.conf
        cd /tmp"#
    )
}

#[test]
fn a_server_over_tls_has_a_certificate_of_its_name_by_a_known_authority() {
    const TEST: &str = "a_server_over_tls_has_a_certificate_of_its_name_by_a_known_authority";
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    let address = format!("127.54.{high}.{low}");
    let server = match Server::start_with(&script(&address)) {
        Ok(server) => server,
        Err(why) => return eprintln!("skipped: {TEST}: {why}"),
    };
    let here = server.schema("tls");
    let directory = &server.directory;
    let url =
        |settings: &str| format!("postgres://postgres@{address}/postgres?options=-c%20search_path%3Dtls&{settings}");
    let words = |host: &str| {
        format!(
            "host={host} hostaddr={address} user=postgres options='-c search_path=tls' sslmode='verify-full' sslrootcert={directory}/own.pem"
        )
    };
    let open = |address: &str| Postgres::open(address, QueueLimits::default());
    for (number, address) in
        [url(&format!("sslmode=verify-full&sslrootcert={directory}%2Fown.pem")), words("db.example")].iter().enumerate()
    {
        let queue = open(address).unwrap();
        queue.submit("a", None, b"job").unwrap();
        queue.finish(&queue.take(LEASE).unwrap().unwrap().lease, &vec![7; 1 << 20]).unwrap();
        queue.wait(Duration::ZERO).unwrap();
        let mut client = Client::connect(&here, NoTls).unwrap();
        let sql =
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND client_addr IS NOT NULL";
        assert_eq!(client.query_one(sql, &[]).unwrap().get::<_, i64>(0), 2, "address {number}");
    }
    let another = format!("sslmode=verify-full&sslrootcert={directory}/another.pem");
    for (address, expected) in [
        (url(""), "no encryption"),
        (url("sslmode=disable"), "no encryption"),
        (url(&another), "UnknownIssuer"),
        (url("sslmode=verify-full"), "UnknownIssuer"),
        (words("elsewhere.example"), "not valid for name \"elsewhere.example\""),
        (url("sslmode=require"), "sslmode is `require`; expected `disable`, or `verify-full`"),
        (format!("{here} sslmode = require"), "sslmode is `require`"),
        (url("sslmode=verify%2Dca"), "sslmode is `verify-ca`"),
        (url("sslrootcert=own.pem"), "without which `sslrootcert` is not read"),
        (url("sslmode=verify-full&sslrootcert=/none"), "sslrootcert=/none: "),
        (url("sslmode=verify-full&sslrootcert=/dev/null"), "sslrootcert=/dev/null: it has no certificate"),
        (format!("{here} sslmode=verify-full sslrootcert={directory}/own.pem"), "invalid dns name"),
    ] {
        let Some(refused) = open(&address).err() else { panic!("not refused: {address}") };
        assert!(refused.to_string().contains(expected), "{address}: {refused}");
        assert!(!matches!(refused, QueueError::Unreachable(_)), "{address}: {refused}");
    }
}
