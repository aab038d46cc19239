import {
  type FieldNode,
  GraphQLError,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql'
import { objectKey, splitObjectKey, type Unstructured } from '../../kubernetes/object.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import { usageKindOf } from '../model/usage-kind.ts'
import type { FoundObject, KindView } from '../prepare/kind-view.ts'
import { directObject, type SecretContents } from '../reads/direct/direct-reads.ts'
import { OwnedRead } from '../reads/over-kinds/owned-read.ts'
import { clusterState } from '../reads/fleet-state.ts'
import { canDo } from '../reads/permissions.ts'
import { PolymorphicRead } from '../reads/over-kinds/polymorphic-read.ts'
import { usageOf } from '../reads/usage-read.ts'
import { ObjectRefRead, ownerChainOf, ownersOf } from '../reads/owner-read.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { UsedByRead } from '../reads/over-kinds/used-by-read.ts'
import type { ObjectCanArguments, ObjectOwnedArguments } from '../schema/gateway-types.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import { collectFields } from './collected-fields.ts'
import { isOwnField, ownSelection } from './own-fields.ts'
import { type PlanCompiler, PlanField, type RowWriter } from './plan-compiler.ts'
import { plannedFields, type PlanRun, refusedBeside } from './plan-run.ts'
import { listText, objectText } from './value-run.ts'
import { extensionWriter, reportingWriter, valueWriter } from './value-writer.ts'
import {
  AnswerTooLongError,
  type ObjectSelection,
  type SelectedValue,
} from '../../informer/codec/projection.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { FieldArguments } from './field-arguments.ts'
import type { StoreFragment } from './fragment-cache.ts'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { podAmountsOf } from '../../query/index/pod-total.ts'
import { objectIdOf } from '../model/object-id.ts'
import { printedColumns } from '../schema/object-fields.ts'
import { answered } from './field-errors.ts'
import { jsonAt, jsonReader } from './json-values.ts'

/**
 * Compiles the objects of a kind. Adjacent own fields form one fragment, whose text the cache keeps. The other fields,
 * above all relations, are holes between the fragments, which each run fills.
 */
export function rowWriter(
  kind: Kind,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RowWriter {
  const type = compiler.typeOf(kind)
  // Type conditions match a type by its own name, and those of its interfaces and of the union of all kinds.
  const names = new Set([type.name, ...type.getInterfaces().map(({ name }) => name), '_Entity'])
  const fields = collectFields(selectionSets, names, compiler.collect)
  if (fields.size === 0) return () => '{}'
  const members: { readonly before: string; readonly write: RowWriter }[] = []
  // Joins separators and names in advance: the answer copies each piece once more.
  const add = (name: string, write: RowWriter): void =>
    void members.push({ before: `${members.length === 0 ? '' : ','}${name}`, write })
  let own: [string, readonly FieldNode[]][] = []
  for (const [key, nodes] of fields) {
    if (isOwnField(type, nodes[0]?.name.value ?? '')) {
      own.push([key, nodes])
      continue
    }
    if (own.length > 0) add('', ownFragment({ kind, type, fields: own, isWhole: false }, compiler))
    own = []
    const write = compiler.within(key, () => {
      const field = new PlanField(type, key, nodes, compiler)
      const { isLive } = compiler.scope
      return answered(field, isLive ? unlessDirect(kind, field) : holeWriter(kind, field))
    })
    add(`${JSON.stringify(key)}:`, write)
  }
  if (members.length === 0) return ownFragment({ kind, type, fields: own, isWhole: true }, compiler)
  if (own.length > 0) add('', ownFragment({ kind, type, fields: own, isWhole: false }, compiler))
  return (run, part, id) => objectText(run, members, part, id)
}

/** A field that a subscription cannot have fails by itself: frames do not wait for direct reads. */
function unlessDirect(kind: Kind, field: PlanField): RowWriter {
  try {
    return holeWriter(kind, field)
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'UNSUPPORTED') throw error
    return () => {
      throw error
    }
  }
}

/** Compiles a field that depends on more than the object. What it throws in a run is the field's error. */
function holeWriter(kind: Kind, field: PlanField): RowWriter {
  const { args, compiler, name, source } = field
  const { served } = compiler
  switch (source.form) {
    case 'relation':
      return relationWriter(source.relation, field)
    case 'usedBy':
      return severalKindsWriter(field, new UsedByRead(served, kind))
    case 'owned':
      return severalKindsWriter(field, new OwnedRead(served, kind))
    case 'polymorphic':
      return severalKindsWriter(field, new PolymorphicRead(served, kind, source.field))
    case 'owners': {
      const write = anyRowWriter(field)
      const refused = refusedBeside(field)
      return (run, part, id) =>
        listText(run, ownersOf(run, part, id, refused), (owner) => write(run, owner.part, owner.id))
    }
    case 'ownerChain':
    case 'rootOwner': {
      const write = valueWriter(field)
      const refused = refusedBeside(field)
      const isRoot = source.form === 'rootOwner'
      return (run, part, id) => {
        const chain = ownerChainOf(run, part, id, refused)
        return write(run, isRoot ? chain.at(-1) : chain)
      }
    }
    case 'objectRef': {
      if (!('field' in source)) break
      const { kindAt, many } = source.field
      const relation = kindAt && compiler.relation(kindAt.relation, field)
      const read = new ObjectRefRead(source.field, relation)
      const write = valueWriter(field)
      const refused = refusedBeside(field)
      return (run, part, id) => {
        const refs = read.refs(run, part, id, refused)
        return write(run, many ? refs : refs[0])
      }
    }
    case 'ofRowType':
      // `events` of a kind without a relation to Events, `usedBy` of one that nothing uses.
      return () => 'null'
    case 'cluster': {
      // Rows of subscriptions keep the state of their last write.
      const write = valueWriter(field)
      return (run, { cluster }) => write(run, clusterState(run, cluster))
    }
    case 'secretContents':
      compiler.readsDirectly(field)
      return (run, part, id) => {
        const contents = run.direct.secret(directObject(part, id), run.budget)
        return JSON.stringify(contents?.[name as keyof SecretContents] ?? null)
      }
    case 'printerColumns': {
      // Of a kind whose columns only the API server knows.
      compiler.readsDirectly(field)
      const write = valueWriter(field)
      return (run, part, id) => {
        const wide = run.argumentsOf(args)['wide'] === true
        return write(run, run.direct.columns(directObject(part, id), wide))
      }
    }
    case 'can':
      // The server reviews the unknown permissions of all rows together, then runs again.
      compiler.dependsOnViewer()
      return (run, part, id) => {
        const asked = run.argumentsOf(args) as unknown as ObjectCanArguments
        return String(canDo(run, part, splitObjectKey(part.view.keyOf(id)), asked) ?? null)
      }
    case 'usage':
      return usageWriter(kind, field)
    case 'extension': {
      const write = extensionWriter(source.field, field)
      return (run, part, id) => write(run, run.extensions.ofRow(part, id))
    }
    default:
  }
  throw field.notCovered()
}

/** Compiles the objects of one kind that a relation leads to. */
function relationWriter(relation: RelationField, field: PlanField): RowWriter {
  const { compiler, args, selections } = field
  const read = compiler.relation(relation, field)
  const { to } = read
  if (relation.many) {
    const write = compiler.list(to, field)
    return (run, part, id) => write(run, read.many(run, part, id, run.requestOf(args, to)))
  }
  const write = compiler.row(to, selections)
  const refused = refusedBeside(field)
  return (run, part, id) => {
    const found = read.one(run, part, id, refused)
    return found === undefined ? 'null' : write(run, found.part, found.id)
  }
}

/** A relation to objects of several kinds, whose page is the value of a connection. */
interface SeveralKinds {
  needs(values: Readonly<Record<string, unknown>>, cluster: string): readonly RelatedNeed[]
  page(run: PlanRun, found: FoundObject, values: ObjectOwnedArguments): object
}

function severalKindsWriter(field: PlanField, read: SeveralKinds): RowWriter {
  const { compiler, args } = field
  compiler.asks({ args, needs: (values, cluster) => read.needs(values, cluster) })
  const write = reportingWriter(field)
  return (run, part, id) => write(run, read.page(run, { part, id }, run.argumentsOf(args)))
}

/** Compiles `usage`. Why it is not known stands beside the answer, once for all rows. */
function usageWriter(kind: Kind, field: PlanField): RowWriter {
  const { compiler } = field
  const measured = usageKindOf(kind)
  if (measured !== undefined) {
    const { clusters } = compiler.served
    compiler.asks({
      args: field.args,
      needs: (_values, cluster) =>
        clusters.get(cluster)?.serves(measured.resource) === true
          ? [{ kind: measured, indexes: {} }]
          : [],
    })
    compiler.leadsTo([measured])
  }
  const refused = refusedBeside(field)
  const write = valueWriter(field)
  return (run, part, id) => {
    const used = usageOf(run, part, id)
    if (used instanceof ClientError) refused(run, used)
    return used === undefined || used instanceof ClientError ? 'null' : write(run, used)
  }
}

/** Fragments share these places of a run. Two at one place only look each other's up again. */
const recentFragments = 64
let fragments = 0

/** The number of argument values that a fragment keeps. */
const maxVariations = 64

/** Adjacent own fields of an object, by response key. */
type AdjacentFields = readonly (readonly [string, readonly FieldNode[]])[]

/** Adjacent own fields of the objects of a kind. */
interface OwnFields {
  readonly kind: Kind
  readonly type: GraphQLObjectType
  readonly fields: AdjacentFields
  /** Whether the fields are the whole object: its text then includes the braces. */
  readonly isWhole: boolean
}

/**
 * Compiles adjacent own fields of an object. Their text depends on the held row alone, so each version of an object is
 * written once. The cache keys the text by the signature of the selection: all plans with this selection share it. What a
 * projection cannot write is written from the decoded object below.
 */
function ownFragment(own: OwnFields, compiler: PlanCompiler): RowWriter {
  const { kind, type, fields, isWhole } = own
  const { collect, scope } = compiler
  let decoded: RowWriter | undefined
  const writeDecoded: RowWriter = (run, part, id) => {
    decoded ??= compiler.in(scope, () => decodedFields(type, fields, compiler))
    const text = decoded(run, part, id)
    return isWhole ? text : text.slice(1, -1)
  }
  /** The arguments of the fields, found by the first selection. */
  let knownArguments: ReadonlyMap<FieldNode, FieldArguments> | undefined
  let isConstant = false
  let variations = new Map<string, WeakMap<StoreView, StoreFragment>>()
  let variationBytes = 0
  const grown = (bytes: number): void => {
    variationBytes += bytes
    collect.grown(bytes)
  }
  const select = (run: PlanRun, { cluster, isDirect }: KindView) => {
    const notes = [cluster]
    let charged = 0
    const found = new Map<FieldNode, FieldArguments>()
    const selection = ownSelection(type, fields, {
      kind,
      cluster,
      isDirect: isDirect === true,
      collect: { ...collect, grown },
      argumentsOf(field, node) {
        const args = knownArguments?.get(node) ?? new FieldArguments(field, node)
        found.set(node, args)
        return run.argumentsOf(args)
      },
      note: (line) => notes.push(line),
      charge: (extra) => void (charged += extra),
    })
    if (knownArguments === undefined) {
      knownArguments = found
      isConstant = [...found.values()].every(({ constant }) => constant !== undefined)
    }
    const signature = `${isWhole ? '{}' : ''}${notes.join('\n')}`
    return { selection, signature, fields: fieldsOf(selection) + charged }
  }
  const variationOf = (run: PlanRun): string =>
    isConstant || knownArguments === undefined
      ? ''
      : JSON.stringify(Array.from(knownArguments.values(), (args) => run.argumentsOf(args)))

  const fragmentOf = (run: PlanRun, part: KindView): StoreFragment => {
    const { view } = part
    const known = knownArguments && variations.get(variationOf(run))?.get(view)
    if (known !== undefined) return known
    const selected = select(run, part)
    const variation = variationOf(run)
    let ofView = variations.get(variation)
    if (ofView === undefined) {
      if (variations.size >= maxVariations) {
        variations = new Map()
        grown(-variationBytes)
      }
      variations.set(variation, (ofView = new WeakMap()))
    }
    grown(2 * variation.length)
    const fragment = {
      memo: run.fragmentsOf(part).memo(selected.signature, view),
      project: view.projection(selected.selection),
      fields: selected.fields,
    }
    ofView.set(view, fragment)
    return fragment
  }

  // The next row mostly reuses the fragment of the last one. The run remembers it, not the plan, which outlives the stores it reads.
  const place = ++fragments % recentFragments
  return (run, part, id) => {
    const { view } = part
    let recent = run.recent[place]
    if (recent === undefined || recent.view !== view || recent.of !== fragmentOf) {
      const fragment = readable(fragmentOf, run, part)
      recent = { of: fragmentOf, view, fragment }
      run.recent[place] = recent
    }
    const { fragment } = recent
    if (fragment === undefined) return writeDecoded(run, part, id)
    const { memo } = fragment
    const held = view.held(id)
    let text = memo.get(id, held)
    if (text === undefined) {
      text = projected(run.budget, fragment, held)
      if (text === undefined) return writeDecoded(run, part, id)
      if (!isWhole) text = text.slice(1, -1)
      memo.set(id, held, text)
    }
    run.budget.spend('bytes', text.length)
    return text
  }
}

/** The fragment; `undefined` if its arguments cannot be read. */
function readable(
  fragmentOf: (run: PlanRun, part: KindView) => StoreFragment,
  run: PlanRun,
  part: KindView,
): StoreFragment | undefined {
  try {
    return fragmentOf(run, part)
  } catch (error) {
    if (error instanceof ArgumentError || error instanceof GraphQLError) return undefined
    throw error
  }
}

/**
 * Projects a held row; `undefined` if it has a value that GraphQL refuses. The text is limited to the bytes left in the
 * budget, which pays for one that exceeds them. Apart from the writer, whose calls would allocate what a closure captures.
 */
function projected(
  budget: WorkBudget,
  { project, fields }: StoreFragment,
  held: Parameters<StoreFragment['project']>[0],
): string | undefined {
  budget.spend('fields', fields)
  try {
    return project(held, budget.left('bytes'))
  } catch (error) {
    if (error instanceof AnswerTooLongError) budget.spend('bytes', error.length)
    throw error
  }
}

/** The number of fields that a selection writes if each list has one item. */
function fieldsOf({ fields }: ObjectSelection): number {
  return fields.reduce((sum, { value }) => sum + 1 + innerFieldsOf(value), 0)
}

function innerFieldsOf(value: SelectedValue): number {
  switch (value.form) {
    case 'object':
      return fieldsOf(value.selection)
    case 'list':
      return innerFieldsOf(value.of)
    case 'entries':
      return value.fields.length
    case 'leaf':
    case 'made':
    case 'text':
      return 0
  }
}

/**
 * Writes own fields of an object one by one, from the decoded object. This is the slow way, for what a projection cannot
 * write: a value that the schema forbids, such as text where it has an integer, and arguments that cannot be read. Then each
 * field fails by itself, with the error that graphql-js words, and what is around it becomes null as section 6.4.4 of the
 * GraphQL specification says. Nothing of it is kept.
 */

/** Compiles adjacent own fields of the objects of a type, with the braces around them. */
function decodedFields(
  type: GraphQLObjectType,
  fields: AdjacentFields,
  compiler: PlanCompiler,
): RowWriter {
  const members = fields.map(([key, nodes], position) => {
    const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
    if (nodes[0]?.name.value === '__typename') {
      return { before, write: () => JSON.stringify(type.name) }
    }
    return compiler.within(key, () => {
      const field = new PlanField(type, key, nodes, compiler)
      return { before, write: answered(field, memberWriter(field)) }
    })
  })
  return (run, part, id) => {
    run.budget.spend('fields', members.length * plannedFields)
    return objectText(run, members, part, part.view.object(id) as Unstructured)
  }
}

type MemberWriter = (run: Parameters<RowWriter>[0], part: KindView, object: Unstructured) => string

function memberWriter(field: PlanField): MemberWriter {
  const { args } = field
  const read = readerOf(field)
  const write = valueWriter(field)
  return (run, part, object) => write(run, read(object, run.argumentsOf(args), part))
}

type Read = (
  object: Unstructured,
  args: Readonly<Record<string, unknown>>,
  part: KindView,
) => unknown

/** Reads an own field: `isOwnField` says which there are. */
function readerOf(field: PlanField): Read {
  const { source } = field
  switch (source.form) {
    case 'id':
      return ({ metadata }, _args, part) =>
        objectIdOf(part, { key: objectKey(metadata), uid: metadata.uid ?? '' })
    case 'clusterName':
      return (_object, _args, { cluster }) => cluster
    case 'constant':
      return () => source.value
    case 'json':
      return (object, args) => jsonAt(object, args[source.argument] as string | null | undefined)
    case 'health':
      return (object) => ruledHealth(source.rule, object)
    case 'podAmounts':
      return (object) => podAmountsOf(source.list, object)
    case 'printerColumns': {
      const { printed, argument } = source
      if (printed === undefined) break
      return (object, args) => printedColumns(printed, object, args[argument] === true)
    }
    default: {
      const read = jsonReader(source)
      if (read !== undefined) return read
    }
  }
  throw field.notCovered()
}
