/*
 * The order of the rows of a list whose parts come from several gateways, read from their cursors: they have the values of
 * the order. Changes and differences have numbers and keys of the archive in their cursors, which stand for the end of what
 * was looked at, and so their rows are compared by the change itself.
 *
 * Long values are cut in cursors. Where two have the same beginning, the order of their parts decides, as for equal values:
 * that is not the order of the whole values, but it is one, so no row is lost or told twice (`rowsBefore`).
 */

import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import {
  type CutValue,
  encodeFields,
  fieldsOf,
  type PlacedCursor,
  placeInCursor,
  valueHash,
} from '../../query/page/cursor.ts'
import { compareKeys } from '../../query/page/list-order.ts'
import { problemOrder } from '../../query/problems/problem-page.ts'
import { readObjectId } from '../model/object-id.ts'
import type { ProblemsArguments } from '../schema/gateway-types.ts'
import type { ObjectRef } from '../schema/object-ref.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { recordOf, select } from './merged-field.ts'
import type { RoutedField } from './routes.ts'

/** A row, as its order needs it. */
export interface OrderedRow {
  readonly cursor: string
  /** What {@link RowOrder.needs} selects of it. */
  readonly told: Readonly<Record<string, unknown>>
}

export interface RowOrder {
  /** Further fields of a row. */
  readonly needs?: readonly ReturnType<typeof select>[]
  /** Both rows are of different holders. */
  compare(a: OrderedRow, b: OrderedRow): number
  /** Whether everything up to a row is told in a page that ends at a cursor. */
  isWithin(row: OrderedRow, end: string): boolean
  /** The cursor that is nearest to the beginning comes first. */
  compareEnds(a: string, b: string): number
  /** The cursor of the last row of a page, if another row follows it. */
  endAt(last: OrderedRow, next: OrderedRow): string
  /** Rows of the holder at the beginning of its page that are at or before the cursor in this order, although it begins there. */
  readonly isBefore?: (row: OrderedRow, after: string) => boolean
}

/** The order of a connection's rows. `form`: that of the field's source. */
export function rowOrderOf(
  { field, args }: RoutedField,
  form: string,
  served: ServedSchema,
): RowOrder | undefined {
  switch (form) {
    case 'list':
    case 'objectList':
      return byCursor(inOrder(descendingIn(args['orderBy'])))
    case 'kubernetesObjects':
      return byCursor(inOrder(descendingIn(args['orderBy'], 'age')))
    default:
  }
  switch (field?.name) {
    case 'problems': {
      const terms = problemOrder((args as ProblemsArguments).orderBy)
      return byCursor(inOrder(terms.map(({ descending }) => descending)))
    }
    case 'tlsCertificates':
      return byCursor(inOrder([false]))
    case 'accessGrants':
      return byCursor(inOrder([]))
    case 'search':
      return byCursor(compareResults)
    case 'changes':
      return newestFirst
    case 'differences':
      return byPlace(served)
    default:
      return undefined
  }
}

/** Which keys of an `orderBy` are descending. `reversed`: an index whose falling values are a rising order. */
export function descendingIn(orderBy: unknown, reversed?: string): readonly boolean[] {
  if (!Array.isArray(orderBy)) return []
  return orderBy.map((key) => {
    const [entry] = Object.entries(recordOf(key))
    return (entry?.[1] === 'DESC') !== (entry !== undefined && entry[0] === reversed)
  })
}

export type ComparePlaces = (a: PlacedCursor, b: PlacedCursor) => number

function byCursor(compare: ComparePlaces): RowOrder {
  const places = new Map<string, PlacedCursor>()
  const placeOf = (cursor: string): PlacedCursor => {
    let place = places.get(cursor)
    if (place === undefined) places.set(cursor, (place = placeInCursor(cursor)))
    return place
  }
  const compareEnds = (a: string, b: string): number => compare(placeOf(a), placeOf(b))
  return {
    compare: (a, b) => compareEnds(a.cursor, b.cursor),
    isWithin: ({ cursor }, end) => cursor === end || compareEnds(cursor, end) <= 0,
    compareEnds,
    endAt: ({ cursor }) => cursor,
    isBefore(row, after) {
      const [one, other] = [placeOf(row.cursor), placeOf(after)]
      return one.part !== other.part && compare(one, other) <= 0
    },
  }
}

/** By values, then by part and key. */
export function inOrder(descending: readonly boolean[]): ComparePlaces {
  return (a, b) => {
    for (const [at, isDescending] of descending.entries()) {
      const byValue = compareValues(a.values[at], b.values[at])
      if (byValue === 'unknown') break
      if (byValue === 0) continue
      const isMissing = a.values[at] === undefined || b.values[at] === undefined
      return isDescending && !isMissing ? -byValue : byValue
    }
    if (a.part !== b.part) return a.part < b.part ? -1 : 1
    return compareKeys(a.key, b.key)
  }
}

type CursorValue = string | CutValue | undefined

/** Missing values come last. `unknown`: what is left of the values cannot decide. */
function compareValues(a: CursorValue, b: CursorValue): number | 'unknown' {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  const [start, otherStart] = [startOf(a), startOf(b)]
  const length = Math.min(start.length, otherStart.length)
  const [one, other] = [start.slice(0, length), otherStart.slice(0, length)]
  if (one !== other) return one < other ? -1 : 1
  if (hashOf(a) === hashOf(b)) return 0
  // A whole value that is no longer than the beginning of the other one.
  if (typeof a === 'string' && a.length === length) return -1
  if (typeof b === 'string' && b.length === length) return 1
  return 'unknown'
}

function startOf(value: string | CutValue): string {
  return typeof value === 'string' ? value : value[0]
}

function hashOf(value: string | CutValue): string {
  return typeof value === 'string' ? valueHash(value) : value[1]
}

/** By score, the place of the kind, its type, the cluster, and the key. */
const compareResults: ComparePlaces = (a, b) => {
  for (const at of [0, 1]) {
    const difference = Number(a.values[at]) - Number(b.values[at])
    if (difference !== 0) return difference
  }
  if (a.part !== b.part) return a.part < b.part ? -1 : 1
  const [one, other] = [String(a.values[2]), String(b.values[2])]
  return one === other ? compareKeys(a.key, b.key) : one < other ? -1 : 1
}

/** The members of a cursor of the archive: its version, its hash, and the end of what was looked at. */
function archiveCursor(cursor: string): readonly [unknown, unknown, string] {
  const [version, hash, end] = fieldsOf(cursor) ?? []
  return [version, hash, String(end)]
}

const newestFirst: RowOrder = {
  needs: [select('id')],
  compare: (a, b) => numberOfChange(b) - numberOfChange(a),
  isWithin: (row, end) => numberOfChange(row) >= Number(archiveCursor(end)[2]),
  compareEnds: (a, b) => Number(archiveCursor(b)[2]) - Number(archiveCursor(a)[2]),
  /** Directly before the next row: what the last one has folded until then is told. */
  endAt({ cursor }, next) {
    const [version, hash] = archiveCursor(cursor)
    return encodeFields([version, hash, String(numberOfChange(next) + 1)])
  },
}

function numberOfChange({ told }: OrderedRow): number {
  return Number(fieldsOf(String(told['id']))?.[1])
}

/** The object of a change. */
function objectOf({ told }: OrderedRow): Pick<ObjectRef, (typeof namesOfObject)[number]> {
  return told['object'] as ReturnType<typeof objectOf>
}

function clusterOf(row: OrderedRow): string {
  return readObjectId(objectOf(row).id)?.cluster ?? ''
}

/** The cluster in a cursor of differences; `''` for the end of all. */
function clusterAt(cursor: string): string {
  const place: unknown = JSON.parse(archiveCursor(cursor)[2])
  return Array.isArray(place) ? String(place[0]) : ''
}

function compareNames(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

const namesOfObject = ['id', 'apiVersion', 'kind', 'namespace', 'name'] as const

/** By cluster. A holder has all rows of a cluster, in their order. */
function byPlace({ kindOf }: ServedSchema): RowOrder {
  const placeOf = (row: OrderedRow): readonly string[] => {
    const { apiVersion, kind, namespace, name } = objectOf(row)
    const { group } = splitApiVersion(apiVersion ?? '')
    const resource = kindOf(group, kind)?.resource.resource ?? ''
    return [clusterOf(row), group, resource, namespace ?? '', name]
  }
  return {
    needs: [select('object', { selections: namesOfObject.map((name) => select(name)) })],
    compare: (a, b) => compareNames(clusterOf(a), clusterOf(b)),
    isWithin: (row, end) => clusterOf(row) <= clusterAt(end),
    compareEnds: (a, b) => compareNames(clusterAt(a), clusterAt(b)),
    /** The two rows of an object that was made anew may be on two pages. */
    endAt(last, next) {
      const [version, hash] = archiveCursor(last.cursor)
      const [place, nextPlace] = [placeOf(last), placeOf(next)]
      const isHalf = JSON.stringify(place) === JSON.stringify(nextPlace)
      return encodeFields([version, hash, JSON.stringify([...place, isHalf])])
    },
  }
}
