import {
  type ApiResource,
  requireResource,
  splitApiVersion,
} from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { aFlag, checkedOptions, type OptionChecks } from '../../lib/options.ts'
import type { ResourceEventHandler } from '../delivery/event-handler.ts'

/** What takes the keys: a work queue, or `{ add: (key) => queue.add({ cluster, key }) }` for keys that are no strings. */
export interface KeySink {
  add(key: string): unknown
}

/** Which owners {@link enqueueOwner} means. */
export interface EnqueueOwnerOptions {
  /** The owners' resource; any version of its group and kind counts. */
  readonly owner: ApiResource
  /** Only the owner that is the object's controller. Default false: every owner of the kind. */
  readonly onlyController?: boolean
}

const ownerChecks: OptionChecks<EnqueueOwnerOptions> = {
  owner: requireResource,
  onlyController: aFlag,
}

/** A handler that queues the key of whatever object an event is of (controller-runtime's `EnqueueRequestForObject`). */
export function enqueueObject(queue: KeySink): ResourceEventHandler {
  const add = ({ metadata }: KubernetesObject) => void queue.add(objectKey(metadata))
  return { onAdd: add, onUpdate: (_, object) => add(object), onDelete: add }
}

/**
 * A handler that queues the keys of the owners of whatever object an event is of (controller-runtime's
 * `EnqueueRequestForOwner`): of those before and after an update. Each owner reference of the kind counts, or the
 * controller's alone.
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
