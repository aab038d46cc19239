// Modules that are read for the custom resource definitions in them; nothing of them is built.
module informerql.test/definitions

go 1.25.0

require sigs.k8s.io/gateway-api v1.4.1
