(component
  (core module $m (memory i64 1))
  (core instance (instantiate $m))
  (instance $pass)
  (export "passhost:pass/pass@0.2.0" (instance $pass))
)
