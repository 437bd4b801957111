//! The tables of cases by name.

macro_rules! tables {
    ($($name:ident)*) => {
        /// Names and texts.
        pub const TABLES: &[(&str, &str)] =
            &[$((stringify!($name), include_str!(concat!("cases/", stringify!($name), ".txt")))),*];
    };
}

tables! {
    attention constructors convolution copies fourier indexing losses matmul normalisation pointwise pooling recurrent
    reductions resampling scans views
}
