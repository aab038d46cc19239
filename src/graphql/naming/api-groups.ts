/*
 * The prefixes of type names by API group, which keep kinds of the same name apart. Kubernetes' own groups have none.
 * Well-known groups have a fixed prefix, and a configured alias wins over it. Any other group is spelled out
 * (`stable.example.com`: `StableExampleCom`). A prefix depends on its arguments only, never on what a cluster has
 * installed.
 */

import { isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { graphqlNameOf } from './field-name.ts'
import { pascalCaseOfDnsName } from '../../lib/letter-case.ts'

/** The prefixes of well-known groups. They never change: a published name is permanent. */
const fixedAliases: ReadonlyMap<string, string> = new Map([
  ['gateway.networking.k8s.io', ''],
  ['metrics.k8s.io', ''],
  ['snapshot.storage.k8s.io', ''],
  ['cert-manager.io', 'CertManager'],
  ['acme.cert-manager.io', 'CertManagerAcme'],
  ['argoproj.io', 'Argo'],
  ['monitoring.coreos.com', 'Monitoring'],
  ['cluster.x-k8s.io', 'ClusterApi'],
  ['karpenter.sh', 'Karpenter'],
  ['keda.sh', 'Keda'],
  ['kustomize.toolkit.fluxcd.io', 'FluxKustomize'],
  ['helm.toolkit.fluxcd.io', 'FluxHelm'],
  ['source.toolkit.fluxcd.io', 'FluxSource'],
  ['notification.toolkit.fluxcd.io', 'FluxNotification'],
  ['image.toolkit.fluxcd.io', 'FluxImage'],
  ['external-secrets.io', 'ExternalSecrets'],
  ['networking.istio.io', 'Istio'],
  ['security.istio.io', 'IstioSecurity'],
  ['apiextensions.crossplane.io', 'Crossplane'],
  ['pkg.crossplane.io', 'CrossplanePkg'],
  ['kyverno.io', 'Kyverno'],
  ['tekton.dev', 'Tekton'],
  ['serving.knative.dev', 'Knative'],
  ['cilium.io', 'Cilium'],
  ['projectcalico.org', 'Calico'],
  ['velero.io', 'Velero'],
])

/** Configured prefixes by API group, which win over the fixed ones: `{ "stable.example.com": "Stable" }`. */
export type GroupAliases = Readonly<Record<string, string>>

export const groupAliasHint =
  'an alias is a capital letter followed by letters and digits, or "" for the bare kinds'

/** Whether an alias can begin a GraphQL name. */
export function isGroupAlias(alias: string): boolean {
  return /^(?:[A-Z][A-Za-z0-9]*)?$/.test(alias)
}

/** Checks that each alias can begin a GraphQL name. Throws `CodedError` `GROUP_ALIAS`. */
export function checkGroupAliases(aliases: GroupAliases): void {
  for (const [group, alias] of Object.entries(aliases)) {
    if (isGroupAlias(alias)) continue
    const message = `alias ${JSON.stringify(alias)} of the API group ${group}`
    throw new CodedError('GROUP_ALIAS', message, { value: alias, hint: groupAliasHint })
  }
}

/** The prefix of the names of a group's kinds, `''` for bare names. It depends on its arguments only. */
export function prefixOfGroup(group: string, aliases: GroupAliases = {}): string {
  if (Object.hasOwn(aliases, group)) return aliases[group] ?? ''
  if (isBuiltInGroup(group)) return ''
  return fixedAliases.get(group) ?? graphqlNameOf(pascalCaseOfDnsName(group))
}

/** The configured and the fixed prefixes, without the empty ones. */
export function knownPrefixes(aliases: GroupAliases = {}): readonly string[] {
  return [...Object.values(aliases), ...fixedAliases.values()].filter((prefix) => prefix !== '')
}
