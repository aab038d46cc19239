/*
 * How one object of a kind becomes text. Its fields stand in the order of the document. Adjacent own fields, which depend
 * on the object alone, form a fragment: a projection writes its text from the held row, and the fragment cache keeps it
 * for this version of the object. Other fields are holes between the fragments, filled in each run: a relation by the
 * writer of the rows that it leads to, anything else by the value writer. An object that a projection cannot write is
 * decoded, and written field by field.
 */

import {
  type FieldNode,
  GraphQLError,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql'
import { splitObjectKey, type Unstructured } from '../../kubernetes/object.ts'
import { ClientError } from '../errors/client-error.ts'
import { type Kind, type RelationField, usageKindOf } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { directObject } from '../reads/direct/direct-reads.ts'
import type { SecretOutline } from '../reads/direct/direct-tables.ts'
import { clusterState } from '../reads/fleet-state.ts'
import { contentNeeds, isContent, namespaceHealth } from '../reads/namespace-health.ts'
import { readHistory } from '../reads/past/past-changes.ts'
import { managersOf } from '../reads/managed-by.ts'
import { canDo } from '../reads/permissions.ts'
import { usageHistory } from '../reads/usage-history.ts'
import { usageOf } from '../reads/usage-read.ts'
import { ObjectRefRead, ownerChainOf, ownersOf } from '../reads/relation-read.ts'
import {
  anyRowWriter,
  collectFields,
  type PlanCompiler,
  PlanField,
  type RowWriter,
  writtenFields,
} from './plan-compiler.ts'
import { type RelatedField, RelatedObjects } from '../reads/over-kinds/related-objects.ts'
import type { KindUsageHistoryArguments, ObjectCanArguments } from '../schema/gateway-types.ts'
import { decodedReader, isOwnField, ownSelection } from './own-fields.ts'
import {
  fieldsPerRead,
  type PlanRun,
  refusedBeside,
  listText,
  objectText,
  valueText,
  FieldArguments,
  answered,
} from './plan-run.ts'
import { extensionWriter, valueWriter } from './value-writer.ts'
import {
  AnswerTooLongError,
  type ObjectSelection,
  type SelectedValue,
} from '../../informer/codec/projection.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { StoreFragment } from './fragment-cache.ts'

/** Compiles the objects of a kind. */
export function rowWriter(
  kind: Kind,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RowWriter {
  const type = compiler.typeOf(kind)
  // Type conditions match a type by its own name, its interfaces and the union of all kinds.
  const names = new Set([type.name, ...type.getInterfaces().map(({ name }) => name), '_Entity'])
  const fields = collectFields(selectionSets, names, compiler.collect)
  if (fields.size === 0) return () => '{}'
  type Member = { readonly before: string; readonly write: RowWriter }
  const members: Member[] = []
  /** The same for objects in a past state, which lead to no others. */
  const pastMembers: Member[] = []
  // Joins separators and names in advance: the answer copies each piece once more.
  const add = (name: string, write: RowWriter, writePast = write): void => {
    const before = `${members.length === 0 ? '' : ','}${name}`
    members.push({ before, write })
    pastMembers.push({ before, write: writePast })
  }
  let hasPast = false
  let own: [string, readonly FieldNode[]][] = []
  for (const [key, nodes] of fields) {
    if (isOwnField(type, nodes[0]?.name.value ?? '')) {
      own.push([key, nodes])
      continue
    }
    if (own.length > 0) add('', ownFragment({ kind, type, fields: own, isWhole: false }, compiler))
    own = []
    const field = compiler.within(key, () => new PlanField(type, key, nodes, compiler))
    const isOfPast = ofPast.has(field.source.form)
    hasPast ||= !isOfPast
    const write = compiler.within(key, () => {
      try {
        return answered(field, holeWriter(kind, field))
      } catch (error) {
        const isDirect = error instanceof ClientError && error.code === 'UNSUPPORTED'
        if (!compiler.scope.isLive || !isDirect) throw error
        // Frames do not wait for direct reads: only this field fails in a subscription.
        return answered(field, () => {
          throw error
        })
      }
    })
    const refused = answered(field, () => {
      throw leadsFromPast(field)
    })
    add(`${JSON.stringify(key)}:`, write, isOfPast ? write : refused)
  }
  if (members.length === 0) return ownFragment({ kind, type, fields: own, isWhole: true }, compiler)
  if (own.length > 0) add('', ownFragment({ kind, type, fields: own, isWhole: false }, compiler))
  if (!hasPast) return (run, part, id) => objectText(run, members, part, id)
  return (run, part, id) =>
    objectText(run, part.past !== undefined ? pastMembers : members, part, id)
}

/** The fields of an object that its past states have as well, besides its own. */
const ofPast: ReadonlySet<string> = new Set(['history', 'can', 'cluster', 'managedBy'])

function leadsFromPast({ parent, name }: PlanField): ClientError {
  const message = `${parent.name}.${name}: a past object leads to no other objects`
  const hint = 'read it of the present object, or read the other object by `at`, too'
  return new ClientError('UNSUPPORTED', message, { hint })
}

/** Reads the value of a hole. An error that it throws is the error of the field. */
type HoleRead = (run: PlanRun, part: KindView, id: ObjectId) => unknown

/**
 * Compiles a field that depends on more than the object. Row writers write the rows that it leads to, from their bare
 * ids. Anything else is a value: {@link holeReader} reads it, and the value writer writes it.
 */
function holeWriter(kind: Kind, field: PlanField): RowWriter {
  const { source } = field
  switch (source.form) {
    case 'relation':
      return relationWriter(source.relation, field)
    case 'owners': {
      const write = anyRowWriter(field)
      const refused = refusedBeside(field)
      return (run, part, id) =>
        listText(run, ownersOf(run, part, id, refused), (owner) => write(run, owner.part, owner.id))
    }
    case 'extension': {
      const write = extensionWriter(source.field, field)
      return (run, part, id) => write(run, run.extensions.ofRow(part, id))
    }
    default: {
      const read = holeReader(kind, field)
      const write = valueWriter(field)
      return (run, part, id) => write(run, read(run, part, id))
    }
  }
}

function holeReader(kind: Kind, field: PlanField): HoleRead {
  const { args, compiler, name, source } = field
  const { served } = compiler
  const refused = refusedBeside(field)
  const several = (related: RelatedField): HoleRead => {
    const read = new RelatedObjects(served, kind, related)
    compiler.asks({ args, needs: (values, cluster) => read.needs(values, cluster) })
    return (run, part, id) => read.page(run, { part, id }, run.argumentsOf(args))
  }
  const readsUsage = (measured: Kind | undefined): void => {
    if (measured === undefined) return
    const needs = [{ kind: measured, indexes: {} }]
    const serves = (cluster: string): boolean =>
      served.clusters.get(cluster)?.serves(measured.resource) === true
    compiler.asks({ args, needs: (_values, cluster) => (serves(cluster) ? needs : []) })
    compiler.leadsTo([measured])
  }
  switch (source.form) {
    case 'usedBy':
    case 'owned':
      return several(source.form)
    case 'polymorphic':
      return several(source.field)
    case 'ownerChain':
      return (run, part, id) => ownerChainOf(run, part, id, refused)
    case 'rootOwner':
      return (run, part, id) => ownerChainOf(run, part, id, refused).at(-1)
    case 'managedBy':
      return managersOf
    case 'objectRef': {
      if (!('field' in source)) break
      const { kindAt, many } = source.field
      const read = new ObjectRefRead(
        source.field,
        kindAt && compiler.relation(kindAt.relation, field),
      )
      return (run, part, id) => {
        const refs = read.refs(run, part, id, refused)
        return many ? refs : refs[0]
      }
    }
    case 'ofRowType':
      // `events` of a kind without a relation to Events.
      return () => null
    case 'cluster':
      // Rows of subscriptions keep the state of their last write.
      return (run, { cluster }) => clusterState(run, cluster)
    case 'secretContents':
      compiler.readsDirectly(field)
      return (run, part, id) => run.direct.secret(directObject(part, id), run.budget)?.data
    case 'secretOutline':
      compiler.readsDirectly(field)
      return (run, part, id) =>
        run.direct.secretOutline(directObject(part, id), run.budget)?.[name as keyof SecretOutline]
    case 'printerColumns':
      // Only the API server knows the columns of this kind.
      compiler.readsDirectly(field)
      return (run, part, id) =>
        run.direct.columns(directObject(part, id), run.argumentsOf(args)['wide'] === true)
    case 'can':
      // The server reviews the unknown permissions of all rows together, then runs again.
      compiler.dependsOnViewer()
      return (run, part, id) =>
        canDo(
          run,
          part,
          splitObjectKey(part.view.keyOf(id)),
          run.argumentsOf(args) as unknown as ObjectCanArguments,
        )
    case 'history':
      compiler.readsDirectly(field)
      return (run, part, id) => readHistory(run, part, id, run.argumentsOf(args))
    case 'namespaceHealth':
      compiler.asks({ args, needs: (_values, cluster) => contentNeeds(served, cluster) })
      compiler.leadsTo([...served.problemKinds].filter(isContent))
      return (run, part, id) => namespaceHealth(run, part, id)
    case 'usage':
      readsUsage(usageKindOf(kind))
      return (run, part, id) => {
        const used = usageOf(run, part, id)
        // The reason why it is unknown stands beside the answer, once for all rows.
        if (!(used instanceof ClientError)) return used
        refused(run, used)
        return null
      }
    case 'usageHistory': {
      compiler.readsDirectly(field)
      const { pods } = source
      const read = pods === undefined ? undefined : compiler.relation(pods, field)
      readsUsage(usageKindOf(read?.to ?? kind))
      return (run, part, id) => {
        const objects = read === undefined ? [{ part, id }] : read.all(run, part, id)
        const values = run.argumentsOf(args) as KindUsageHistoryArguments
        return usageHistory(
          run,
          objects,
          { ...values, cluster: part.cluster, kind: read?.to ?? kind },
          (error) => refused(run, error),
        )
      }
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

/** Fragments share these places of a run. Two fragments at one place only replace each other, at the cost of a look-up. */
const recentFragments = 64
let fragments = 0

/** The number of argument values that a fragment keeps. */
const maxVariations = 64

/** Adjacent own fields of an object, by response key. */
type AdjacentFields = readonly (readonly [string, readonly FieldNode[]])[]

interface OwnFields {
  readonly kind: Kind
  readonly type: GraphQLObjectType
  readonly fields: AdjacentFields
  /** Whether the fields are the whole object: its text then includes the braces. */
  readonly isWhole: boolean
}

/**
 * Compiles adjacent own fields of an object. The cache keys the text by the signature of the selection, so all plans with
 * this selection share it. {@link decodedFields} writes what a projection cannot write.
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
  const select = (run: PlanRun, { cluster, isDirect, past }: KindView) => {
    const notes = [cluster]
    let charged = 0
    const found = new Map<FieldNode, FieldArguments>()
    const selection = ownSelection(type, fields, {
      kind,
      cluster,
      isDirect: isDirect === true,
      past,
      collect: { ...collect, grown },
      argumentsOf(field, node) {
        const args = knownArguments?.get(node) ?? new FieldArguments(field, node)
        found.set(node, args)
        return run.argumentsOf(args)
      },
      written: ({ name }, nodes) => {
        const write = compiler.in(scope, () =>
          valueWriter(new PlanField(type, name, nodes, compiler)),
        )
        return (value) => valueText(write, value)
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

  // The next row mostly reuses the last fragment. The run remembers it, since the plan outlives the stores that it reads.
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
 * Projects a held row; `undefined` if it has a value that GraphQL refuses. The text is limited to the remaining bytes of
 * the budget, which pays for a longer one. A separate function, since the writer would allocate a closure for each row.
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
 * Compiles adjacent own fields of an object, with the braces around them, one by one from the decoded object. This is the
 * slow way, for values that the schema forbids, such as text in place of an integer, and for arguments that cannot be
 * read. Each field fails by itself, with the error of graphql-js, and nulls spread as section 6.4.4 of the GraphQL
 * specification says. The texts are not kept.
 */
function decodedFields(
  type: GraphQLObjectType,
  fields: AdjacentFields,
  compiler: PlanCompiler,
): RowWriter {
  type MemberWriter = (run: PlanRun, part: KindView, object: Unstructured) => string
  const members = writtenFields(type, fields, compiler, (field): MemberWriter => {
    const { args } = field
    const read = decodedReader(field.source)
    if (read === undefined) throw field.notCovered()
    const write = valueWriter(field)
    return (run, part, object) => write(run, read(object, run.argumentsOf(args), part))
  })
  return (run, part, id) => {
    run.budget.spend('fields', members.length * fieldsPerRead)
    return objectText(run, members, part, part.view.object(id) as Unstructured)
  }
}
