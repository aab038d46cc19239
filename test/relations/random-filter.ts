import type { Fields, RandomCluster, Type } from './random-cluster.ts'
import { relations } from './recomputed.ts'

/** A random `where` on the objects of a kind, of relations within relations up to a depth. */
export function randomFilter(cluster: RandomCluster, type: Type, depth: number): Fields {
  const named = { name: { endsWith: String(cluster.below(10)) } }
  const own: Fields[] = [{}, named, { labels: [{ key: 'app', eq: cluster.pick(['web', 'db']) }] }]
  if (type === 'Pod') own.push({ phase: { eq: cluster.pick(['Running', 'Failed']) } })
  if (type === 'Event') own.push({ type: { eq: 'Warning' } })
  const fields = Object.entries(relations[type] ?? {})
  if (depth === 0 || fields.length === 0 || cluster.chance(0.15)) return cluster.pick(own)
  const inner = () => randomFilter(cluster, type, depth - 1)
  const choice = cluster.below(8)
  if (choice === 0) return { and: [inner(), inner()] }
  if (choice === 1) return { or: [inner(), inner()] }
  if (choice === 2) return { not: inner() }
  const [name, { to, many }] = cluster.pick(fields)
  const operator = cluster.pick(many ? ['some', 'none', 'every'] : ['is', 'isNot'])
  const related = { [name]: { [operator]: randomFilter(cluster, to, depth - 1) } }
  return cluster.chance(0.3) ? { ...related, ...cluster.pick(own) } : related
}

/** Whether a `where` asks anything of related objects. */
export function asksOfOthers(where: Fields, type: Type): boolean {
  return Object.entries<Fields>(where).some(([name, value]) => {
    if (name === 'and' || name === 'or') return value.some((one: Fields) => asksOfOthers(one, type))
    if (name === 'not') return asksOfOthers(value, type)
    return Object.hasOwn(relations[type] ?? {}, name)
  })
}
