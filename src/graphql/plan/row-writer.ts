import type { FieldNode, GraphQLField, GraphQLObjectType, SelectionSetNode } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import { canWriter } from './can-writer.ts'
import { secretWriter, serverColumnsWriter } from './direct-writers.ts'
import { clusterWriter } from './cluster-writer.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { FieldArguments } from './field-arguments.ts'
import { answered, fieldType } from './field-errors.ts'
import { ClientError } from '../errors/client-error.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { isOwnField } from './own-fields.ts'
import { OwnFragment } from './own-fragment.ts'
import {
  objectRefsWriter,
  ownerChainWriter,
  ownersWriter,
  rootOwnerWriter,
} from './owner-writers.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { relationWriter } from './relation-writer.ts'
import { polymorphicRelationWriter, ownedWriter } from './polymorphic-writers.ts'
import { usedByWriter } from './used-by-writer.ts'
import type { RowWriter } from './writers.ts'

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
  const fields = collectFields(selectionSets, compiler.namesOf(type), compiler.collect)
  const members: Member[] = []
  let own: [string, readonly FieldNode[]][] = []
  const endFragment = (isWhole: boolean): void => {
    if (own.length === 0) return
    const fragment = new OwnFragment(kind, type, own, isWhole, compiler)
    members.push({ name: '', write: (run, part, id) => fragment.text(run, part, id) })
    own = []
  }
  for (const [key, nodes] of fields) {
    const name = nodes[0]?.name.value ?? ''
    if (isOwnField(type, name)) {
      own.push([key, nodes])
      continue
    }
    endFragment(false)
    const member = (): RowWriter => memberWriter(kind, type, nodes, compiler)
    const written = compiler.within(key, () =>
      compiler.isLive ? unlessDirect(`${type.name}.${name}`, member) : member(),
    )
    const write = answered({ key, type: fieldType(type, name), nodes }, written)
    members.push({ name: `${JSON.stringify(key)}:`, write })
  }
  if (members.length === 0) {
    endFragment(true)
    return members[0]?.write ?? (() => '{}')
  }
  endFragment(false)
  // Joins separators and names in advance: the answer copies each piece once more.
  const parts = members.map(({ name, write }, at) => ({
    before: `${at === 0 ? '' : ','}${name}`,
    write,
  }))
  return (run, part, id) => run.object(parts, part, id)
}

/** In a subscription, a field that plans do not cover fails: frames do not wait for direct reads. */
function unlessDirect(field: string, compile: () => RowWriter): RowWriter {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof NotCoveredError)) throw error
    return () => {
      throw new ClientError('UNSUPPORTED', `${field} is read live: frames do not have it`, {
        hint: 'leave the field out, and read it by a query when a change comes',
      })
    }
  }
}

/** One piece of a row: a fragment of own fields, or one field with its name. */
interface Member {
  readonly name: string
  readonly write: RowWriter
}

function memberWriter(
  kind: Kind,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  const [node] = nodes
  const field: GraphQLField<unknown, unknown> | undefined = type.getFields()[node?.name.value ?? '']
  if (node === undefined || field === undefined) throw new NotCoveredError(type.name)
  const source = fieldSourceOf(field)
  switch (source.form) {
    case 'relation':
      return relationWriter(
        source.relation,
        new FieldArguments(field, node),
        selectionsOf(nodes),
        compiler,
      )
    case 'usedBy':
      return usedByWriter(kind, new FieldArguments(field, node), nodes, compiler)
    case 'owners':
      return ownersWriter(nodes, compiler)
    case 'ownerChain':
      return ownerChainWriter(nodes, compiler)
    case 'rootOwner':
      return rootOwnerWriter(nodes, compiler)
    case 'objectRef':
      if (!('field' in source)) break
      return objectRefsWriter(source.field, nodes, compiler)
    case 'owned':
      return ownedWriter(kind, new FieldArguments(field, node), nodes, compiler)
    case 'polymorphic': {
      const args = new FieldArguments(field, node)
      return polymorphicRelationWriter(kind, source.field, { args, nodes }, compiler)
    }
    case 'ofRowType':
      // `events` of a kind without a relation to Events.
      return () => 'null'
    case 'cluster':
      return clusterWriter(nodes, compiler)
    case 'secretContents':
      return secretWriter(field.name, compiler)
    case 'printerColumns':
      return serverColumnsWriter(new FieldArguments(field, node), nodes, compiler)
    case 'can':
      compiler.dependsOnViewer()
      return canWriter(new FieldArguments(field, node))
    default:
  }
  throw new NotCoveredError(`${type.name}.${field.name}`)
}
