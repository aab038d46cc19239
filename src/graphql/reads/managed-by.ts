/*
 * What manages an object (`managedBy`): the names come from the object alone, except that of an Application which only its
 * own status confirms. `object` and `reversal` read the manager, as far as the caller may read it: a manager that the caller
 * may not read counts as absent.
 */

import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'
import {
  helmSecretLabels,
  lists,
  type NamedManager,
  namedManagers,
  reversalOf,
} from '../../kubernetes/managers.ts'
import { objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import {
  allOf,
  type Condition,
  everything,
  hasLabel,
  hasValue,
} from '../../query/condition/condition.ts'
import { examinedPerDecoded } from '../../query/condition/work-budget.ts'
import { VisiblePart } from '../../query/page/list-part.ts'
import { unlessRefused } from '../errors/client-error.ts'
import type { FoundObject, KindView } from '../prepare/kind-view.ts'
import type { ManagerValue } from '../schema/gateway-types.ts'
import { foundByKey, kindOfIdentity, refOf } from './object-read.ts'
import { OncePerRun, type ReadRun } from './read-run.ts'
import { readMetadata } from './relation-read.ts'

/** The managers of an object, the nearest to the source first. */
export function managersOf(run: ReadRun, part: KindView, id: ObjectId): readonly ManagerValue[] {
  const { cluster, kind, view } = part
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const [metadata] = readMetadata(run, part, id)
  const object = { ...kind.resource, namespace: namespace === '' ? undefined : namespace, name }
  return namedManagers(object, fieldsOf(metadata)).flatMap((manager): ManagerValue | [] => {
    // Past objects lead to no present ones.
    const find = (): FoundObject | undefined =>
      part.past === undefined ? unlessRefused(() => foundManager(run, cluster, manager)) : undefined
    if (manager.isUnsure) {
      const application = heldOf(run, find())
      if (application === undefined || !lists(application, object)) return []
    }
    return {
      tool: manager.tool,
      kind: manager.owner?.kind ?? null,
      namespace: manager.namespace ?? null,
      name: manager.name,
      reversal() {
        return reversalOf(manager, heldOf(run, manager.owner && find())) ?? null
      },
      object() {
        const found = find()
        return found === undefined ? null : refOf(found)
      },
    }
  })
}

const held = new OncePerRun<Fields>()

/** A manager, decoded once for all that it manages: an Application may be large. */
function heldOf(run: ReadRun, found: FoundObject | undefined): Fields | undefined {
  if (found === undefined) return undefined
  const { part, id } = found
  return held.of(run, `${part.cluster}/${part.kind.typeName}/${part.view.keyOf(id)}`, () => {
    run.budget.spend('examined', examinedPerDecoded)
    return part.view.object(id) as unknown as Fields
  })
}

/** The manager that an object names. Of several with its name, none is known to be it. Throws `ClientError`. */
function foundManager(
  run: ReadRun,
  cluster: string,
  { owner, namespace, name }: NamedManager,
): FoundObject | undefined {
  const at = kindOfIdentity(run.served, { cluster, ...(owner ?? { group: '', kind: 'Secret' }) })
  if (at === undefined) return undefined
  if (owner !== undefined && namespace !== undefined) {
    return foundByKey(run, at, objectKey({ namespace, name }))
  }
  const labelled = helmSecretLabels(name).map(([label, value]) => hasLabel(label, [value]))
  const named: readonly Condition[] = owner === undefined ? labelled : [hasValue('name', [name])]
  const place = namespace === undefined ? everything : hasValue('namespace', [namespace])
  const condition = allOf([place, ...named])
  const within = (): readonly string[] | undefined =>
    namespace === undefined ? undefined : [namespace]
  run.followed?.({ reads: [at.kind], condition, isSaid: false })
  const part = run.late(() => run.parts.part(at, { within }))
  if (part === undefined) return undefined
  const [found, other] = new VisiblePart({ ...part, condition }, run.budget).first(undefined, 2)
  if (found === undefined || other !== undefined) return undefined
  run.budget.spend('rows', 1)
  return { part, id: found }
}
