/*
 * What a merged subscription is about: the frames of the holders go in (`take`), and what the subscriber has not been sent
 * comes out (`next`). Rows of a list pass through (`MergedList`). A page, problems and counts are known of each part as a
 * whole, and merged anew when one of them changes (`MergedPage`, `MergedProblems`, `CountFrames`, `ClusterFrames`). Lines of
 * logs and changes of the past are put in order (`LogFrames`, `ChangeFrames`).
 */

import { hash } from 'node:crypto'
import {
  type FieldNode,
  type GraphQLFormattedError,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
} from 'graphql'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'
import { readObjectId } from '../model/object-id.ts'
import type { Visibility } from '../schema/gateway-types.ts'
import type { MergeMeans } from './merged-field.ts'
import type { RoutedField } from './routes.ts'

/** Some clusters that one gateway is followed for, as far as the content needs to know it. */
export interface ContentPart {
  readonly clusters: readonly string[]
  /** Whether it takes the place of another part, or has begun anew. */
  readonly isSuccessor: boolean
  /** Whether it stands aside while the part that it replaces is still shown. */
  readonly isHidden: boolean
  /** Whether its gateway does not answer now: rows that were not sent are not sent. */
  readonly isLost: boolean
  /** How much of what the list asks for the caller may see. */
  readonly visible: Visibility
}

/** A frame of a holder: the field's value with the client's members and ours, and the errors in it. */
export interface HeldFrame {
  readonly value: unknown
  readonly errors: readonly GraphQLFormattedError[]
  /** Whether it is part of a snapshot that begins anew, begins with it, or ends with it. */
  readonly isSnapshot: boolean
  readonly reset: boolean
  readonly endsSnapshot: boolean
  /** The clusters that the holder cannot read now. */
  readonly lost: ReadonlySet<string>
}

/** What the next frame says, by the names of fields; the errors of its rows, with paths below the field. */
export interface MergedFrame {
  readonly values: Readonly<Record<string, unknown>>
  readonly errors: readonly GraphQLFormattedError[]
  readonly rows: number
}

/** The field that is followed. */
export interface FollowedField {
  readonly means: MergeMeans
  readonly field: RoutedField
  /** The type of a frame. */
  readonly type: GraphQLObjectType
  readonly pageSize: number
}

export abstract class MergedContent {
  /** What holders are asked besides the client's selection. */
  abstract readonly selects: string
  /** Whether the parts must all be there before the first frame, and when the parts change. */
  readonly isWhole: boolean = true
  /** Whether a token leads to the changes since. */
  readonly isResumable: boolean = false
  /** Whether holders are asked what the client selects; otherwise only what is selected here. */
  readonly asksSelection: boolean = true
  protected readonly of: FollowedField

  constructor(of: FollowedField) {
    this.of = of
  }

  abstract take(part: ContentPart, frame: HeldFrame): void

  /** Arguments for the holder of a part, in place of the client's. */
  argumentsOf(_part: ContentPart): Readonly<Record<string, unknown>> {
    return {}
  }

  /** Whether a snapshot of a part that is not the first one leads to the right rows, without the others. */
  get takesResets(): boolean {
    return true
  }

  /** The client holds rows that are not known here. */
  resumes(): void {}

  /** What the subscriber has not been sent; `undefined`: nothing. `force`: the subscriber is sent a frame anyway. */
  abstract next(force: boolean): MergedFrame | undefined

  /** The part is over. */
  left(_part: ContentPart): void {}

  /** The rows of some clusters are gone. */
  removed(_clusters: readonly string[], _removal: RemovalReason): void {}

  /** Forgets everything: the next frame resets. */
  restart(): void {}

  /** How many rows wait. */
  get waiting(): number {
    return 0
  }

  /** The approximate memory of what is kept of rows. */
  get bytes(): number {
    return 0
  }

  /** The value of a field of the frame as the client selects it. */
  select(name: string, value: unknown, nodes: readonly FieldNode[]): unknown {
    const field = this.of.type.getFields()[name]
    return field === undefined ? null : this.of.means.projected(field.type, nodes, value)
  }

  /** Selects a field of the frame under our alias. */
  protected alias(name: string, field: string = name): string {
    return `${this.of.means.prefix}${name}: ${field}`
  }

  /** A member of a frame by our alias. */
  protected ours(value: unknown, name: string): unknown {
    return isRecord(value) ? value[this.of.means.prefix + name] : undefined
  }
}

export type RemovalReason = 'DELETED' | 'UNMATCHED' | 'HIDDEN' | 'CLUSTER_REMOVED'

/** The fields `changes` of a frame by response key, each with the fields of a change. */
export class ChangeItems {
  readonly keys: readonly string[]
  readonly #fields: readonly (readonly (readonly [key: string, name: string])[])[]
  readonly #type: string

  constructor({ means, field, type }: FollowedField) {
    const ofChange = getNamedType(type.getFields()['changes']?.type)
    if (!isObjectType(ofChange)) throw new TypeError(`${type.name} has no changes`)
    this.#type = ofChange.name
    const changes = [...means.fieldsOf(field.nodes, type)].filter(
      ([, [node]]) => node?.name.value === 'changes',
    )
    this.keys = changes.map(([key]) => key)
    this.#fields = changes.map(([, of]) =>
      Array.from(
        means.fieldsOf(of, ofChange),
        ([key, [node]]) => [key, node?.name.value ?? ''] as const,
      ),
    )
  }

  /** The client's forms of the change at a position. */
  at(value: unknown, at: number): readonly unknown[] {
    return this.keys.map((key) => {
      const items = isRecord(value) ? value[key] : undefined
      return Array.isArray(items) ? (items[at] as unknown) : undefined
    })
  }

  /** The forms with other values of some fields, by name. Other members of `items` stay; without them, they are null. */
  with(items: readonly unknown[], values: Readonly<Record<string, unknown>>): readonly unknown[] {
    return this.#fields.map((fields, at) => {
      const item = items[at]
      return Object.fromEntries(
        fields.map(([key, name]) => {
          if (name in values) return [key, values[name]]
          if (name === '__typename') return [key, this.#type]
          return [key, isRecord(item) ? (item[key] ?? null) : null]
        }),
      )
    })
  }

  /** The text of what a change shows of its row. */
  shown(items: readonly unknown[]): string {
    const rows = this.#fields.flatMap((fields, at) => {
      const item = items[at]
      return fields.flatMap(([key, name]) =>
        name === 'object' && isRecord(item) ? [item[key] ?? null] : [],
      )
    })
    return JSON.stringify(rows)
  }
}

/** The errors of each change, with paths below the change; and those of the frame, below its field. */
export function errorsByRow(
  errors: readonly GraphQLFormattedError[],
  { keys }: ChangeItems,
): ReadonlyMap<number, readonly GraphQLFormattedError[]> {
  const rows = new Map<number, GraphQLFormattedError[]>()
  for (const error of errors) {
    const [, key, at] = error.path ?? []
    if (typeof key !== 'string' || typeof at !== 'number' || !keys.includes(key)) continue
    getOrInsert(rows, at, () => []).push(error)
  }
  return rows
}

/** An error of a change at another position. */
function movedError(error: GraphQLFormattedError, to: number): GraphQLFormattedError {
  const [field = '', key = '', , ...rest] = error.path ?? []
  return { ...error, path: [field, key, to, ...rest] }
}

export interface WaitingChange {
  readonly items: readonly unknown[]
  readonly errors: readonly GraphQLFormattedError[]
}

export function frameOf(
  keys: readonly string[],
  changes: readonly WaitingChange[],
  further: Readonly<Record<string, unknown>> = {},
): MergedFrame {
  const lists = new Map(keys.map((key) => [key, [] as unknown[]]))
  const errors: GraphQLFormattedError[] = []
  for (const [to, { items, errors: ofChange }] of changes.entries()) {
    for (const [at, key] of keys.entries()) lists.get(key)?.push(items[at])
    for (const error of ofChange) errors.push(movedError(error, to))
  }
  return { values: { changes: lists, ...further }, errors, rows: changes.length }
}

/** The approximate memory of the identity of a row: its id, and entries in two maps. */
const identityBytes = 200
/** The most rows whose identity a subscription keeps. Beyond it, a part that begins anew lets the whole list begin anew. */
const maxKeptRows = 50_000

/**
 * The rows of a list. To say what is gone when a holder begins anew or another one takes a cluster over, it keeps the ids of
 * all rows, and a hash of what was sent of each: a row that is the same is not sent again. A list that was resumed, or is
 * large, does not know its rows: it begins anew then.
 */
export class MergedList extends MergedContent {
  readonly selects: string = this.alias('changes', 'changes { type removal id: objectId }')
  override readonly isWhole = false
  override readonly isResumable = true
  readonly #items: ChangeItems
  readonly #waiting: WaitingChange[] = []
  /** By cluster, then by id. */
  #rows: Map<string, Map<string, number>> | undefined = new Map()
  #count = 0
  /** The rows that the snapshot of a part has not shown yet, by cluster. */
  readonly #unseen = new Map<string, Set<string>>()
  readonly #isServed: (cluster: string) => boolean

  constructor(of: FollowedField, isServed: (cluster: string) => boolean) {
    super(of)
    this.#items = new ChangeItems(of)
    this.#isServed = isServed
  }

  override get waiting(): number {
    return this.#waiting.length
  }

  override get bytes(): number {
    return this.#count * identityBytes
  }

  override get takesResets(): boolean {
    return this.#rows !== undefined
  }

  override resumes(): void {
    this.#rows = undefined
    this.#count = 0
    this.#unseen.clear()
  }

  override restart(): void {
    this.#waiting.length = 0
    this.#unseen.clear()
    this.#rows = new Map()
    this.#count = 0
  }

  take(part: ContentPart, frame: HeldFrame): void {
    const { value, errors, reset, endsSnapshot, isSnapshot, lost } = frame
    if (reset) {
      for (const cluster of part.clusters) {
        const rows = this.#rows?.get(cluster)
        if (rows !== undefined && rows.size > 0) this.#unseen.set(cluster, new Set(rows.keys()))
      }
    }
    const byRow = errorsByRow(errors, this.#items)
    const changes = (this.ours(value, 'changes') ?? []) as readonly RawChange[]
    for (const [at, change] of changes.entries()) {
      const items = this.#items.at(value, at)
      this.#change(change, items, { isSnapshot, errors: byRow.get(at) ?? [] })
    }
    if (endsSnapshot || !isSnapshot) {
      for (const cluster of part.clusters) {
        if (lost.has(cluster)) continue
        const gone = this.#unseen.get(cluster)
        this.#unseen.delete(cluster)
        for (const id of gone ?? []) this.#remove(cluster, id, this.#removalIn(part))
      }
    }
  }

  #change(
    { id, type, removal }: RawChange,
    items: readonly unknown[],
    of: { readonly isSnapshot: boolean; readonly errors: readonly GraphQLFormattedError[] },
  ): void {
    const { errors, isSnapshot } = of
    if (this.#rows === undefined) return void this.#waiting.push({ items, errors })
    const cluster = readObjectId(id)?.cluster ?? ''
    const rows = getOrInsert(this.#rows, cluster, () => new Map())
    const before = rows.get(id)
    this.#unseen.get(cluster)?.delete(id)
    if (type === 'REMOVED') {
      // A cluster that goes to another gateway is not removed.
      const isMoved = removal === 'CLUSTER_REMOVED' && this.#isServed(cluster)
      if (before === undefined || isMoved) return undefined
      rows.delete(id)
      this.#count -= 1
      return void this.#waiting.push({ items, errors })
    }
    const shown = shownHash(this.#items.shown(items), errors)
    if (isSnapshot && before === shown) return undefined
    if (before === undefined) this.#count += 1
    rows.set(id, shown)
    const now = before === undefined ? 'ADDED' : 'MODIFIED'
    const told = now === type ? items : this.#items.with(items, { type: now })
    this.#waiting.push({ items: told, errors })
    if (this.#count > maxKeptRows && this.#unseen.size === 0) this.resumes()
    return undefined
  }

  /**
   * Why a row is not in a snapshot. The holder does not say, so it is the reason that claims least: one that would not tell
   * the caller of what is hidden, nor let a client forget an object that is still there.
   */
  #removalIn({ visible }: ContentPart): RemovalReason {
    const { labelSelector, where } = this.of.field.args
    if (visible !== 'ALL') return 'HIDDEN'
    return (labelSelector ?? where ?? null) === null ? 'DELETED' : 'UNMATCHED'
  }

  #remove(cluster: string, id: string, removal: RemovalReason): void {
    if (this.#rows?.get(cluster)?.delete(id) !== true) return
    this.#count -= 1
    const values = { type: 'REMOVED', removal, objectId: id, finalStateKnown: false }
    this.#waiting.push({ items: this.#items.with([], values), errors: [] })
  }

  override removed(clusters: readonly string[], removal: RemovalReason): void {
    for (const cluster of clusters) {
      for (const id of this.#rows?.get(cluster)?.keys() ?? []) {
        this.#remove(cluster, id, removal)
      }
      this.#rows?.delete(cluster)
      this.#unseen.delete(cluster)
    }
  }

  next(force: boolean): MergedFrame | undefined {
    if (this.#waiting.length === 0 && !force) return undefined
    return frameOf(this.#items.keys, this.#waiting.splice(0))
  }
}

export interface RawChange {
  readonly id: string
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  readonly removal: RemovalReason | null
}

/** 48 bits of a hash of what a row shows. */
function shownHash(text: string, errors: readonly GraphQLFormattedError[]): number {
  const all =
    errors.length === 0 ? text : text + JSON.stringify(errors.map(({ message }) => message))
  return Number.parseInt(hash('sha1', all, 'hex').slice(0, 12), 16)
}

/** What is known of each part as a whole. Old parts stay until those that replace them are there: see `MergedFrames`. */
export abstract class MergedParts<P> extends MergedContent {
  protected readonly parts: Map<ContentPart, P> = new Map()

  override left(part: ContentPart): void {
    this.parts.delete(part)
  }

  protected get shown(): readonly P[] {
    return [...this.parts].flatMap(([part, one]) => (part.isHidden ? [] : [one]))
  }
}
