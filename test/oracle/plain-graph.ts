import { NotFollowedError, type PlainRelations } from './plain-relations.ts'
import type { Declared, Json, Plain, PlainWorld } from './plain-world.ts'

/** A graph: its objects with their distance from a root, and the relations between them. */
export interface PlainGraph {
  readonly depths: ReadonlyMap<Plain, number>
  readonly edges: readonly { readonly from: Plain; readonly to: Plain; readonly relation: string }[]
}

/** What is around objects by named relations, as docs/graph-and-search.md has it. */
export function plainGraph(
  world: PlainWorld,
  follow: PlainRelations,
  roots: readonly Plain[],
  { relations, depth, maxNodes }: Json,
): PlainGraph {
  if (!relations) throw new NotFollowedError('the relations of kinds in memory')
  const depths = new Map(roots.map((root) => [root, 0]))
  const edges = new Map<string, PlainGraph['edges'][number]>()
  // Objects that are reached join the end.
  for (const [from, at] of depths) {
    if (at >= (depth ?? 3)) continue
    for (const { found, relation, isBackwards } of stepsFrom(from)) {
      for (const to of found) {
        if (!world.of(to.kind.type).includes(to)) continue
        if (!depths.has(to)) depths.set(to, at + 1)
        const edge = isBackwards ? { from: to, to: from, relation } : { from, to, relation }
        edges.set(
          [edge.from, edge.to].map(({ object }) => object.metadata.uid).join(' ') + relation,
          edge,
        )
      }
    }
  }
  if (depths.size > (maxNodes ?? 500)) throw new NotFollowedError('which objects are left out')
  return { depths, edges: [...edges.values()] }

  function* stepsFrom(from: Plain): Generator<{
    readonly found: readonly Plain[]
    readonly relation: string
    readonly isBackwards?: boolean
  }> {
    const { type } = from.kind
    const isNamed = (field: string): boolean =>
      relations.includes(field) || relations.includes(`${type}.${field}`)
    const owners = new Set<Plain>()
    const owned = new Set<string>()
    for (const [field, { type: named, directives }] of world.declared.get(type)?.fields ?? []) {
      const to = named.replace(/Connection$/, '')
      const [directive] = directives
      if (!isNamed(field) || directive === undefined || world.kind(to) === undefined) continue
      const found = follow.related(from, field)
      if (directive.name === 'owner' && !directive.args.through)
        for (const one of found) owners.add(one)
      if (directive.name === 'owned' && !directive.args.through) owned.add(to)
      const reversed = reversedBy(type, to, directive)
      yield { found, relation: reversed ?? `${type}.${field}`, isBackwards: reversed !== undefined }
    }
    const { namespace, name } = from.object.metadata
    const inNamespace = world.named('Namespace', undefined, namespace ?? '')
    if (isNamed('namespaceObject') && inNamespace !== undefined) {
      yield { found: [inNamespace], relation: `${type}.namespaceObject` }
    }
    if (isNamed('events')) {
      yield { found: follow.events(from, false), relation: `${type}.events` }
    }
    for (const { listField, namespaced, type: to } of type === 'Namespace' ? world.kinds : []) {
      if (!namespaced || listField === null || listField === 'events' || !isNamed(listField))
        continue
      const found = world.of(to).filter(({ object }) => object.metadata.namespace === name)
      yield { found, relation: `${to}.namespaceObject`, isBackwards: true }
    }
    if (isNamed('owners')) {
      const found = follow.owners(from).filter((one) => !owners.has(one))
      yield { found, relation: `${type}.owners` }
    }
    if (!isNamed('owned')) return
    for (const one of follow.owned(from)) {
      if (owned.has(one.kind.type)) continue
      yield { found: [one], relation: `${one.kind.type}.owners`, isBackwards: true }
    }
  }

  /** The relation that a field reads backwards: that of `@reverse`, or the one from an owned object to its owner. */
  function reversedBy(type: string, to: string, { name, args }: Declared): string | undefined {
    if (name === 'reverse') return args.of
    if (name !== 'owned') return undefined
    const chain = [to, ...[args.through ?? []].flat().toReversed(), type].join()
    for (const [field, { type: owner, directives }] of world.declared.get(to)?.fields ?? []) {
      const up = directives.find((one) => one.name === 'owner')
      if (up && [to, ...[up.args.through ?? []].flat(), owner].join() === chain)
        return `${to}.${field}`
    }
    return args.through ? undefined : `${to}.owners`
  }
}
