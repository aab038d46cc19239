import {
  countOf,
  type Fields,
  fieldsOf,
  itemsOf,
  numberOf,
  specOf,
  statusOf,
  textOf,
} from '../fields.ts'
import { ageColumn, column, nameColumn, type PrintedKind, wide } from './column.ts'
import { firstFew, labelsText, loadBalancerText, selectorTextOrNone } from './printed-text.ts'

function externalIp(object: Fields): string {
  const { type, externalIPs, externalName } = specOf(object)
  const external = Array.isArray(externalIPs) ? externalIPs.map(String) : []
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.length === 0 ? '<none>' : external.join(',')
    case 'LoadBalancer': {
      const balanced = loadBalancerText(statusOf(object)['loadBalancer'])
      const all = [...(balanced === '' ? [] : [balanced]), ...external]
      return all.length === 0 ? '<pending>' : all.join(',')
    }
    case 'ExternalName':
      return textOf(externalName) ?? ''
    default:
      return '<unknown>'
  }
}

function portText({ port, nodePort, protocol }: Fields): string {
  const node = countOf(nodePort) > 0 ? `:${countOf(nodePort)}` : ''
  return `${countOf(port)}${node}/${textOf(protocol) ?? ''}`
}

export const serviceColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Type', 'string', (object) => textOf(specOf(object)['type']) ?? ''),
    column('Cluster-IP', 'string', (object) => {
      const { clusterIPs } = specOf(object)
      return Array.isArray(clusterIPs) && clusterIPs.length > 0 ? String(clusterIPs[0]) : '<none>'
    }),
    column('External-IP', 'string', externalIp),
    column('Port(s)', 'string', (object) => {
      const ports = itemsOf(specOf(object)['ports']).map(portText)
      return ports.length === 0 ? '<none>' : ports.join(',')
    }),
    ageColumn,
    column('Selector', 'string', (object) => labelsText(specOf(object)['selector']), wide),
  ],
}

const shownHosts = 3

/** Rules without a host are not shown, but counted. */
function hostsText(object: Fields): string {
  const rules = itemsOf(specOf(object)['rules'])
  const hosts: string[] = []
  let isCut = false
  for (const { host } of rules) {
    if (hosts.length === shownHosts) isCut = true
    const text = textOf(host)
    if (!isCut && text !== undefined) hosts.push(text)
  }
  if (hosts.length === 0) return '*'
  return isCut ? `${hosts.join(',')} + ${rules.length - shownHosts} more...` : hosts.join(',')
}

export const ingressColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Class', 'string', (object) => textOf(specOf(object)['ingressClassName']) ?? '<none>'),
    column('Hosts', 'string', hostsText),
    column('Address', 'string', (object) => loadBalancerText(statusOf(object)['loadBalancer'])),
    column('Ports', 'string', (object) =>
      itemsOf(specOf(object)['tls']).length === 0 ? '80' : '80, 443',
    ),
    ageColumn,
  ],
}

export const ingressClassColumns: PrintedKind = {
  columns: [
    nameColumn((object) => {
      const { annotations } = fieldsOf(object['metadata'])
      const isDefault = fieldsOf(annotations)['ingressclass.kubernetes.io/is-default-class']
      return isDefault === 'true' ? ' (default)' : ''
    }),
    column('Controller', 'string', (object) => textOf(specOf(object)['controller']) ?? ''),
    column('Parameters', 'string', (object) => {
      const { parameters } = specOf(object)
      if (parameters === undefined || parameters === null) return '<none>'
      const { kind, apiGroup, name } = fieldsOf(parameters)
      const group = textOf(apiGroup) === undefined ? '' : `.${textOf(apiGroup)}`
      return `${textOf(kind) ?? ''}${group}/${textOf(name) ?? ''}`
    }),
    ageColumn,
  ],
}

export const networkPolicyColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Pod-Selector', 'string', (object) => selectorTextOrNone(specOf(object)['podSelector'])),
    ageColumn,
  ],
}

export const endpointSliceColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('AddressType', 'string', (object) => textOf(object['addressType']) ?? ''),
    column('Ports', 'string', (object) =>
      firstFew(
        itemsOf(object['ports']).map(({ port, name }) =>
          numberOf(port) === undefined ? (textOf(name) ?? '*') : String(port),
        ),
        3,
        '<unset>',
      ),
    ),
    column('Endpoints', 'string', (object) =>
      firstFew(
        itemsOf(object['endpoints']).flatMap(({ addresses }) =>
          Array.isArray(addresses) ? addresses.map(String) : [],
        ),
        3,
        '<unset>',
      ),
    ),
    ageColumn,
  ],
}
