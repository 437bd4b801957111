(module (memory 1) (func (export "run")))
