import { labelSelectorOf, matchesLabels } from '../../../kubernetes/label-selector.ts'
import type { Unstructured } from '../../../kubernetes/object.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { badRequest, Refusal } from '../../api/status-refusal.ts'
import type { Storage } from '../../storage/storage.ts'
import { deleteObject } from '../../writes/object-deletion.ts'
import { currentObject } from '../../writes/write-target.ts'
import { contentType, parseBody, readBody } from '../request-body.ts'
import { sendJson } from '../exchange.ts'
import type { ObjectRequest } from './object-requests.ts'
import { deleteRequestOf, writeOptions } from './write-parameters.ts'

const kind = 'Eviction'
const budgets = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' }

/** The parts of a PodDisruptionBudget that an eviction reads. */
interface Budget extends Unstructured {
  readonly spec?: { readonly selector?: Parameters<typeof labelSelectorOf>[0] }
  readonly status?: {
    readonly observedGeneration?: number
    readonly disruptionsAllowed?: number
    readonly desiredHealthy?: number
    readonly currentHealthy?: number
  }
}

/** Deletes a pod unless a PodDisruptionBudget forbids it, as the subresource `eviction` does. Throws refusals. */
export async function serveEviction(request: ObjectRequest): Promise<void> {
  const { exchange, storage, name } = request
  const body = await readBody(exchange.request)
  const given = parseBody(body, contentType(exchange.request), kind)
  if (!isJsonObject(given)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  }
  const metadata = isJsonObject(given['metadata']) ? given['metadata'] : {}
  if (metadata['name'] !== name) {
    throw badRequest('name in URL does not match name in Eviction object')
  }
  const wanted = isJsonObject(given['deleteOptions']) ? given['deleteOptions'] : {}
  const { options, dryRun } = deleteRequestOf(wanted)
  const isDry = dryRun || writeOptions(exchange).dryRun
  const pod = currentObject(storage, request)
  if (!isOutsideBudgets(pod)) takeDisruption(storage, pod, isDry)
  deleteObject(storage, request, options, { dryRun: isDry })
  sendJson(exchange, 201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  })
}

/** Whether a pod is outside of all budgets: it has not started, has ended, or is terminating. */
function isOutsideBudgets(pod: Unstructured): boolean {
  const status = isJsonObject(pod['status']) ? pod['status'] : {}
  const isEnding = pod.metadata.deletionTimestamp !== undefined
  return isEnding || ['Pending', 'Succeeded', 'Failed'].includes(String(status['phase']))
}

/**
 * Takes one disruption from the budget of a pod. Throws 429 if the budget allows none, and 500 if the pod has two
 * budgets.
 */
function takeDisruption(storage: Storage, { metadata }: Unstructured, dryRun: boolean): void {
  const served = storage.registry.find(budgets.group, budgets.version, budgets.resource)
  if (served === undefined) return
  const { namespace = '', labels } = metadata
  const found = Array.from(storage.list(budgets, namespace) as Iterable<Budget>).filter(
    ({ spec }) => matchesLabels(labelSelectorOf(spec?.selector ?? {}), labels),
  )
  const [budget, other] = found
  if (budget === undefined) return
  if (other !== undefined) {
    throw new Refusal(
      500,
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const { disruptionsAllowed = 0, observedGeneration = 0 } = budget.status ?? {}
  const budgetName = budget.metadata.name
  if (observedGeneration < (budget.metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${budgetName} is still being processed by the server.`, 10)
  }
  if (disruptionsAllowed === 0) {
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
    const problem =
      currentHealthy <= desiredHealthy
        ? `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
        : 'does not allow evicting pods currently'
    throw tooMany(`The disruption budget ${budgetName} ${problem}`)
  }
  const status = { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1 }
  if (!dryRun) storage.update(budgets, { ...budget, status })
}

function tooMany(message: string, retryAfterSeconds?: number): Refusal {
  const text = "Cannot evict pod as it would violate the pod's disruption budget."
  const causes = [{ reason: 'DisruptionBudget', message }]
  const reason = 'TooManyRequests'
  if (retryAfterSeconds === undefined)
    return new Refusal(429, text, { reason, details: { causes } })
  return new Refusal(429, text, {
    reason,
    details: { causes, retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}
