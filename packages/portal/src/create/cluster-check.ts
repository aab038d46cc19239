/*
 * What is said of a document before its fields: that the cluster serves no such kind, and that its namespace is not there.
 * Neither is said of what an earlier document makes. Both are told while one types: the API server has the last word.
 */

import type { Problem } from '../edit/edited-text.ts'
import { createWords as say } from './create-words.ts'
import type { FieldsOf, KindFields } from './kind-fields.ts'
import { definitionOf, makesNamespace, type ManifestDocument } from './manifest-text.ts'

/** What is known of the cluster that a text is for. */
export interface KnownCluster {
  readonly fields: KindFields
  readonly kinds: readonly { readonly kind: string; readonly apiVersion: string }[]
  /** Absent: not known, or the user may see none. */
  readonly namespaces: ReadonlySet<string> | undefined
}

export async function checkedByCluster(
  document: ManifestDocument,
  of: FieldsOf & { readonly cluster: string | undefined },
  all: readonly ManifestDocument[],
  { fields, kinds, namespaces }: KnownCluster,
): Promise<readonly Problem[]> {
  const { number, apiVersion, kind, namespace, lineOf, line } = document
  const earlier = all.slice(0, number - 1)
  const problems: Problem[] = []
  const note = (field: string, message: string): void => {
    problems.push({ message: `${field}: ${message}`, line: lineOf(field) ?? line })
  }
  if (definitionOf(document, earlier) === undefined && (await fields.isUnserved(of))) {
    const others = kinds.filter((one) => one.kind === kind).map((one) => one.apiVersion)
    note('kind', say.check.unserved(of.cluster, kind, apiVersion, others))
  }
  const isThere = (name: string): boolean =>
    namespaces === undefined ||
    namespaces.has(name) ||
    earlier.some((one) => makesNamespace(one, name))
  if (namespace !== undefined && !isThere(namespace)) {
    note('metadata.namespace', say.check.noNamespace(namespace))
  }
  return problems
}
