(component
  (core module $m (func $f (loop br 0)) (start $f))
  (core instance (instantiate $m))
  (instance $pass)
  (export "passhost:pass/pass@0.2.0" (instance $pass))
)
