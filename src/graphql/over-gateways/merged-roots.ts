/*
 * Root fields over several gateways that are no pages: objects by their ids and entities, whose order is that of the
 * arguments; the clusters; completions of a search text; the logs of pods; and graphs. Holders are asked for the objects or
 * clusters that they hold.
 */

import {
  type FieldNode,
  getNamedType,
  type GraphQLFormattedError,
  type GraphQLObjectType,
  isObjectType,
  Kind as NodeKind,
} from 'graphql'
import { folded } from '../../informer/store/term-list.ts'
import {
  type Completion,
  completionTerms,
  maxCounted,
  sharesOf,
} from '../../query/page/completions.ts'
import { unfinishedText } from '../../query/page/search-text.ts'
import { readObjectId } from '../model/object-id.ts'
import { workloadPlace } from '../model/workload-order.ts'
import { plainFacts } from './merged-facts.ts'
import {
  allOf,
  distinctErrors,
  failedOf,
  type FieldPart,
  listOf,
  type Merged,
  type MergedField,
  type MergeMeans,
  recordOf,
  select,
  selectAs,
} from './merged-field.ts'
import type { Holder, RoutedField } from './routes.ts'

/** `objects` and `_entities`: each holder is asked for those of its clusters. */
export class MergedItems implements MergedField {
  readonly #means: MergeMeans
  readonly #field: RoutedField
  readonly #argument: 'ids' | 'representations'
  /** The positions of the items that each holder is asked for. */
  readonly #positions: ReadonlyMap<Holder, readonly number[]>

  constructor(means: MergeMeans, field: RoutedField, argument: 'ids' | 'representations') {
    this.#means = means
    this.#field = field
    this.#argument = argument
    const [first] = means.operation.served.clusters.keys()
    // Any gateway tells what is wrong with an item that names no cluster.
    const [anyHolder] = field.holders.keys()
    const holders = new Map(
      Array.from(field.holders, ([holder, clusters]) =>
        clusters.map((cluster) => [cluster, holder] as const),
      ).flat(),
    )
    const holderOf = (item: unknown): Holder => {
      const { id, clusterName = first } = recordOf(item)
      const named = typeof item === 'string' ? item : id
      const cluster = typeof named === 'string' ? readObjectId(named)?.cluster : clusterName
      return holders.has(String(cluster)) ? holders.get(String(cluster)) : anyHolder
    }
    const items = listOf(field.args[argument]).map((item, at) => ({ at, holder: holderOf(item) }))
    const byHolder = Map.groupBy(items, ({ holder }) => holder)
    this.#positions = new Map(
      Array.from(byHolder, ([holder, ones]) => [holder, ones.map(({ at }) => at)]),
    )
  }

  asked(holder: Holder): readonly FieldNode[] | undefined {
    const positions = this.#positions.get(holder)
    const { key, nodes, args, field } = this.#field
    if (positions === undefined) return undefined
    const type = field?.args.find(({ name }) => name === this.#argument)?.type
    const items = listOf(args[this.#argument])
    const variable = this.#means.variable(
      `${key}_${[...this.#positions.keys()].indexOf(holder)}`,
      String(type),
      positions.map((at) => items[at]),
    )
    const selections = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
    return [selectAs(this.#field, selections, { [this.#argument]: variable })]
  }

  merged(parts: readonly FieldPart[]): Merged {
    const failed = failedOf(this.#field, parts)
    if (failed !== undefined) return failed
    const values = listOf(this.#field.args[this.#argument]).map((): unknown => null)
    const errors = parts.flatMap(({ holder, value, errors: own }) => {
      const positions = this.#positions.get(holder) ?? []
      for (const [at, one] of listOf(value).entries()) values[positions[at] ?? 0] = one
      return own.map((error) => placedAt(error, (at) => positions[at], this.#argument))
    })
    this.#means.budget.spend('rows', values.length)
    return { value: values, errors: distinctErrors(errors) }
  }
}

/** An error of an item of a list, at its position in the whole list. */
function placedAt(
  error: GraphQLFormattedError,
  positionOf: (at: number) => number | undefined,
  argument?: string,
): GraphQLFormattedError {
  const [root, at, ...rest] = error.path ?? []
  const { extensions = {} } = error
  const [, named] = /^\w+\[(\d+)\]$/.exec(String(extensions['argument'])) ?? []
  const position = named === undefined ? undefined : positionOf(Number(named))
  return {
    ...error,
    ...(root !== undefined &&
      typeof at === 'number' && { path: [root, positionOf(at) ?? at, ...rest] }),
    ...(position !== undefined &&
      argument !== undefined && {
        message: error.message.replace(`${argument}[${named}]`, `${argument}[${position}]`),
        extensions: { ...extensions, argument: `${argument}[${position}]` },
      }),
  }
}

/** `gatewayClusters`, in the order of the fleet. */
export class MergedClusters implements MergedField {
  readonly #means: MergeMeans
  readonly #field: RoutedField

  constructor(means: MergeMeans, field: RoutedField) {
    this.#means = means
    this.#field = field
  }

  asked(): readonly FieldNode[] {
    const selections = this.#field.nodes.flatMap(
      ({ selectionSet }) => selectionSet?.selections ?? [],
    )
    return [selectAs(this.#field, [...selections, select('name', { alias: this.#name })])]
  }

  get #name(): string {
    return `${this.#means.prefix}name`
  }

  merged(parts: readonly FieldPart[]): Merged {
    const failed = failedOf(this.#field, parts)
    if (failed !== undefined) return failed
    const names = [...this.#means.operation.served.clusters.keys()]
    const clusters = parts
      .flatMap((part) =>
        listOf(part.value).map((one, at) => ({ part, at, cluster: recordOf(one) })),
      )
      .toSorted(
        (a, b) =>
          names.indexOf(String(a.cluster[this.#name])) -
          names.indexOf(String(b.cluster[this.#name])),
      )
    const errors = parts.flatMap((part) =>
      part.errors.map((error) =>
        placedAt(error, (at) => clusters.findIndex((one) => one.part === part && one.at === at)),
      ),
    )
    return {
      value: clusters.map(({ cluster }) => without(cluster, this.#name)),
      errors: distinctErrors(errors),
    }
  }
}

function without(value: Readonly<Record<string, unknown>>, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

/** A value of the gateway's own, whose members are merged one by one. */
abstract class MergedValue implements MergedField {
  protected readonly means: MergeMeans
  protected readonly field: RoutedField
  protected readonly type: GraphQLObjectType

  constructor(means: MergeMeans, field: RoutedField) {
    this.means = means
    this.field = field
    const type = field.field && getNamedType(field.field.type)
    if (!isObjectType(type)) throw new TypeError(`${field.key} is no object`)
    this.type = type
  }

  abstract asked(holder: Holder): readonly FieldNode[]

  /** The whole value. */
  protected abstract whole(values: readonly Readonly<Record<string, unknown>>[]): object

  merged(parts: readonly FieldPart[]): Merged {
    const failed = failedOf(this.field, parts)
    if (failed !== undefined) return failed
    const whole = this.whole(parts.map(({ value }) => recordOf(value)))
    const value = this.means.projected(this.type, this.field.nodes, whole)
    return { value, errors: distinctErrors(parts.flatMap(({ errors }) => errors)) }
  }

  /** A member that is merged as a fact of lists is. */
  protected fact(name: string, values: readonly Readonly<Record<string, unknown>>[]): unknown {
    const told = values.map((value) => value[name])
    return plainFacts[name]?.(told, () => Promise.resolve([]), [])
  }
}

const factsOfPlaces = ['types', 'complete', 'notLookedAt', 'staleSince', 'incomplete'] as const

function idOf({ term, type, insert }: Completion): string {
  return term === 'KIND' ? type : insert
}

/** The most completions that are asked for: enough of each term, since terms share them evenly. */
const mostCompletions = '100'

export class MergedCompletions extends MergedValue {
  asked(): readonly FieldNode[] {
    const first = { kind: NodeKind.INT, value: mostCompletions } as const
    return [selectAs(this.field, allOf(this.type) ?? [], { first })]
  }

  protected whole(values: readonly Readonly<Record<string, unknown>>[]): object {
    const { text, first } = this.field.args as {
      readonly text: string
      readonly first?: number | null
    }
    const { last: word, from } = unfinishedText(text)
    const found = new Map<string, Completion>()
    for (const one of values.flatMap((value) => listOf(value['completions']) as Completion[])) {
      const key = `${one.term} ${one.insert}`
      const known = found.get(key)
      if (known === undefined) found.set(key, one)
      else {
        const { type } = this.#orderOf(known) <= this.#orderOf(one) ? known : one
        found.set(key, { ...one, type, count: Math.min(maxCounted, known.count + one.count) })
      }
    }
    const start = word.start.toLowerCase()
    const orderOf = (one: Completion): string => {
      if (one.term === 'NAME') return `${this.#orderOf(one)} ${folded(one.text)}`
      const isInner = one.term === 'LABEL_KEY' && !one.text.toLowerCase().startsWith(start)
      return (isInner ? '1' : '0') + folded(one.text)
    }
    const terms = completionTerms.map((term) =>
      [...found.values()]
        .filter((one) => one.term === term)
        .map((one) => ({ one, order: orderOf(one), id: idOf(one) }))
        .toSorted((a, b) =>
          a.order === b.order ? (a.id < b.id ? -1 : 1) : a.order < b.order ? -1 : 1,
        ),
    )
    const shares = sharesOf(first, terms)
    const hasMore = values.some((value) => value['hasMore'] === true)
    return {
      completions: terms.flatMap((ones, at) => ones.slice(0, shares[at]).map(({ one }) => one)),
      from,
      hasMore: hasMore || terms.some(({ length }, at) => length > (shares[at] ?? 0)),
      ...Object.fromEntries(factsOfPlaces.map((name) => [name, this.fact(name, values)])),
    }
  }

  /** The order of the types of a search. */
  #orderOf({ type }: Completion): string {
    const kind = this.means.operation.served.kinds.get(type)
    const place = kind === undefined ? 999 : workloadPlace(kind)
    return `${String(place).padStart(3, '0')} ${type}`
  }
}

export class MergedLogs extends MergedValue {
  asked(): readonly FieldNode[] {
    return [selectAs(this.field, allOf(this.type) ?? [])]
  }

  protected whole(values: readonly Readonly<Record<string, unknown>>[]): object {
    const lines = values.flatMap((value) => listOf(value['lines']))
    this.means.budget.spend('rows', lines.length)
    const sumOf = (name: string): number =>
      values.reduce((sum, value) => sum + Number(value[name]), 0)
    return {
      lines: inOrderOfTime(values.map((value) => listOf(value['lines']).map(recordOf))),
      streams: values.flatMap((value) => listOf(value['streams'])),
      skipped: sumOf('skipped'),
      notFollowed: sumOf('notFollowed'),
      incomplete: this.fact('incomplete', values),
    }
  }
}

/** The lines of several logs in the order of their times. A line without a time comes behind the one before it. */
export function inOrderOfTime<T extends { readonly time?: unknown }>(
  logs: readonly (readonly T[])[],
): readonly T[] {
  const timed = logs.flatMap((lines) => {
    let latest = ''
    return lines.map((line) => {
      const { time } = line
      if (typeof time === 'string' && time > latest) latest = time
      return { line, time: latest }
    })
  })
  return timed
    .toSorted((a, b) => (a.time === b.time ? 0 : a.time < b.time ? -1 : 1))
    .map(({ line }) => line)
}
