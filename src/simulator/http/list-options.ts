import { type FieldProblem, forbiddenAt, unsupportedAt } from '../api/field-problem.ts'
import { badRequest, invalid, Refusal } from '../api/status-refusal.ts'

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
  checkMatch({ watch, initial, match, version, continued })
  return {
    watch,
    labelSelector: params.get('labelSelector') ?? '',
    fieldSelector: params.get('fieldSelector') ?? '',
    revision: version === '' ? undefined : revisionOf(version, watch),
    match: match as ListQuery['match'],
    limit: Math.max(0, integer(params, 'limit')),
    continue: continued,
    allowWatchBookmarks: flag(params, 'allowWatchBookmarks'),
    sendInitialEvents: initial,
    timeoutSeconds: integer(params, 'timeoutSeconds'),
  }
}

function flag(params: URLSearchParams, name: string): boolean {
  const value = params.get(name)
  return value !== null && !['0', 'false'].includes(value.toLowerCase())
}

function integer(params: URLSearchParams, name: string): number {
  const value = params.get(name) ?? ''
  if (value === '') return 0
  if (!/^[+-]?\d{1,15}$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  }
  return Number(value)
}

function revisionOf(version: string, watch: boolean): number {
  if (/^\d{1,15}$/.test(version)) return Number(version)
  const problem = `resourceVersion: Invalid value: ${JSON.stringify(version)}: strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`
  throw watch ? new Refusal(500, problem) : badRequest(`invalid resource version: ${problem}`)
}

interface MatchQuery {
  readonly watch: boolean
  readonly initial: boolean | undefined
  readonly match: string
  readonly version: string
  readonly continued: string
}

function checkMatch(query: MatchQuery): void {
  const problems = query.watch ? watchProblems(query) : listProblems(query)
  if (problems.length > 0) {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, problems)
  }
}

function listProblems({ initial, match, version, continued }: MatchQuery): FieldProblem[] {
  const problems: FieldProblem[] = []
  const field = 'resourceVersionMatch'
  if (match !== '') {
    if (version === '') {
      problems.push(forbiddenAt(field, `${field} is forbidden unless resourceVersion is provided`))
    }
    if (continued !== '') {
      problems.push(forbiddenAt(field, `${field} is forbidden when continue is provided`))
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      problems.push(unsupportedAt(field, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && version === '0') {
      problems.push(forbiddenAt(field, `${field} "exact" is forbidden for resourceVersion "0"`))
    }
  }
  if (initial !== undefined) {
    problems.push(forbiddenAt('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  return problems
}

function watchProblems({ initial, match }: MatchQuery): FieldProblem[] {
  const field = 'resourceVersionMatch'
  if (initial === undefined) {
    return match === ''
      ? []
      : [forbiddenAt(field, `${field} is forbidden for watch unless sendInitialEvents is provided`)]
  }
  return match === 'NotOlderThan'
    ? []
    : [forbiddenAt(field, `sendInitialEvents requires setting ${field} to NotOlderThan`)]
}
