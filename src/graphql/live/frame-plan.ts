import {
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql'
import type { SentStep } from '../../query/page/page-steps.ts'
import type { Kind } from '../model/kind.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import { collectFields, selectionsOf } from '../plan/collected-fields.ts'
import { FieldArguments } from '../plan/field-arguments.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { PlanCompiler } from '../plan/plan-compiler.ts'
import type { PlanNeeds } from '../plan/plan-needs.ts'
import type { RowWriter } from '../plan/writers.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import { PreviousText } from './previous-text.ts'

/** What a frame says; `changes` is the text of the list. */
export interface FrameParts {
  readonly reset: boolean
  readonly synced: boolean
  /** Of a page. */
  readonly totalCount: number | undefined
  readonly changes: string
  readonly resumeToken: string
  readonly resourceVersion: string
}

/** What a frame says of one object, whose text is `object`. */
export interface ChangeParts {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  readonly removal: 'DELETED' | 'UNMATCHED' | 'HIDDEN' | null
  readonly objectId: string
  readonly object: string
  readonly finalStateKnown: boolean
  /** What each field `previous` has, in their order; absent: null. */
  readonly previous?: readonly string[] | undefined
}

/** What a frame says of one row of a page, whose text is `object`. */
export interface PageStepParts extends SentStep {
  readonly object: string
}

type Write<T> = (parts: T) => string

/** What is selected of one of the gateway's own types. */
interface OwnSelection {
  /** The kind that is followed. */
  readonly kind: Kind
  readonly type: GraphQLObjectType
  readonly nodes: readonly FieldNode[]
  readonly compiler: PlanCompiler
}

/** How each change is written, and what that takes. */
type ChangePlan = Pick<FramePlan, 'change' | 'row' | 'previous'>

/** A subscription to a list, a page or an object, compiled: what it reads, and how its frames are written as JSON text. */
export interface FramePlan {
  readonly form: 'listFrames' | 'lookupFrames' | 'livePages'
  readonly kind: Kind
  readonly args: FieldArguments
  /** The kinds that its objects are written from: its own, and those that relations lead to. */
  readonly kinds: readonly Kind[]
  /** The same with the indexes that they are read by. */
  readonly needs: readonly RelatedNeed[]
  /** The fields whose arguments name further ones. */
  readonly asked: PlanNeeds['asked']
  /** Whether relations lead to objects of the followed kind, so that its rows may be written from any of those. */
  readonly leadsBack: boolean
  /** Writes an object; `undefined` where none is selected. */
  readonly row: RowWriter | undefined
  /** The fields `previous` of a change, in their order. */
  readonly previous: readonly PreviousText[]
  /** The payload of a frame, `{"data":…}`. */
  readonly frame: Write<FrameParts>
  readonly change: Write<ChangeParts | PageStepParts>
}

/** Compiles a subscription. Throws {@link NotCoveredError}, and the GraphQLError of a constant argument. */
export function compileFrames(
  operation: OperationDefinitionNode,
  compiler: PlanCompiler,
): FramePlan {
  const type = compiler.served.schema.getSubscriptionType()
  if (type === undefined || type === null) throw new NotCoveredError('no Subscription')
  const roots = [...collectFields([operation.selectionSet], new Set([type.name]), compiler.collect)]
  const [[key, nodes] = ['', []]] = roots
  const [node] = nodes
  const field = type.getFields()[node?.name.value ?? '']
  if (roots.length !== 1 || node === undefined || field === undefined) {
    throw new NotCoveredError('a subscription to anything but one field')
  }
  const source = fieldSourceOf(field)
  const { form } = source
  if (form !== 'listFrames' && form !== 'lookupFrames' && form !== 'livePages') {
    throw new NotCoveredError(`Subscription.${field.name}`)
  }
  const { kind } = source
  if (kind.uncached) throw new NotCoveredError('a live read')
  return compiler.within(key, () => {
    compiler.reads(kind)
    const frame = frameWriter({ kind, type: typeOf(field), nodes, compiler })
    const { kinds: needs, asked } = compiler.takeNeeds()
    return {
      ...frame,
      form,
      kind,
      args: new FieldArguments(field, node),
      needs,
      asked,
      leadsBack: compiler.isLedTo(kind),
      kinds: needs.map((need) => need.kind),
      frame: (parts) => `{"data":{${JSON.stringify(key)}:${frame.frame(parts)}}}`,
    }
  })
}

function frameWriter(selection: OwnSelection): ChangePlan & Pick<FramePlan, 'frame'> {
  let inner: ChangePlan | undefined
  const members = membersOf<FrameParts>(selection, (field, same) => {
    const source = fieldSourceOf(field)
    if (source.form !== 'frame' && source.form !== 'livePage') {
      throw new NotCoveredError(field.name)
    }
    const { part } = source
    if (part === 'changes') {
      if (inner !== undefined) throw new NotCoveredError('changes under two names')
      const writer = source.form === 'frame' ? changeWriter : stepWriter
      inner = writer({ ...selection, type: typeOf(field), nodes: same })
      return ({ changes }) => changes
    }
    return (parts) => JSON.stringify(parts[part])
  })
  const { change = () => '', row, previous = [] } = inner ?? {}
  return { frame: members, change, row, previous }
}

function changeWriter(selection: OwnSelection): ChangePlan {
  let row: RowWriter | undefined
  const previous: PreviousText[] = []
  const change = membersOf<ChangeParts>(selection, (field, same) => {
    const source = fieldSourceOf(field)
    if (source.form !== 'change') throw new NotCoveredError(field.name)
    const { part } = source
    switch (part) {
      case 'object':
        row = objectWriter(selection, same, row)
        return ({ object }) => object
      case 'previous': {
        const [node] = same
        if (node === undefined) throw new NotCoveredError('previous')
        const at = previous.push(new PreviousText(field, node)) - 1
        return (parts) => parts.previous?.[at] ?? 'null'
      }
      default:
        return (parts) => JSON.stringify(parts[part])
    }
  })
  return { change: (parts) => ('type' in parts ? change(parts) : ''), row, previous }
}

function stepWriter(selection: OwnSelection): ChangePlan {
  let row: RowWriter | undefined
  const step = membersOf<PageStepParts>(selection, (field, same) => {
    const source = fieldSourceOf(field)
    if (source.form !== 'livePageChange') throw new NotCoveredError(field.name)
    const { part } = source
    if (part !== 'object') return (parts) => JSON.stringify(parts[part])
    row = objectWriter(selection, same, row)
    return ({ object }) => object
  })
  return { change: (parts) => ('step' in parts ? step(parts) : ''), row, previous: [] }
}

function objectWriter(
  { kind, compiler }: OwnSelection,
  nodes: readonly FieldNode[],
  known: RowWriter | undefined,
): RowWriter {
  if (known !== undefined) throw new NotCoveredError('an object under two names')
  return compiler.observed(true, () => compiler.row(kind, selectionsOf(nodes)))
}

/** Writes the fields of one of the gateway's own types. */
function membersOf<T>(
  { type, nodes, compiler }: OwnSelection,
  writeOf: (field: GraphQLField<unknown, unknown>, same: readonly FieldNode[]) => Write<T>,
): Write<T> {
  const fields = collectFields(selectionsOf(nodes), new Set([type.name]), compiler.collect)
  const members = Array.from(fields, ([key, same], position): [string, Write<T>] => {
    const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
    const name = same[0]?.name.value ?? ''
    if (name === '__typename') return [before, () => JSON.stringify(type.name)]
    const field = type.getFields()[name]
    if (field === undefined) throw new NotCoveredError(`${type.name}.${name}`)
    return [before, writeOf(field, same)]
  })
  return (parts) => {
    let text = '{'
    for (const [before, write] of members) text += before + write(parts)
    return `${text}}`
  }
}

function typeOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const type = getNamedType(field.type)
  if (!isObjectType(type)) throw new NotCoveredError(field.name)
  return type
}
