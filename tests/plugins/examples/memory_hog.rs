//! Takes memory until there is none.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|_| {
    let mut hoard = vec![];
    loop {
        hoard.push(std::hint::black_box(vec![1u8; 1 << 20]));
    }
});
