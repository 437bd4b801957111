(component
  (core module $m (type (struct (field i32))))
  (core instance (instantiate $m))
  (instance $pass)
  (export "passhost:pass/pass@0.2.0" (instance $pass))
)
