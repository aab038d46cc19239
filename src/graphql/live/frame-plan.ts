import {
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isObjectType,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql'
import { AnswerTooLongError } from '../../informer/codec/projection.ts'
import type { HeldObject, Projection } from '../../informer/codec/object-codec.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { problemIndex } from '../../query/problems/problem-part.ts'
import type { SentStep } from '../../query/page/page-steps.ts'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { collectFields, selectionsOf } from '../plan/collected-fields.ts'
import { FieldArguments } from '../plan/field-arguments.ts'
import { answered } from '../plan/field-errors.ts'
import { jsonField } from '../plan/own-fields.ts'
import {
  type PlanCompiler,
  PlanField,
  type PlanNeeds,
  type RowWriter,
} from '../plan/plan-compiler.ts'
import { logsWriter } from '../plan/logs-writer.ts'
import type { PlanRun } from '../plan/plan-run.ts'
import { valueWriter } from '../plan/value-writer.ts'
import { type CountedList, facetsOf, sumsOf } from '../reads/connection-read.ts'
import {
  fieldSourceOf,
  type FollowSource,
  followSourceOf,
  type OwnParts,
} from '../schema/field-source.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type {
  ClusterGap,
  PodLogsSource,
  ProblemCount,
  ProblemSource,
} from '../schema/read-context.ts'
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
  /** The text of the row. */
  readonly object: string
  readonly errors: string
  readonly finalStateKnown: boolean
  /** The text of each of {@link FramePlan.previous}; absent: null. */
  readonly previous?: readonly string[] | undefined
}

/** A step of a page, as members receive it. */
export type SentPageStep = SentStep & Pick<SentListChange, 'object' | 'errors'>

export type SentChange = SentListChange | SentPageStep

/** The fields of a page besides its steps. */
export interface PageState {
  readonly totalCount: number
  /** Of problems: the same array while nothing changes. */
  readonly counts?: readonly ProblemCount[]
  /** The text of {@link FramePlan.facets}. */
  readonly facets?: string
}

/** A frame before it is text. */
export interface FrameParts {
  readonly totalCount: number | undefined
  readonly counts: readonly ProblemCount[] | undefined
  /** The types of the kinds that are looked at for problems, and of those that should be. */
  readonly lookedAt: readonly string[]
  readonly notLookedAt: readonly string[]
  /** The text of {@link FramePlan.facets}. */
  readonly facets: string | undefined
  readonly reset: boolean
  readonly synced: boolean
  /** The text of the list, for each of {@link FramePlan.changes}. */
  readonly changes: readonly string[]
  readonly resumeToken: string
  readonly resourceVersion: string
  readonly staleSince: string | null
  /** What is missing, or may be out of date. */
  readonly incomplete: readonly ClusterGap[]
  /** The errors of its rows as JSON, with paths from the root; absent without errors. */
  readonly errors: string | undefined
  /** How its rows were read, as JSON; absent without a request for it. */
  readonly explained: string | undefined
}

type Write<T> = (parts: T) => string

type FacetsWriter = (run: PlanRun, read: CountedList, args: FacetArguments) => string

type ProblemWriter = (run: PlanRun, problem: ProblemSource) => string

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
  /** Whether frames say since when the caches may be out of date. */
  readonly tellsStaleness: boolean
  /** Whether frames say what is missing. */
  readonly tellsGaps: boolean
  /** Writes all fields `object` of a change, joined by {@link between}; `undefined` without such a field. */
  readonly row: RowWriter | undefined
  readonly previous: readonly PreviousWriter[]
  /** Writes the counts and sums of a list, for frames that consist of these. */
  readonly facets?: FacetsWriter
  /** Writes all fields `object` of a change of a problem, as {@link row} does those of an object. */
  readonly problem?: ProblemWriter
  /** Writes a change, for each field `changes` of a frame. */
  readonly changes: readonly Write<SentChange>[]
  /** Writes a frame as members take it. */
  readonly payload: Write<FrameParts>
}

/** What a subscription follows. */
export interface Followed {
  /** The coerced arguments. */
  readonly args: object
  /** The lists, each with the plan of its rows. */
  readonly lists: readonly { readonly plan: FramePlan; readonly list: FollowedList }[]
  /** Writes the frames. */
  readonly plan: FramePlan
  readonly isPlural: FollowedLists['isPlural']
  readonly page: FollowedLists['page']
  readonly facets: FollowedLists['facets']
  readonly problems: FollowedLists['problems']
}

/** The clusters of a served schema, and the kinds to look at for problems in them. */
export type FleetParts = Pick<ServedSchema, 'clusters' | 'access' | 'members' | 'problemKinds'>

/** Separates texts of JSON. Never occurs in one. */
const between = '\0'

/**
 * The plans of a subscription, by the kind that it follows: one for a field of a kind, several for a field whose
 * arguments name the kind. The first request for a kind compiles its plan.
 */
export class FramePlans {
  readonly key: string
  readonly nodes: readonly FieldNode[]
  readonly #source: FollowSource
  readonly #field: GraphQLField<unknown, unknown>
  readonly #args: FieldArguments
  readonly #compiler: PlanCompiler
  readonly #plans = new Map<Kind, FramePlan>()
  #ofProblems: FramePlan | undefined

  /** Throws {@link NotCoveredError}, and the GraphQLError of a constant argument. */
  constructor(operation: OperationDefinitionNode, compiler: PlanCompiler) {
    const type = compiler.served.schema.getSubscriptionType()
    if (type === undefined || type === null) throw new NotCoveredError('no Subscription')
    const { collect } = compiler
    const roots = [...collectFields([operation.selectionSet], new Set([type.name]), collect)]
    const [[key, nodes] = ['', []]] = roots
    const [node] = nodes
    const field = type.getFields()[node?.name.value ?? '']
    if (roots.length !== 1 || node === undefined || field === undefined) {
      throw new NotCoveredError('a subscription to anything but one field')
    }
    const source = followSourceOf(field)
    if (source === undefined) throw new NotCoveredError(`Subscription.${field.name}`)
    this.key = key
    this.nodes = nodes
    this.#source = source
    this.#field = field
    this.#args = new FieldArguments(field, node)
    this.#compiler = compiler
  }

  /** The coerced arguments. Throws the error of an argument that cannot be coerced. */
  arguments(variables: VariableValues): object {
    return this.#args.coerce(variables)
  }

  /**
   * What a request follows in the present clusters. Throws {@link NotCoveredError}, and the error of an argument that
   * cannot be coerced or that names no kind or no cluster.
   */
  of(variables: VariableValues, limits: FollowLimits, fleet: FleetParts): Followed {
    const args = this.arguments(variables)
    const { clusters, access, members, problemKinds } = fleet
    const served = { ...this.#compiler.served, clusters, access, members, problemKinds }
    const followed = followedLists(served, this.#source, args, limits)
    const { kind, isPlural, page, facets, problems } = followed
    if (problems !== undefined) {
      const plan = (this.#ofProblems ??= this.#compile(kind))
      const isRead = new Set(plan.needs.map((need) => need.kind))
      const lists = followed.lists
        .filter((list) => list.problems?.counts === true || isRead.has(list.at.kind))
        .map((list) => ({ list, plan: this.#lookedAtPlan(plan, list.at.kind) }))
      return { args, lists, plan, isPlural, page, facets, problems }
    }
    const lists = followed.lists.map((list) => ({ list, plan: this.#planOf(list.at.kind) }))
    return { args, lists, plan: this.#planOf(kind), isPlural, page, facets, problems }
  }

  /** The plan of a kind whose objects are looked at for problems: only its own objects are read for them. */
  #lookedAtPlan(plan: FramePlan, kind: Kind): FramePlan {
    let known = this.#plans.get(kind)
    if (known === undefined) {
      const own = plan.needs.find((need) => need.kind === kind)
      const needed = [problemIndex, ...(own?.indexes?.needed ?? [])]
      known = { ...plan, kind, needs: [{ kind, indexes: { needed } }] }
      this.#plans.set(kind, known)
    }
    return known
  }

  /** Whether it follows the clusters themselves: then there are no lists. */
  get followsClusters(): boolean {
    return this.#source.form === 'clusterFrames'
  }

  /** Whether it drains a node: then there are no lists. */
  get drains(): boolean {
    return this.#source.form === 'drainFrames'
  }

  /** Writes the frames of logs, if it follows these: then there are no lists. Throws {@link NotCoveredError}. */
  get logs(): ((frame: PodLogsSource) => string) | undefined {
    if (this.#source.form !== 'logFrames') return undefined
    const objectType = typeOf(this.#field)
    const write = logsWriter({ objectType, nodes: this.nodes, compiler: this.#compiler })
    const key = JSON.stringify(this.key)
    return (frame) => `{"data":{${key}:${write(frame)}}}`
  }

  /** The field of an extension, if it is one: then there are no lists. */
  get extension(): (FollowSource & { readonly form: 'extensionEvents' }) | undefined {
    return this.#source.form === 'extensionEvents' ? this.#source : undefined
  }

  #planOf(kind: Kind): FramePlan {
    let plan = this.#plans.get(kind)
    if (plan === undefined) this.#plans.set(kind, (plan = this.#compile(kind)))
    return plan
  }

  #compile(kind: Kind): FramePlan {
    const { key, nodes } = this
    const compiler = this.#compiler.another()
    const compiled = new FrameCompiler(kind, compiler)
    const frame = compiler.within(key, () => {
      if (this.#source.form !== 'problemFrames') compiler.reads(kind)
      return compiled.frame(typeOf(this.#field), nodes)
    })
    const { kinds: needs, asked } = compiler.takeNeeds()
    const { rows } = compiled
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
      row: joined(rows),
      previous: compiled.previous,
      ...(compiled.facets.length === 0 ? {} : { facets: joinedFacets(compiled.facets) }),
      ...(compiled.problems.length === 0 ? {} : { problem: joinedProblem(compiled.problems) }),
      changes: compiled.changes,
      payload,
    }
  }
}

function joined(rows: readonly RowWriter[]): RowWriter | undefined {
  const [only] = rows
  if (rows.length <= 1) return only
  return (run, part, id) => rows.map((write) => write(run, part, id)).join(between)
}

function joinedFacets(writers: readonly FacetsWriter[]): FacetsWriter {
  return (run, read, args) => writers.map((write) => write(run, read, args)).join(between)
}

function joinedProblem(writers: readonly ProblemWriter[]): ProblemWriter {
  return (run, problem) => writers.map((write) => write(run, problem)).join(between)
}

/** Compiles the fields of a frame. A field may occur under several response keys. */
class FrameCompiler {
  readonly rows: RowWriter[] = []
  readonly previous: PreviousWriter[] = []
  readonly facets: FacetsWriter[] = []
  readonly problems: ProblemWriter[] = []
  readonly changes: Write<SentChange>[] = []
  tellsStaleness = false
  tellsGaps = false
  readonly #kind: Kind
  readonly #compiler: PlanCompiler

  constructor(kind: Kind, compiler: PlanCompiler) {
    this.#kind = kind
    this.#compiler = compiler
  }

  frame(type: GraphQLObjectType, nodes: readonly FieldNode[]): Write<FrameParts> {
    return this.#members<FrameParts>(type, nodes, (field, key, same) => {
      const source = fieldSourceOf(field)
      if (source.form === 'facetsFrame') {
        if (source.part === 'incomplete') return this.#gaps(field, same)
        return this.#ofFacets(source.part, type, key, same)
      }
      if (source.form === 'problemFrame') {
        const write = this.#ofProblems(source.part, field, same)
        if (write !== undefined) return write
      } else if (source.form !== 'frame' && source.form !== 'livePage') {
        throw new NotCoveredError(field.name)
      }
      const { part } = source
      if (part === 'staleSince') this.tellsStaleness = true
      if (part === 'incomplete') return this.#gaps(field, same)
      if (part !== 'changes') {
        return (parts) =>
          JSON.stringify((parts as unknown as Readonly<Record<string, unknown>>)[part])
      }
      const at = this.changes.push(this.#change(typeOf(field), key, same)) - 1
      return ({ changes }) => changes[at] ?? '[]'
    })
  }

  /** The fields of a frame that only those of problems have. */
  #ofProblems(
    part: OwnParts['problemFrame'],
    field: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
  ): Write<FrameParts> | undefined {
    switch (part) {
      case 'counts': {
        const write = this.#values<ProblemCount>(field, nodes)
        return ({ counts = [] }) => `[${counts.map(write).join(',')}]`
      }
      case 'complete':
        this.tellsGaps = true
        return ({ notLookedAt }) => String(notLookedAt.length === 0)
      case 'lookedAt':
      case 'notLookedAt':
        this.tellsGaps = true
        return (parts) => JSON.stringify(parts[part])
      default:
        return undefined
    }
  }

  /** Writes an object whose fields are the JSON of its members. */
  #values<T extends object>(
    field: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
  ): Write<T> {
    return this.#members<T>(typeOf(field), nodes, ({ name }) => {
      return (value) => JSON.stringify((value as Readonly<Record<string, unknown>>)[name])
    })
  }

  #ofFacets(
    part: Exclude<OwnParts['facetsFrame'], 'incomplete'>,
    type: GraphQLObjectType,
    key: string,
    nodes: readonly FieldNode[],
  ): Write<FrameParts> {
    if (part === 'staleSince') this.tellsStaleness = true
    if (part === 'staleSince' || part === 'resourceVersion') {
      return (parts) => JSON.stringify(parts[part])
    }
    const at = this.facets.push(this.#facetsWriter(part, type, key, nodes)) - 1
    return ({ facets = '' }) => facets.split(between)[at] ?? 'null'
  }

  #facetsWriter(
    part: 'totalCount' | 'sums' | 'facets',
    ...[type, key, nodes]: readonly [GraphQLObjectType, string, readonly FieldNode[]]
  ): FacetsWriter {
    if (part === 'totalCount') return (_run, read) => String(read.page.totalCount())
    const field = new PlanField(type, key, nodes, this.#compiler)
    const write = valueWriter(field)
    if (part === 'sums') {
      return (run, read, { sum }) => write(run, sumsOf(run, read, { of: sum ?? [] }))
    }
    return (run, read, args) => write(run, facetsOf(run, read, args))
  }

  #gaps(
    field: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
  ): Write<Pick<FrameParts, 'incomplete'>> {
    this.tellsGaps = true
    const write = this.#values<ClusterGap>(field, nodes)
    return ({ incomplete }) => `[${incomplete.map(write).join(',')}]`
  }

  #change(
    type: GraphQLObjectType,
    changes: string,
    nodes: readonly FieldNode[],
  ): Write<SentChange> {
    return this.#members<SentChange>(type, nodes, (field, key, same) => {
      const source = fieldSourceOf(field)
      if (source.form === 'problemChange' && source.part === 'object') {
        return this.#problem(new PlanField(type, key, same, this.#compiler), changes)
      }
      if (!['change', 'livePageChange', 'problemChange'].includes(source.form)) {
        throw new NotCoveredError(field.name)
      }
      const { part } = source as Extract<typeof source, { form: 'change' | 'livePageChange' }>
      if (part === 'object') return this.#object(field, [changes, key], same)
      if (part !== 'previous') {
        return (change) => JSON.stringify((change as Readonly<Record<string, unknown>>)[part])
      }
      const at = this.previous.push(previousWriter(field, [changes, key], same)) - 1
      return (change) => ('previous' in change ? change.previous?.[at] : undefined) ?? 'null'
    })
  }

  #object(
    field: GraphQLField<unknown, unknown>,
    path: readonly [changes: string, key: string],
    nodes: readonly FieldNode[],
  ): Write<{ readonly object: string }> {
    const compiler = this.#compiler
    const scope = { ...compiler.scope, isLive: true }
    const row = compiler.in(scope, () => compiler.row(this.#kind, selectionsOf(nodes)))
    return this.#partOf(this.rows, inChanges(field, path, nodes, row))
  }

  #problem(field: PlanField, changes: string): Write<{ readonly object: string }> {
    const compiler = this.#compiler
    const write = compiler.in({ ...compiler.scope, isLive: true }, () => valueWriter(field))
    const { definition, key, nodes } = field
    const guarded = inChanges(definition, [changes, key], nodes, (run, problem: ProblemSource) =>
      write(run, problem),
    )
    return this.#partOf(this.problems, (run, problem) => guarded(run, problem, undefined))
  }

  /** Adds a writer to others whose texts are joined, and returns what finds its text. */
  #partOf<T>(writers: T[], writer: T): Write<{ readonly object: string }> {
    const at = writers.push(writer) - 1
    return ({ object }) => (writers.length === 1 ? object : (object.split(between)[at] ?? 'null'))
  }

  /** Writes the fields of one of the gateway's own types. */
  #members<T>(
    type: GraphQLObjectType,
    nodes: readonly FieldNode[],
    writeOf: (
      field: GraphQLField<unknown, unknown>,
      key: string,
      same: readonly FieldNode[],
    ) => Write<T>,
  ): Write<T> {
    const { collect } = this.#compiler
    const fields = collectFields(selectionsOf(nodes), new Set([type.name]), collect)
    const members = Array.from(fields, ([key, same], position): [string, Write<T>] => {
      const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
      const name = same[0]?.name.value ?? ''
      if (name === '__typename') return [before, () => JSON.stringify(type.name)]
      const field = type.getFields()[name]
      if (field === undefined) throw new NotCoveredError(`${type.name}.${name}`)
      return [before, writeOf(field, key, same)]
    })
    return (parts) => {
      let text = '{'
      for (const [before, write] of members) text += before + write(parts)
      return `${text}}`
    }
  }
}

/**
 * Wraps the writer of a field of a change: its error paths begin with the key of `changes`, without the change's index.
 */
function inChanges<A, B>(
  { type }: GraphQLField<unknown, unknown>,
  [changes, key]: readonly [changes: string, key: string],
  nodes: readonly FieldNode[],
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
function previousWriter(
  field: GraphQLField<unknown, unknown>,
  path: readonly [changes: string, key: string],
  nodes: readonly FieldNode[],
): PreviousWriter {
  const [node] = nodes
  if (node === undefined) throw new NotCoveredError('previous')
  const args = new FieldArguments(field, node)
  const projections = new WeakMap<StoreView, Map<string, Projection>>()
  const projectionOf = (view: StoreView, at: string | null): Projection => {
    let ofView = projections.get(view)
    if (ofView === undefined) projections.set(view, (ofView = new Map()))
    const name = JSON.stringify(at)
    let projection = ofView.get(name)
    if (projection === undefined) {
      const { path: names, value } = jsonField(at)
      if (ofView.size >= maxPaths) ofView.clear()
      projection = view.projection({ fields: [{ key: 'v', path: names, value }] })
      ofView.set(name, projection)
    }
    return projection
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
  return inChanges(field, path, nodes, write)
}

const memberStart = '{"v":'

function typeOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const type = getNamedType(field.type)
  if (!isObjectType(type)) throw new NotCoveredError(field.name)
  return type
}
