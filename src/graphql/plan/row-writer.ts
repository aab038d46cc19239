import type { SelectionSetNode } from 'graphql'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { ClientError } from '../errors/client-error.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import { usageKindOf } from '../model/usage-kind.ts'
import type { FoundObject } from '../prepare/kind-view.ts'
import { directObject } from '../reads/direct/direct-reads.ts'
import { OwnedRead } from '../reads/over-kinds/owned-read.ts'
import { clusterState } from '../reads/fleet-state.ts'
import { canDo } from '../reads/permissions.ts'
import { PolymorphicRead } from '../reads/over-kinds/polymorphic-read.ts'
import { usageOf } from '../reads/usage-read.ts'
import { UsedByRead } from '../reads/over-kinds/used-by-read.ts'
import type { ObjectCanArguments, OwnedArguments } from '../schema/read-arguments.ts'
import type { SecretContents } from '../schema/read-context.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import { collectFields } from './collected-fields.ts'
import {
  objectRefsWriter,
  ownerChainWriter,
  ownersWriter,
  rootOwnerWriter,
} from './object-ref-writer.ts'
import { isOwnField } from './own-fields.ts'
import { ownFragment } from './own-fragment.ts'
import { fragmentedMembers } from './plain-writer.ts'
import type { PlanCompiler, PlanField, RowWriter } from './plan-compiler.ts'
import { type PlanRun, refusedBeside } from './plan-run.ts'
import { objectText } from './value-run.ts'
import { extensionWriter, reportingWriter, valueWriter } from './value-writer.ts'

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
  const isOwn = (name: string): boolean => isOwnField(type, name)
  const own = [...fields].filter(([, [node]]) => isOwn(node?.name.value ?? ''))
  if (own.length === fields.size) {
    return own.length === 0
      ? () => '{}'
      : ownFragment({ kind, type, fields: own, isWhole: true }, compiler)
  }
  const members = fragmentedMembers<RowWriter>(type, fields, compiler, {
    isOwn,
    fragment: (adjacent) => ownFragment({ kind, type, fields: adjacent, isWhole: false }, compiler),
    hole: (field) => (compiler.scope.isLive ? unlessDirect(kind, field) : holeWriter(kind, field)),
  })
  return (run, part, id) => objectText(run, members, part, id)
}

/** In a subscription, a field that plans do not cover fails: frames do not wait for direct reads. */
function unlessDirect(kind: Kind, field: PlanField): RowWriter {
  try {
    return holeWriter(kind, field)
  } catch (error) {
    if (!(error instanceof NotCoveredError)) throw error
    return () => {
      const name = `${field.parent.name}.${field.name}`
      throw new ClientError(
        'UNSUPPORTED',
        `${name} is read live, so subscriptions do not include it`,
        {
          hint: 'leave the field out, and read it by a query after a change',
        },
      )
    }
  }
}

/** Compiles a field that depends on more than the object. */
function holeWriter(kind: Kind, field: PlanField): RowWriter {
  const { source, compiler } = field
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
    case 'owners':
      return ownersWriter(field)
    case 'ownerChain':
      return ownerChainWriter(field)
    case 'rootOwner':
      return rootOwnerWriter(field)
    case 'objectRef':
      if (!('field' in source)) break
      return objectRefsWriter(source.field, field)
    case 'ofRowType':
      // `events` of a kind without a relation to Events, `usedBy` of one that nothing uses.
      return () => 'null'
    case 'cluster': {
      // Rows of subscriptions keep the state of their last write.
      const write = valueWriter(field)
      return (run, { cluster }) => write(run, clusterState(run, cluster))
    }
    case 'secretContents':
      return secretWriter(field)
    case 'printerColumns':
      return serverColumnsWriter(field)
    case 'can':
      return canWriter(field)
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
  const read = compiler.relation(relation)
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
  page(run: PlanRun, found: FoundObject, values: OwnedArguments): object
}

function severalKindsWriter(field: PlanField, read: SeveralKinds): RowWriter {
  const { compiler, args } = field
  compiler.asks({ args, needs: (values, cluster) => read.needs(values, cluster) })
  const write = reportingWriter(field)
  return (run, part, id) => write(run, read.page(run, { part, id }, run.argumentsOf(args)))
}

/** Compiles `can` of an object. The server reviews the unknown permissions of all rows together, then runs again. */
function canWriter({ args, compiler }: PlanField): RowWriter {
  compiler.dependsOnViewer()
  return (run, part, id) => {
    const asked = run.argumentsOf(args) as unknown as ObjectCanArguments
    return String(canDo(run, part, splitObjectKey(part.view.keyOf(id)), asked) ?? null)
  }
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

/** Compiles `data` or `type` of a Secret, which the server reads from the API server. */
function secretWriter({ name, compiler }: PlanField): RowWriter {
  compiler.readsDirectly(name)
  return (run, part, id) => {
    const contents = run.direct.secret(directObject(part, id), run.budget)
    return JSON.stringify(contents?.[name as keyof SecretContents] ?? null)
  }
}

/** Compiles `printerColumns` of a kind whose columns only the API server knows. */
function serverColumnsWriter(field: PlanField): RowWriter {
  const { args, compiler } = field
  compiler.readsDirectly('printerColumns')
  const write = valueWriter(field)
  return (run, part, id) => {
    const wide = run.argumentsOf(args)['wide'] === true
    return write(run, run.direct.columns(directObject(part, id), wide))
  }
}
