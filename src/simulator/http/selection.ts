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

/** Which of a resource's objects a request is about. */
export interface Selection {
  /** `''` for all namespaces. */
  readonly namespace: string
  /** `undefined` where neither labels nor fields select: every object of the namespace. */
  readonly test: ((object: StoredObject) => boolean) | undefined
}

/** What a request selects. Throws 400 for selectors that cannot be read. */
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

/** Whether an object, which may be absent, is selected. */
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

/** A test for the objects that a field selector selects. Throws a 400 for a field that is not selectable. */
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
