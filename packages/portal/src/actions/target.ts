import type { Manager } from '../delivery/managed-by.tsx'
import { ActionTargetDocument } from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import type { words } from '../words.ts'
import { groupOf } from '../object/json.ts'

/** The object that actions are for. */
export interface Acted {
  readonly id: string
  readonly clusterName: string
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
}

/** What actions need; the texts of {@link words} say each. */
export type Right = keyof typeof words.actions.rights

/** The object as it was when its actions were asked for, and what the user may do with it. */
export interface ActionTarget extends Acted {
  readonly json: unknown
  readonly managers: readonly Manager[] | null
  /** `null`: known only when it is tried. */
  readonly may: (right: Right) => boolean | null
}

/** The kinds with a subresource `scale`. */
const scaled = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController']

/** Asks for the state of an object and for the user's rights, while `enabled`. */
export function useActionTarget(
  acted: Acted,
  enabled: boolean,
): { readonly target: ActionTarget | undefined; readonly errors: readonly AnswerError[] } {
  const { id, kind, namespace, clusterName: cluster } = acted
  const isOf = (one: string): boolean => kind === one && groupOf(acted.apiVersion) === builtIn[one]
  const variables = {
    id,
    cluster,
    namespace,
    isPod: isOf('Pod'),
    isScaled: scaled.some(isOf),
    isCronJob: isOf('CronJob'),
    isNode: isOf('Node'),
  }
  const { data, errors, isPrevious } = useAnswer(ActionTargetDocument, variables, { enabled })
  const object = isPrevious ? undefined : data?.object
  if (object === undefined || object === null) return { target: undefined, errors }
  const { patch, run = null, evictAll = null } = { ...object, ...data }
  const rights: Readonly<Record<Right, boolean | null>> = {
    patch,
    scale: object.scale ?? null,
    evict: object.evict ?? null,
    delete: object.delete,
    run,
    drain: patch === false || evictAll === false ? false : patch && evictAll,
  }
  return {
    target: {
      ...acted,
      json: object.json,
      managers: object.managedBy,
      may: (right) => rights[right],
    },
    errors,
  }
}

/** The API group of each kind with actions of its own. */
const builtIn: Readonly<Record<string, string>> = {
  Pod: '',
  Node: '',
  ReplicationController: '',
  Deployment: 'apps',
  StatefulSet: 'apps',
  DaemonSet: 'apps',
  ReplicaSet: 'apps',
  CronJob: 'batch',
  Job: 'batch',
}

/** The kind, if it is one with actions of its own. */
export function builtInKind(acted: Pick<Acted, 'kind' | 'apiVersion'>): string | undefined {
  return builtIn[acted.kind] === groupOf(acted.apiVersion) ? acted.kind : undefined
}
