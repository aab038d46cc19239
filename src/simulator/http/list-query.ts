import { FieldSelectorError, parseFieldSelector } from '../../kubernetes/field-selector.ts'
import {
  LabelSelectorError,
  matchesLabels,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import type { SelectableFields } from '../api/kind-traits.ts'
import type { ServedResource } from '../api/served-resource.ts'
import {
  badRequest,
  type FieldProblem,
  forbiddenAt,
  Refusal,
  refuseInvalid,
  unsupportedAt,
} from '../api/status-refusal.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { flag, integer } from './exchange.ts'

/** The query parameters of LIST and WATCH, checked. */
export interface ListQuery {
  readonly watch: boolean
  readonly labelSelector: string
  readonly fieldSelector: string
  /** `undefined` if it is absent or `''`. */
  readonly revision: number | undefined
  readonly match: '' | 'Exact' | 'NotOlderThan'
  /** 0: no limit. */
  readonly limit: number
  /** `''` if it is absent. */
  readonly continue: string
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  /** 0: the server's default. */
  readonly timeoutSeconds: number
}

/** Reads and checks the parameters. Throws 400 and 422, as a kube-apiserver does. */
export function listQuery(params: URLSearchParams): ListQuery {
  const watch = flag(params, 'watch')
  const initial = params.has('sendInitialEvents') ? flag(params, 'sendInitialEvents') : undefined
  const match = params.get('resourceVersionMatch') ?? ''
  const version = params.get('resourceVersion') ?? ''
  const continued = watch ? '' : (params.get('continue') ?? '')
  const problems: FieldProblem[] = []
  const forbid = (what: string, message: string, at = what): void => {
    problems.push(forbiddenAt(at, `${what} ${message}`))
  }
  const field = 'resourceVersionMatch'
  if (watch) {
    if (match !== (initial === undefined ? '' : 'NotOlderThan')) {
      if (initial === undefined) {
        forbid(field, 'is forbidden for watch unless sendInitialEvents is provided')
      } else forbid('sendInitialEvents', `requires setting ${field} to NotOlderThan`, field)
    }
  } else if (match !== '') {
    if (version === '') forbid(field, 'is forbidden unless resourceVersion is provided')
    if (continued !== '') forbid(field, 'is forbidden when continue is provided')
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      problems.push(unsupportedAt(field, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && version === '0') {
      forbid(field, '"exact" is forbidden for resourceVersion "0"')
    }
  }
  if (!watch && initial !== undefined) forbid('sendInitialEvents', 'is forbidden for list')
  refuseInvalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, problems)
  return {
    watch,
    labelSelector: params.get('labelSelector') ?? '',
    fieldSelector: params.get('fieldSelector') ?? '',
    revision: version === '' ? undefined : revisionOf(version, watch),
    match: match as ListQuery['match'],
    limit: Math.max(0, integer(params, 'limit') ?? 0),
    continue: continued,
    allowWatchBookmarks: flag(params, 'allowWatchBookmarks'),
    sendInitialEvents: initial,
    timeoutSeconds: integer(params, 'timeoutSeconds') ?? 0,
  }
}

function revisionOf(version: string, watch: boolean): number {
  if (/^\d{1,15}$/.test(version)) return Number(version)
  const problem = `resourceVersion: Invalid value: ${JSON.stringify(version)}: strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`
  throw watch ? new Refusal(500, problem) : badRequest(`invalid resource version: ${problem}`)
}

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
  { labelSelector, fieldSelector }: ListQuery,
): Selection {
  try {
    const labels = parseLabelSelector(labelSelector)
    const fields = parseFieldSelector(fieldSelector)
    const tests = fields.map(({ path, operator, value }) => {
      const read = reader(path, stored.fields)
      return (object: StoredObject): boolean => (read(object) === value) === (operator === '=')
    })
    if (labels.length === 0 && tests.length === 0) return { namespace, test: undefined }
    const test = (object: StoredObject): boolean =>
      matchesLabels(labels, object.labels) && tests.every((one) => one(object))
    return { namespace, test }
  } catch (error) {
    if (error instanceof LabelSelectorError) {
      throw badRequest(`unable to parse requirement: ${error.message}`)
    }
    if (error instanceof FieldSelectorError) {
      throw badRequest(`invalid selector: '${fieldSelector}'; can't understand '${fieldSelector}'`)
    }
    throw error
  }
}

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

/** Reads a selectable field. Throws 400 for another one. */
function reader(path: string, fields: SelectableFields): (object: StoredObject) => string {
  if (path === 'metadata.name') return (object) => object.name
  if (path === 'metadata.namespace') return (object) => object.namespace
  const position = fields.paths.indexOf(path)
  if (position < 0) throw badRequest(fields.unsupported(path))
  return (object) => object.fields[position] ?? ''
}
