import {
  type FieldSelector,
  FieldSelectorError,
  parseFieldSelector,
} from '../../kubernetes/field-selector.ts'
import {
  LabelSelectorError,
  matchesLabels,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import type { SelectableFields } from '../api/selectable-fields.ts'
import { badRequest } from '../api/status-refusal.ts'
import type { ServedResource } from '../api/served-resource.ts'
import type { StoredObject } from '../storage/stored-object.ts'

/** The objects of a resource that a request selects. */
export interface Selection {
  /** `''` for all namespaces. */
  readonly namespace: string
  /** `undefined` without selectors: every object of the namespace matches. */
  readonly test: ((object: StoredObject) => boolean) | undefined
}

/** The selection of a request. Throws 400 for invalid selectors. */
export function selectionOf(
  { stored }: ServedResource,
  namespace: string,
  selectors: { readonly labelSelector: string; readonly fieldSelector: string },
): Selection {
  try {
    const labels = parseLabelSelector(selectors.labelSelector)
    const fields = parseFieldSelector(selectors.fieldSelector)
    const byField = fieldTest(fields, stored.fields)
    if (labels.length === 0 && fields.length === 0) return { namespace, test: undefined }
    return {
      namespace,
      test: (object) => matchesLabels(labels, object.labels) && byField(object),
    }
  } catch (error) {
    if (error instanceof LabelSelectorError) {
      throw badRequest(`unable to parse requirement: ${error.message}`)
    }
    if (error instanceof FieldSelectorError) {
      throw badRequest(
        `invalid selector: '${selectors.fieldSelector}'; can't understand '${selectors.fieldSelector}'`,
      )
    }
    throw error
  }
}

/** Whether an object exists and is selected. */
export function isSelected(
  { namespace, test }: Selection,
  object: StoredObject | undefined,
): object is StoredObject {
  return (
    object !== undefined &&
    (namespace === '' || object.namespace === namespace) &&
    (test === undefined || test(object))
  )
}

/** A test for a field selector. Throws 400 for a field that is not selectable. */
function fieldTest(
  selector: FieldSelector,
  fields: SelectableFields,
): (object: StoredObject) => boolean {
  const tests = selector.map(({ path, operator, value }) => {
    const read = reader(path, fields)
    return (object: StoredObject): boolean => (read(object) === value) === (operator === '=')
  })
  return (object) => tests.every((test) => test(object))
}

function reader(path: string, fields: SelectableFields): (object: StoredObject) => string {
  if (path === 'metadata.name') return (object) => object.name
  if (path === 'metadata.namespace') return (object) => object.namespace
  const position = fields.paths.indexOf(path)
  if (position < 0) throw badRequest(fields.unsupported(path))
  return (object) => object.fields[position] ?? ''
}
