import { isIP } from 'node:net'
import {
  duplicateAt,
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
} from '../../api/field-problem.ts'
import { label, subdomain } from '../object-name.ts'
import {
  type Check,
  type Checks,
  type Fields,
  fieldsOf,
  isEmpty,
  itemsOf,
  labels,
  named,
  oneOf,
  port,
  portName,
  problemsOf,
  unique,
} from './field-checks.ts'

const address: Check = (value, path) =>
  isIP(String(value)) > 0
    ? []
    : [invalidAt(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]

const zeroPort: Check = (value, path, parent) => port(value ?? 0, path, parent)

const serviceChecks: Checks = {
  type: oneOf('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'),
  selector: labels,
  sessionAffinity: oneOf('ClientIP', 'None'),
  internalTrafficPolicy: oneOf('Cluster', 'Local'),
  externalTrafficPolicy: oneOf('Cluster', 'Local'),
  'externalIPs[]': address,
  ports: unique('name'),
  'ports[].name': named(label),
  'ports[].port': zeroPort,
  'ports[].protocol': oneOf('SCTP', 'TCP', 'UDP'),
  // It defaults to the port.
  'ports[].targetPort': (value, path, parent) =>
    typeof value === 'string'
      ? portName(value, path, parent)
      : zeroPort(isEmpty(value) ? parent['port'] : value, path, parent),
}

const addressOf = (spec: Fields | undefined): unknown =>
  itemsOf(spec?.['clusterIPs'])[0] ?? spec?.['clusterIP']

/** The problems of a Service's spec, and of its change. */
export function serviceProblems(spec: Fields, before: Fields | undefined): FieldProblem[] {
  const { type = 'ClusterIP', externalName, externalTrafficPolicy } = spec
  const ip = addressOf(spec)
  const ips = 'spec.clusterIPs[0]'
  const ports = itemsOf(spec['ports']).map(fieldsOf)
  const found = problemsOf(spec, serviceChecks, 'spec')
  if (type === 'ExternalName') {
    if (isEmpty(externalName)) found.push(requiredAt('spec.externalName'))
    else found.push(...named(subdomain)(externalName, 'spec.externalName', spec))
    if (!isEmpty(ip)) {
      found.push(forbiddenAt('spec.clusterIPs', 'may not be set for ExternalName services'))
    }
  } else {
    if (ports.length === 0 && ip !== 'None') found.push(requiredAt('spec.ports'))
    if (ip === 'None' && type !== 'ClusterIP') {
      const message = `may not be set to 'None' for ${String(type)} services`
      found.push(invalidAt(ips, ip, message))
    } else if (!isEmpty(ip) && ip !== 'None') found.push(...address(ip, ips, spec))
    const was = before?.['type'] === 'ExternalName' ? undefined : addressOf(before)
    if (!isEmpty(was) && !isEmpty(ip) && was !== ip)
      found.push(invalidAt(ips, [ip], 'may not change once set'))
  }
  if (type === 'ClusterIP' && !isEmpty(externalTrafficPolicy)) {
    const message = 'may only be set for externally-accessible services'
    found.push(invalidAt('spec.externalTrafficPolicy', externalTrafficPolicy, message))
  }
  if (type !== 'LoadBalancer' && !isEmpty(spec['loadBalancerSourceRanges'])) {
    const message = "may only be used when `type` is 'LoadBalancer'"
    found.push(forbiddenAt('spec.LoadBalancerSourceRanges', message))
  }
  const checksHealth = type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
  if (!checksHealth && !isEmpty(spec['healthCheckNodePort'])) {
    const message =
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    found.push(invalidAt('spec.healthCheckNodePort', spec['healthCheckNodePort'], message))
  }
  const seen = new Set<string>()
  for (const [at, one] of ports.entries()) {
    const path = `spec.ports[${at}]`
    if (ports.length > 1 && isEmpty(one['name'])) found.push(requiredAt(`${path}.name`))
    if (type === 'ClusterIP' && !isEmpty(one['nodePort'])) {
      found.push(forbiddenAt(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'"))
    }
    const { port: number, protocol = 'TCP' } = one
    const pair = `${String(protocol)} ${String(number)}`
    if (seen.has(pair)) found.push(duplicateAt(path, { Protocol: protocol, Port: number }))
    seen.add(pair)
  }
  return found
}
