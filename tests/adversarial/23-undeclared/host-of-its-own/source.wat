(component
  (import "passhost:pass/device@0.2.0" (instance ))
  (instance $pass)
  (export "passhost:pass/pass@0.2.0" (instance $pass))
)
