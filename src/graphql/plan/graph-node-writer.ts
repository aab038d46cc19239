import type { FieldNode } from 'graphql'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { WalkNode } from '../../query/relation/graph-walk.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { referenced, refOf } from '../reads/object-read.ts'
import type { FragmentMemo } from './fragment-cache.ts'
import { answered, fieldType } from './field-errors.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Writes an object of a graph, or some of its members. */
type NodeWriter = (run: PlanRun, node: WalkNode<KindView>) => string

/** A text made from an object's kind, key and UID. */
type OwnText = (part: KindView, id: ObjectId) => string

const typeName = 'GraphNode'

/** Compiles the objects of graphs. Throws {@link NotCoveredError}. */
export function graphNodeWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): NodeWriter {
  const members: { readonly before: string; readonly write: NodeWriter }[] = []
  const add = (before: string, write: NodeWriter): void => {
    members.push({ before: `${members.length === 0 ? '' : ','}${before}`, write })
  }
  let own: { readonly name: string; readonly before: string; readonly text: OwnText }[] = []
  const endFragment = (): void => {
    if (own.length > 0) add('', fragmentWriter(own))
    own = []
  }
  for (const [key, same] of collectFields(
    selectionsOf(nodes),
    new Set([typeName]),
    compiler.collect,
  )) {
    const name = same[0]?.name.value ?? ''
    const before = `${JSON.stringify(key)}:`
    const text = ownTexts[name]
    if (text !== undefined) {
      own.push({ name, before, text })
      continue
    }
    endFragment()
    const hole = compiler.within(key, () => holeWriter(name, same, compiler))
    const type = fieldType(compiler.objectType(typeName), name)
    add(before, answered({ key, type, nodes: same }, hole))
  }
  endFragment()
  return (run, node) => run.object(members, node)
}

/** Writes adjacent members, whose text the fragment cache keeps. */
function fragmentWriter(
  members: readonly { readonly name: string; readonly before: string; readonly text: OwnText }[],
): NodeWriter {
  const signature = members.map(({ name, before }) => before + name).join()
  const texts = new GraphTexts(signature, members.length, (part, id) =>
    members.map(({ before, text }) => before + text(part, id)).join(),
  )
  return (run, { part, id }) => texts.of(run, part, id)
}

/** Compiles a member that depends on more than the object. */
function holeWriter(name: string, nodes: readonly FieldNode[], compiler: PlanCompiler): NodeWriter {
  if (name === 'depth') return (_run, { depth }) => String(depth)
  if (name !== 'object') throw new NotCoveredError(`${typeName}.${name}`)
  const write = anyRowWriter(selectionsOf(nodes), compiler)
  const { place } = compiler
  return (run, node) => {
    run.budget.report?.at(place)
    // The viewer may see a reached object, yet may lack the access to look it up.
    const found = referenced(run, refOf(node))
    if (found === undefined) return 'null'
    run.budget.spend('rows', 1)
    return write(run, found.part, found.id)
  }
}

/** Texts that the fragment cache keeps for each version of an object. */
class GraphTexts {
  readonly #signature: string
  readonly #fields: number
  readonly #make: OwnText
  readonly #memos = new WeakMap<StoreView, FragmentMemo>()

  /** `fields`: the number of fields in one text. */
  constructor(signature: string, fields: number, make: OwnText) {
    this.#signature = signature
    this.#fields = fields
    this.#make = make
  }

  of(run: PlanRun, part: KindView, id: ObjectId): string {
    const { view } = part
    let memo = this.#memos.get(view)
    if (memo === undefined) {
      // The prefix keeps it apart from the signatures of own fields.
      memo = run.fragmentsOf(part).memo(`\0graph ${part.cluster}\n${this.#signature}`, view)
      this.#memos.set(view, memo)
    }
    const held = view.held(id)
    let text = memo.get(id, held)
    if (text === undefined) {
      run.budget.spend('fields', this.#fields)
      text = this.#make(part, id)
      memo.set(id, held, text)
    }
    return text
  }
}

function idOf(part: KindView, id: ObjectId): string {
  const { view } = part
  // base64url needs no escapes.
  return `"${objectIdOf(part, { key: view.keyOf(id), uid: view.uidOf(id) })}"`
}

const ids = new GraphTexts('id', 1, idOf)

/** The `id` of an object of a graph, as JSON. */
export function graphIdOf(run: PlanRun, { part, id }: WalkNode<KindView>): string {
  return ids.of(run, part, id)
}

const ownTexts: Readonly<Record<string, OwnText>> = {
  __typename: () => JSON.stringify(typeName),
  id: idOf,
  clusterName: ({ cluster }) => JSON.stringify(cluster),
  apiVersion: ({ kind }) => JSON.stringify(kind.apiVersion),
  kind: ({ kind }) => JSON.stringify(kind.resource.kind),
  namespace: ({ view }, id) => JSON.stringify(splitObjectKey(view.keyOf(id)).namespace || null),
  name: ({ view }, id) => JSON.stringify(splitObjectKey(view.keyOf(id)).name),
}
