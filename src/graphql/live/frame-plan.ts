/*
 * The plan of a subscription: which lists a request follows (`FramePlans.of`), and how its frames become JSON
 * (`FrameCompiler`). The value writer writes a frame like any other value, with one exception: rows, previous values,
 * facets and changes are written earlier, once, when the caches are read, and the frame only takes their texts. A field
 * whose arguments name the kind has one plan for each kind, compiled at the first request for it.
 */

import type { FieldNode, OperationDefinitionNode, VariableValues } from 'graphql'
import { AnswerTooLongError } from '../../informer/codec/projection.ts'
import type { HeldObject, Projection } from '../../informer/codec/object-codec.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { problemIndex } from '../../query/problems/problem-part.ts'
import type { SentStep } from '../../query/page/page-steps.ts'
import { ClientError, frameErrors } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import {
  collectFields,
  type CompileScope,
  type PlanCompiler,
  PlanField,
  type PlanNeeds,
  type RowWriter,
} from '../plan/plan-compiler.ts'
import { answered, type PlanRun, type ValueRun, valueText } from '../plan/plan-run.ts'
import { jsonField } from '../plan/own-fields.ts'
import { itemWriter, valueWriter } from '../plan/value-writer.ts'
import { type CountedList, facetsOf, sumsOf, uncounted } from '../reads/facets.ts'
import { type FollowSource, followSourceOf } from '../schema/field-source.ts'
import { type SeenPart, visibilityOf } from '../reads/places.ts'
import type {
  ClusterGap,
  FacetsArguments,
  ProblemCount,
  Visibility,
} from '../schema/gateway-types.ts'
import {
  type FollowedList,
  type FollowedLists,
  followedLists,
  type FollowLimits,
} from './followed-list.ts'

export interface RowText {
  /** The fields of the object, by {@link FramePlan.row}; `null` if none is selected. */
  readonly text: string
  /** The errors of these fields as JSON, with paths that begin with the key of `changes`; empty without errors. */
  readonly errors: string
}

/** A change of an object in a list, as members receive it. */
export type SentListChange = {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  readonly removal: 'DELETED' | 'UNMATCHED' | 'HIDDEN' | 'CLUSTER_REMOVED' | null
  readonly objectId: string
  readonly object: string
  readonly errors: string
  readonly finalStateKnown: boolean
  /** The place of a problem in the order. */
  readonly position?: string
  /** The text of each of {@link FramePlan.previous}; absent: null. */
  readonly previous?: readonly string[] | undefined
}

export type SentPageStep = SentStep &
  Pick<SentListChange, 'object' | 'errors'> & {
    /** The place of the row that it shows, if {@link FramePlan.tellsPositions}. */
    readonly position: string | null
  }

export type SentChange = SentListChange | SentPageStep

/** The fields of a page besides its steps. */
export interface PageState {
  readonly totalCount: number
  /** Set for problems: the same array while no count changes. */
  readonly counts?: readonly ProblemCount[]
  /** The text of {@link FramePlan.facets}. */
  readonly facets?: string
}

/** The value of a frame: its fields, the texts that were written before it, and what accompanies its data. */
export interface FrameParts {
  readonly totalCount: number | undefined
  readonly counts: readonly ProblemCount[]
  /** The types that `problems` has looked at, and the types that it should have looked at. */
  readonly lookedAt: readonly string[]
  readonly notLookedAt: readonly string[]
  readonly complete: boolean
  /** The text of {@link FramePlan.facets}. */
  readonly facets: string | undefined
  readonly reset: boolean
  readonly synced: boolean
  /** The text of the list, for each of {@link FramePlan.changes}. */
  readonly changes: readonly string[]
  readonly resumeToken: string
  readonly resourceVersion: string
  readonly staleSince: string | null
  readonly visible: Visibility
  /** Parts that are missing, or may be out of date. */
  readonly incomplete: readonly ClusterGap[]
  /** The errors of its rows as JSON, with paths from the root; `undefined` without errors. */
  readonly errors: string | undefined
  /** How its rows were read, as JSON; `undefined` unless the subscriber asks for an explanation. */
  readonly explained: string | undefined
}

/** The lists of a group, as far as {@link visibleIn} reads them. */
interface SeenLists {
  readonly lists: readonly {
    readonly isFollowing: boolean
    readonly reading: { followed(): SeenPart }
    readonly list: Pick<FollowedList, 'within'>
  }[]
  readonly gaps: readonly ClusterGap[]
  readonly notLookedAt: readonly string[]
}

/** How much of what its lists ask for the members of a group may see. */
export function visibleIn({ lists, gaps, notLookedAt }: SeenLists): Visibility {
  const seen = lists.flatMap(({ isFollowing, reading, list: { within } }) =>
    isFollowing ? [{ scope: reading.followed().scope, within }] : [],
  )
  return visibilityOf(seen, notLookedAt.length > 0 || gaps.some(({ code }) => code === 'FORBIDDEN'))
}

type Write<T> = (parts: T) => string

type FacetsWriter = (run: PlanRun, read: CountedList, args: FacetsArguments) => string

type ProblemWriter = (run: PlanRun, problem: object) => string

type PreviousWriter = (run: PlanRun, view: StoreView, held: HeldObject) => string

/**
 * A compiled subscription to a list, a page or an object: the kinds it reads, and the writers of its frames as JSON
 * text.
 */
export interface FramePlan {
  readonly kind: Kind
  readonly key: string
  /** The kinds that rows read, including the followed kind, with the indexes for these reads. */
  readonly needs: readonly RelatedNeed[]
  /** The fields whose arguments name further kinds. */
  readonly asked: PlanNeeds['asked']
  /** Whether relations lead to objects of the followed kind, so that rows may read any of its objects. */
  readonly leadsBack: boolean
  /** Whether a field depends on the viewer's identity, beyond the viewer's list access. */
  readonly needsViewer: boolean
  readonly tellsStaleness: boolean
  readonly tellsGaps: boolean
  readonly tellsVisibility: boolean
  /** Whether changes have the places of their rows in the order: a row is sent again when its place changes. */
  readonly tellsPositions: boolean
  /** Writes all fields `object` of a change, joined by {@link between}; `undefined` without such a field. */
  readonly row: RowWriter | undefined
  readonly previous: readonly PreviousWriter[]
  /** Writes the counts and sums of a list, for frames that consist of these. */
  readonly facets: FacetsWriter | undefined
  /** Writes them where nothing can be counted. */
  readonly uncounted: ((args: FacetsArguments) => string) | undefined
  /** Writes all fields `object` of a change of a problem, as {@link row} does for an object. */
  readonly problem: ProblemWriter | undefined
  /** Writes a change, for each field `changes` of a frame. */
  readonly changes: readonly Write<SentChange>[]
  readonly payload: Write<FrameParts>
}

/** One list that a subscription follows: one kind in one cluster, and the plan of its rows. */
export interface WantedList {
  readonly plan: FramePlan
  readonly list: FollowedList
}

export interface Followed extends Pick<FollowedLists, 'page' | 'facets' | 'problems'> {
  readonly lists: readonly WantedList[]
  readonly plan: FramePlan
}

/** The clusters of a served schema, and the kinds to look at for problems in them. */
export type FleetParts = Pick<ServedSchema, 'clusters' | 'access' | 'members' | 'problemKinds'>

/** Separates JSON texts. No JSON text contains it. */
const between = '\0'

export class FramePlans {
  readonly key: string
  readonly nodes: readonly FieldNode[]
  /** Drains, logs, events and `gatewayClusters` have no lists. */
  readonly source: FollowSource
  readonly #field: PlanField
  readonly #plans = new Map<Kind, FramePlan>()
  #ofProblems: FramePlan | undefined

  /** Throws `ClientError`, and the GraphQLError of a constant argument. */
  constructor(operation: OperationDefinitionNode, compiler: PlanCompiler) {
    const type = compiler.served.schema.getSubscriptionType()
    if (!type) throw new TypeError('the schema has no Subscription')
    const { collect } = compiler
    const roots = [...collectFields([operation.selectionSet], new Set([type.name]), collect)]
    const [[key, nodes] = ['', []]] = roots
    if (roots.length !== 1) {
      // `@skip` may leave the field out.
      const hint = 'leave out `@skip` and `@include` at the field'
      throw new ClientError('UNSUPPORTED', 'a subscription has one field', { hint })
    }
    const field = new PlanField(type, key, nodes, compiler)
    const source = followSourceOf(field.definition)
    if (source === undefined) throw field.notCovered()
    this.key = key
    this.nodes = nodes
    this.source = source
    this.#field = field
  }

  /** The coerced arguments. Throws the error of an argument that cannot be coerced. */
  arguments(variables: VariableValues): object {
    return this.#field.args.coerce(variables)
  }

  /**
   * What a request follows in the present clusters. Throws the error of an argument that
   * cannot be coerced or that names no kind or no cluster.
   */
  of(variables: VariableValues, limits: FollowLimits, fleet: FleetParts): Followed {
    const { clusters, access, members, problemKinds } = fleet
    const served = { ...this.#field.compiler.served, clusters, access, members, problemKinds }
    const {
      kind,
      lists: all,
      ...what
    } = followedLists(served, this.source, this.arguments(variables), limits)
    if (what.problems !== undefined) {
      const plan = (this.#ofProblems ??= this.#compile(kind))
      const own = new Map(plan.needs.map((need) => [need.kind, need.indexes?.needed ?? []]))
      const lists = all
        .filter((list) => list.problems?.counts === true || own.has(list.at.kind))
        .map((list) => {
          // Only the objects of the kind itself are read for it.
          const { kind: of } = list.at
          const needs = [{ kind: of, indexes: { needed: [problemIndex, ...(own.get(of) ?? [])] } }]
          return { list, plan: this.#planOf(of, () => ({ ...plan, kind: of, needs })) }
        })
      return { lists, plan, ...what }
    }
    const lists = all.map((list) => ({ list, plan: this.#planOf(list.at.kind) }))
    return { lists, plan: this.#planOf(kind), ...what }
  }

  /** Compiles frames that are values, such as those of logs and drains. */
  valueFrames(): (frame: object, failures?: readonly ClientError[]) => Buffer {
    const write = valueWriter(this.#field)
    const key = JSON.stringify(this.key)
    return (frame, failures = []) => {
      const errors = frameErrors(failures, this.key)
      const before = errors.length === 0 ? '' : `"errors":${JSON.stringify(errors)},`
      return Buffer.from(`{${before}"data":{${key}:${valueText(write, frame)}}}`)
    }
  }

  #planOf(kind: Kind, made = (): FramePlan => this.#compile(kind)): FramePlan {
    return getOrInsert(this.#plans, kind, made)
  }

  #compile(kind: Kind): FramePlan {
    const { key, nodes } = this
    const { parent, compiler: shared } = this.#field
    const compiler = shared.another()
    if (this.source.form !== 'problemFrames') compiler.reads(kind)
    const compiled = new FrameCompiler(kind, new PlanField(parent, key, nodes, compiler))
    const frame = compiled.frame()
    const { kinds: needs, asked } = compiler.takeNeeds()
    const payload = (parts: FrameParts): string => {
      const { errors, explained } = parts
      const before = errors === undefined ? '' : `"errors":${errors},`
      const after = explained === undefined ? '' : `,"extensions":{"explain":${explained}}`
      return `{${before}"data":{${JSON.stringify(key)}:${frame(parts)}}${after}}`
    }
    return {
      kind,
      key,
      needs,
      asked,
      leadsBack: compiler.isLedTo(kind),
      get needsViewer() {
        // The compiler compiles rows of a further kind at its first object.
        return compiler.needsViewer
      },
      tellsStaleness: compiled.tellsStaleness,
      tellsGaps: compiled.tellsGaps,
      tellsVisibility: compiled.tellsVisibility,
      tellsPositions: compiled.tellsPositions,
      row: joined(compiled.rows),
      previous: compiled.previous,
      facets: joined(compiled.facets),
      uncounted: joined(compiled.uncounted),
      problem: joined(compiled.problems),
      changes: compiled.changes,
      payload,
    }
  }
}

/** Joins the texts of some writers of one kind; `undefined` without any. */
function joined<A extends readonly unknown[]>(
  writers: readonly ((...of: A) => string)[],
): ((...of: A) => string) | undefined {
  return writers.length <= 1
    ? writers[0]
    : (...of) => writers.map((write) => write(...of)).join(between)
}

/**
 * Compiles a frame, whose value is {@link FrameParts}. It collects the writers of rows, previous values, changes and
 * facets: these write their texts when the caches are read, one text for each response key.
 */
class FrameCompiler {
  readonly rows: RowWriter[] = []
  readonly previous: PreviousWriter[] = []
  readonly facets: FacetsWriter[] = []
  readonly uncounted: ((args: FacetsArguments) => string)[] = []
  readonly problems: ProblemWriter[] = []
  readonly changes: Write<SentChange>[] = []
  tellsStaleness = false
  tellsGaps = false
  tellsVisibility = false
  tellsPositions = false
  readonly #kind: Kind
  readonly #frame: PlanField

  constructor(kind: Kind, frame: PlanField) {
    this.#kind = kind
    this.#frame = frame
  }

  frame(): Write<FrameParts> {
    const { objectType } = this.#frame
    return this.#written<FrameParts>(this.#frame, (field) => {
      const { name, parent } = field
      if (parent !== objectType) return undefined
      switch (name) {
        case 'changes': {
          const at = this.changes.push(this.#change(field)) - 1
          return (_run, { changes }) => changes[at] ?? '[]'
        }
        case 'staleSince':
          this.tellsStaleness = true
          return undefined
        case 'visible':
          this.tellsVisibility = true
          return undefined
        case 'complete':
        case 'lookedAt':
        case 'notLookedAt':
        case 'incomplete':
          this.tellsGaps = true
          return undefined
        case 'totalCount':
        case 'sums':
        case 'facets': {
          if (parent.name !== 'FacetsFrame') return undefined
          const write = name === 'totalCount' ? undefined : valueWriter(field)
          const at = this.facets.push((run, read, args) => {
            if (write === undefined) return String(read.page.totalCount())
            if (name === 'facets') return write(run, facetsOf(run, read, args))
            return write(run, sumsOf(run, read, { of: args.sum ?? [] }))
          })
          this.uncounted.push((args) => {
            const value = uncounted(this.#kind, args)[name]
            return write === undefined ? String(value) : valueText<unknown>(write, value)
          })
          return (_run, { facets = '' }) => facets.split(between)[at - 1] ?? 'null'
        }
        default:
          return undefined
      }
    })
  }

  #change(changes: PlanField): Write<SentChange> {
    return this.#written<SentChange>(changes, (field): TextOf<SentChange> | undefined => {
      if (field.name === 'previous') {
        const at = this.previous.push(previousWriter(field, changes.key)) - 1
        return (_run, change) =>
          ('previous' in change ? change.previous?.[at] : undefined) ?? 'null'
      }
      if (field.name === 'position') this.tellsPositions = true
      if (field.name !== 'object') return undefined
      if (field.parent.name === 'ProblemChange') {
        const write = inChanges(
          field,
          changes.key,
          this.#in({}, () => valueWriter(field)),
        )
        return partOf(this.problems, (run, problem) => write(run, problem, undefined))
      }
      const { compiler, selections } = field
      const row = this.#in({}, () => compiler.row(this.#kind, selections))
      return partOf(this.rows, inChanges(field, changes.key, row))
    })
  }

  /** Compiles an object whose fields may have a text already. */
  #written<T>(
    field: PlanField,
    writtenBefore: (field: PlanField) => TextOf<T> | undefined,
  ): Write<T> {
    const write = this.#in({ writtenBefore }, () => itemWriter(field))
    return (parts) => valueText(write, parts)
  }

  /** Compiles a part of the frame. The places of rows begin with the key of the frame. */
  #in<T>(scope: Pick<CompileScope, 'writtenBefore'>, compile: () => T): T {
    const { compiler, key } = this.#frame
    return compiler.in({ place: key, isLive: true, ...scope }, compile)
  }
}

/** Finds the text of a field that was written before the value around it. */
type TextOf<T> = (run: ValueRun, value: T) => string

/** Adds a writer to others whose texts are joined. Returns the function that finds its text. */
function partOf<T>(writers: T[], writer: T): TextOf<SentChange> {
  const at = writers.push(writer) - 1
  return (_run, { object }) =>
    writers.length === 1 ? object : (object.split(between)[at] ?? 'null')
}

/**
 * Wraps the writer of a field of a change: its error paths begin with the key of `changes`, without the change's index.
 */
function inChanges<A, B>(
  { key, type, nodes }: PlanField,
  changes: string,
  write: (run: PlanRun, a: A, b: B) => string,
): (run: PlanRun, a: A, b: B) => string {
  const guarded = answered({ key, type, nodes }, write)
  return (run, a, b) => {
    const before = run.errors.count
    try {
      return guarded(run, a, b)
    } finally {
      if (run.errors.count > before) run.errors.within(before, changes)
    }
  }
}

/** The charge for writing a `previous`, in fields: walking a path may cost as much. */
const chargedFields = 65
/** The number of paths per field with a kept projection. Paths may come from variables. */
const maxPaths = 16

/** Compiles a field `previous`: writes the value at its path straight from the held object. */
function previousWriter(field: PlanField, changes: string): PreviousWriter {
  const { args } = field
  const projections = new WeakMap<StoreView, Map<string, Projection>>()
  const projectionOf = (view: StoreView, at: string | null): Projection => {
    const ofView = getOrInsert(projections, view, () => new Map())
    const name = JSON.stringify(at)
    return getOrInsert(ofView, name, () => {
      const { path: names, value } = jsonField(at)
      if (ofView.size >= maxPaths) ofView.clear()
      return view.projection({ fields: [{ key: 'v', path: names, value }] })
    })
  }
  const write: PreviousWriter = (run, view, held) => {
    const { budget } = run
    budget.spend('fields', chargedFields)
    const { path: at } = run.argumentsOf(args)
    const project = projectionOf(view, typeof at === 'string' ? at : null)
    let text: string | undefined
    try {
      text = project(held, budget.left('bytes'))
    } catch (error) {
      if (error instanceof AnswerTooLongError) budget.spend('bytes', error.length)
      throw error
    }
    if (text === undefined) throw new TypeError('JSON of any kind can be written')
    budget.spend('bytes', text.length)
    return text.slice(memberStart.length, -1)
  }
  return inChanges(field, changes, write)
}

const memberStart = '{"v":'
