(component
  (core module $m (memory 1 1 shared))
  (core instance (instantiate $m))
  (instance $pass)
  (export "passhost:pass/pass@0.2.0" (instance $pass))
)
