# Conveniences; every command also stands in the README.

check:
    ./.ci/run

test:
    cargo test --workspace

bench:
    cargo bench --workspace

fuzz seconds="60":
    fuzz/run {{seconds}}
