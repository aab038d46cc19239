import { isJsonObject } from '../../../lib/json.ts'
import { badRequest, invalid } from '../../api/status-refusal.ts'
import { type FieldProblem, invalidAt, tooLongAt, unsupportedAt } from '../../api/field-problem.ts'
import type { DeleteOptions } from '../../writes/object-deletion.ts'
import type { WriteOptions } from '../../writes/write-target.ts'
import { contentType, parseBody, readBody } from '../request-body.ts'
import type { Exchange } from '../exchange.ts'

const fieldValidations = ['', 'Ignore', 'Strict', 'Warn']
const propagationPolicies = ['Foreground', 'Background', 'Orphan']
const maxManagerBytes = 128

const optionsKinds: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
}

/** The options of a write. Throws 422 for invalid options. */
export function writeOptions({ params, request, warnings, method }: Exchange): WriteOptions {
  const [agent = ''] = (request.headers['user-agent'] ?? '').split('/')
  const manager = params.get('fieldManager') ?? ''
  const fieldValidation = params.get('fieldValidation') ?? ''
  const dryRun = params.getAll('dryRun')
  const problems = dryRunProblems(dryRun)
  if (Buffer.byteLength(manager) > maxManagerBytes) {
    problems.unshift(tooLongAt('fieldManager', maxManagerBytes))
  }
  if (!fieldValidations.includes(fieldValidation)) {
    problems.push(unsupportedAt('fieldValidation', fieldValidation, fieldValidations))
  }
  requireNone(optionsKinds[method] ?? 'PatchOptions', problems)
  return {
    dryRun: dryRun.includes('All'),
    manager: manager === '' ? agent.slice(0, maxManagerBytes) || 'unknown' : manager,
    fieldValidation: (fieldValidation || 'Warn') as WriteOptions['fieldValidation'],
    warn: (text) => warnings.push(text),
  }
}

/** The options of a DELETE. */
export interface DeleteRequest {
  readonly options: DeleteOptions
  readonly dryRun: boolean
}

/** Reads the `DeleteOptions` of a DELETE from its body, or else from its parameters. Throws 400, 415 and 422. */
export async function readDeleteRequest({ request, params }: Exchange): Promise<DeleteRequest> {
  const body = parseBody(await readBody(request), contentType(request), 'DeleteOptions')
  if (body !== undefined) return deleteRequestOf(checkedOptions(body))
  const seconds = params.get('gracePeriodSeconds')
  if (seconds !== null && !/^[+-]?\d+$/.test(seconds)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(seconds)}: invalid syntax`)
  }
  const orphans = params.get('orphanDependents')
  return deleteRequestOf({
    dryRun: params.getAll('dryRun'),
    propagationPolicy: params.get('propagationPolicy') ?? undefined,
    orphanDependents: orphans === null ? undefined : !['0', 'false'].includes(orphans),
  })
}

type Fields = Readonly<Record<string, unknown>>

function checkedOptions(body: unknown): Fields {
  if (!isJsonObject(body)) throw badRequest('DeleteOptions are an object')
  const { kind = 'DeleteOptions', apiVersion = 'v1' } = body
  if (kind === 'DeleteOptions') return body
  throw badRequest(
    `no kind ${JSON.stringify(kind)} is registered for version "${String(apiVersion)}"`,
  )
}

/** Checks `DeleteOptions`. Throws 422. */
export function deleteRequestOf(given: Fields): DeleteRequest {
  const { propagationPolicy: policy, orphanDependents, preconditions } = given
  const dryRun = Array.isArray(given['dryRun']) ? (given['dryRun'] as readonly unknown[]) : []
  const problems = dryRunProblems(dryRun)
  if (policy !== undefined && !propagationPolicies.some((one) => one === policy)) {
    problems.push(unsupportedAt('propagationPolicy', policy, [...propagationPolicies, 'nil']))
  }
  if (policy !== undefined && orphanDependents !== undefined) {
    const message = 'orphanDependents and deletionPropagation cannot be both set'
    problems.push(invalidAt('propagationPolicy', policy, message))
  }
  requireNone('DeleteOptions', problems)
  const options = isJsonObject(preconditions) ? { preconditions } : {}
  return { options, dryRun: dryRun.includes('All') }
}

function dryRunProblems(dryRun: readonly unknown[]): FieldProblem[] {
  return dryRun.every((one) => one === 'All') ? [] : [unsupportedAt('dryRun', dryRun, ['All'])]
}

function requireNone(kind: string, problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid({ group: 'meta.k8s.io', kind, name: '' }, problems)
}
