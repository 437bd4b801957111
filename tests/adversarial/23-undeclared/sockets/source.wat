(component
  (import "wasi:sockets/tcp-create-socket@0.2.0" (instance ))
  (instance $pass)
  (export "passhost:pass/pass@0.2.0" (instance $pass))
)
