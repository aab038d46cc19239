import {
  type ApiResource,
  requireResource,
  splitApiVersion,
} from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { aFlag, checkedOptions, type OptionChecks } from '../../lib/options.ts'
import type { ResourceEventHandler } from '../delivery/event-handler.ts'

/**
 * The receiver of keys: a work queue, or for keys that are not strings `{ add: (key) => queue.add({ cluster, key }) }`.
 */
export interface KeySink {
  add(key: string): unknown
}

/** The owners that {@link enqueueOwner} selects. */
export interface EnqueueOwnerOptions {
  /** The owners' resource, in any version of its group and kind. */
  readonly owner: ApiResource
  /** Whether only the controller counts. Default false: every owner of the kind. */
  readonly onlyController?: boolean
}

const ownerChecks: OptionChecks<EnqueueOwnerOptions> = {
  owner: requireResource,
  onlyController: aFlag,
}

/** A handler that queues the key of each event's object (controller-runtime's `EnqueueRequestForObject`). */
export function enqueueObject(queue: KeySink): ResourceEventHandler {
  const add = ({ metadata }: KubernetesObject) => void queue.add(objectKey(metadata))
  return { onAdd: add, onUpdate: (_, object) => add(object), onDelete: add }
}

/**
 * A handler that queues the keys of the owners of each event's object (controller-runtime's `EnqueueRequestForOwner`),
 * before and after an update. Considers every owner reference of the kind, or only the controller's.
 */
export function enqueueOwner(queue: KeySink, options: EnqueueOwnerOptions): ResourceEventHandler {
  const { owner, onlyController = false } = checkedOptions('enqueueOwner', options, ownerChecks)
  requireResource('owner', owner)
  const add = ({ metadata }: KubernetesObject) => {
    for (const { apiVersion, kind, name, controller } of metadata.ownerReferences ?? []) {
      if (kind !== owner.kind || splitApiVersion(apiVersion).group !== owner.group) continue
      if (onlyController && controller !== true) continue
      const { namespace } = metadata
      queue.add(
        objectKey(owner.namespaced && namespace !== undefined ? { namespace, name } : { name }),
      )
    }
  }
  return {
    onAdd: add,
    onUpdate: (previous, object) => {
      add(previous)
      add(object)
    },
    onDelete: add,
  }
}
