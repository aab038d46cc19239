import { getNamedType, type GraphQLObjectType, isListType, isObjectType } from 'graphql'
import { define, RelationCluster } from '../relation-cluster.ts'
import { type ExpectedLeads, type FieldCase, settle } from './field-case.ts'
import { fieldCategories, fieldDefinitions } from './field-kinds.ts'

/** Where fields lead, by the field and the type that it was asked of, and by UID. */
export type Leads = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

/** A part of an answer. */
interface Answered {
  readonly [field: string]: unknown
  readonly metadata: { readonly uid: string }
}

/** Fields of one list that are asked for at once. */
const fieldsAtOnce = 12

/** All cases in one cluster with all kinds, behind one gateway. */
export class FieldAnswers implements AsyncDisposable {
  /** What the cases say. */
  readonly expected: Leads
  readonly cluster: RelationCluster

  private constructor(cluster: RelationCluster, expected: Leads) {
    this.cluster = cluster
    this.expected = expected
  }

  static async of(cases: readonly FieldCase[]): Promise<FieldAnswers> {
    const settled = cases.map(settle)
    const cluster = await RelationCluster.start(
      { limits: { work: { rows: 100_000 } } },
      async (simulator) => define(simulator, fieldDefinitions, fieldCategories),
    )
    for (const [at, { objects }] of settled.entries()) cluster.create(`field-${at}`, objects)
    return new FieldAnswers(cluster, together(settled))
  }

  /** Asks every object of the cases for all fields that these are about. */
  async ask(): Promise<Leads> {
    const byType = new Map<string, string[]>()
    for (const key of this.expected.keys()) {
      const [field = '', type = ''] = key.split(' ')
      const fields = byType.get(type) ?? []
      byType.set(type, [...fields, field])
    }
    // Fields that look at the kinds which are cached find all of them.
    for (const type of byType.keys()) await this.#nodes(type, '')
    const leads = new Map<string, Map<string, readonly string[]>>()
    for (const [type, fields] of byType) {
      for (let at = 0; at < fields.length; at += fieldsAtOnce) {
        const some = fields.slice(at, at + fieldsAtOnce)
        const names = some.map((field) => field.split('.')[1] ?? '')
        const nodes = await this.#nodes(
          type,
          names.map((name) => this.#selection(type, name)).join(' '),
        )
        for (const [index, field] of some.entries()) {
          const found = nodes.map(
            (node) => [node.metadata.uid, uidsIn(node[names[index] ?? ''])] as const,
          )
          leads.set(`${field} ${type}`, new Map(found))
        }
      }
    }
    return leads
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]()
  }

  async #nodes(type: string, selection: string): Promise<readonly Answered[]> {
    const fields = Object.values(this.cluster.gateway.schema.getQueryType()?.getFields() ?? {})
    const list = fields.find((field) => getNamedType(field.type).name === `${type}Connection`)
    if (list === undefined) throw new Error(`no list of ${type}`)
    const nodes: Answered[] = []
    let after: string | undefined
    do {
      const place = after === undefined ? '' : `, after: "${after}"`
      const query = `{ found: ${list.name}(first: 100${place}) {
        pageInfo { endCursor hasNextPage } nodes { metadata { uid } ${selection} } } }`
      const { data, errors } = await this.cluster.ask(query)
      if (errors !== undefined) throw new Error(`${query}: ${JSON.stringify(errors)}`)
      nodes.push(...data.found.nodes)
      const { hasNextPage, endCursor } = data.found.pageInfo
      after = hasNextPage === true ? endCursor : undefined
    } while (after !== undefined)
    return nodes
  }

  #selection(typeName: string, name: string): string {
    const type = this.cluster.gateway.schema.getType(typeName) as GraphQLObjectType
    const field = isObjectType(type) ? type.getFields()[name] : undefined
    if (field === undefined) throw new Error(`${typeName} has no ${name}`)
    const to = getNamedType(field.type).name
    const identity = 'metadata { uid }'
    if (to === 'ObjectRef') return `${name} { object { ${identity} } }`
    if (isListType(field.type) || !to.endsWith('Connection')) return `${name} { ${identity} }`
    return `${name} { totalCount nodes { ${identity} } }`
  }
}

/** One field may be in several cases. */
function together(settled: readonly ExpectedLeads[]): Leads {
  const all = new Map<string, Map<string, readonly string[]>>()
  for (const { leads } of settled) {
    for (const [key, byUid] of leads) {
      all.set(key, new Map([...(all.get(key) ?? []), ...byUid]))
    }
  }
  return all
}

/** Whom a field leads to, sorted. Throws where a connection counts otherwise than it lists. */
function uidsIn(value: unknown): readonly string[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap(uidsIn).toSorted()
  const { metadata, object, nodes, totalCount } = value as Partial<Answered>
  if (object !== undefined) return uidsIn(object)
  if (metadata !== undefined) return [metadata.uid]
  const uids = uidsIn(nodes)
  if (totalCount !== uids.length) throw new Error(`${String(totalCount)} of ${uids.length} counted`)
  return uids
}
