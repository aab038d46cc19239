/*
 * What a mutation answers: `WritePayload`. A dry run has a `preview` in place of the object, which is a value without an
 * `id`, so that no cache of a client takes it for the stored object. A failed write has a payload (`failedPayload`) if its
 * `errors` are selected: the same facts as the error beside it, one entry for each field that the API server names.
 */

import type { FieldChange } from '../../kubernetes/field-changes.ts'
import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { boundedErrors, clientErrorOf } from '../errors/client-error.ts'
import { fieldsPerJsonPath, jsonAt } from '../plan/own-fields.ts'
import type { StoredObject } from '../reads/direct/direct-reads.ts'
import type {
  ErrorCode,
  ObjectPreviewValue,
  PathArguments,
  WriteError,
} from '../schema/gateway-types.ts'

/** The result of a write, of a dry run or, with `failures`, of a failed write whose errors are data. */
export interface WritePayload {
  /** The object in the API server's answer, in a store of its own; `null` if it is gone, and for a dry run. */
  readonly object: StoredObject | null
  /** The object that a dry run would store; `null` if it would be gone. */
  readonly preview: ObjectPreviewValue | null
  readonly errors: readonly WriteError[]
  /** The error of a failed write, which is reported beside the payload. */
  readonly failures?: readonly Error[]
  readonly changes: readonly FieldChange[]
  readonly resourceVersion: string | null
  readonly warnings: readonly string[]
  readonly dryRun: boolean
  readonly behind: boolean
  /** How long the write has waited for the cache. No field shows it. */
  readonly waitedMs: number
  /** The name of the object, even if the API server made it; `''` if unknown. No field shows it. */
  readonly name: string
}

/** The value of an object that is not stored. `object`: as caches would hold it. */
export function previewOf(cluster: string, object: KubernetesObject): ObjectPreviewValue {
  const { apiVersion, kind, metadata } = object
  return {
    clusterName: cluster,
    apiVersion,
    kind,
    namespace: metadata.namespace ?? null,
    name: metadata.name,
    metadata,
    json({ path }: PathArguments, { budget }: { readonly budget: WorkBudget }) {
      budget.spend('fields', fieldsPerJsonPath)
      return jsonAt(object, path)
    },
  }
}

/** The payload of a failed write. */
export function failedPayload(error: Error, dryRun: boolean): WritePayload {
  return {
    object: null,
    preview: null,
    errors: writeErrorsOf(error),
    failures: [error],
    changes: [],
    resourceVersion: null,
    warnings: [],
    dryRun,
    behind: false,
    waitedMs: 0,
    name: '',
  }
}

function writeErrorsOf(error: Error): readonly WriteError[] {
  return boundedErrors([clientErrorOf(error)]).flatMap(({ message, extensions }) => {
    const { code, retryAfterMs, precondition } = extensions
    const whole: WriteError = {
      // graphql-js gives no code to an argument that it cannot coerce.
      code: (textOf(code) ?? 'BAD_USER_INPUT') as ErrorCode,
      field: precondition === undefined ? null : `metadata.${textOf(precondition)}`,
      message,
      argument: textOf(extensions['argument']) ?? null,
      reason: null,
      manager: null,
      hint: textOf(extensions['hint']) ?? null,
      retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : null,
    }
    const parts = [...itemsOf(extensions['conflicts']), ...itemsOf(extensions['causes'])]
    if (parts.length === 0) return whole
    return parts.map((part): WriteError => {
      const { field, reason, manager, message: said } = fieldsOf(part)
      return {
        ...whole,
        // A conflict has a dot before the field, a cause has none.
        field: textOf(field)?.replace(/^\./, '') || null,
        message: textOf(said) || message,
        reason: textOf(reason) || null,
        manager: textOf(manager) ?? null,
      }
    })
  })
}
