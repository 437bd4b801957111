//! What a server is called on its queue. Its directory of data keeps the name, and belongs to one process at a time.

use crate::exit::Stop;
use passhost_child::LockedFile;
use passhost_queue::random_hexadecimal;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// The file of the name, in the directory of data.
pub const NAME: &str = "server.name";

/// The name, for as long as the file is held.
pub fn server_name(data: &Path) -> Result<(String, LockedFile), Stop> {
    held(&data.join(NAME)).map_err(|error| {
        let place = data.display();
        Stop::usage(format!("cannot use the directory `{place}`: {error}; name another one by --data"))
    })
}

fn held(path: &Path) -> io::Result<(String, LockedFile)> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    let file = LockedFile::try_new(file).map_err(|_| io::Error::other("another server uses it"))?;
    let mut name = String::new();
    (&*file).read_to_string(&mut name)?;
    if name.is_empty() {
        name = random_hexadecimal::<8>()?;
        (&*file).write_all(name.as_bytes())?;
        file.sync_all()?;
    }
    Ok((name, file))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_directory_keeps_its_name_and_has_one_server() {
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let (name, file) = server_name(here.path()).unwrap();
        assert!(server_name(here.path()).unwrap_err().error.to_string().contains("another server uses it"));
        drop(file);
        assert_eq!(server_name(here.path()).unwrap().0, name);
        assert_ne!(server_name(there.path()).unwrap().0, name);
    }
}
