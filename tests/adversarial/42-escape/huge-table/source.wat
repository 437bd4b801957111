(component
  (core module $m (table 4000000000 funcref))
  (core instance (instantiate $m))
  (instance $pass)
  (export "passhost:pass/pass@0.2.0" (instance $pass))
)
