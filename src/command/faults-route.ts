import type { IncomingMessage, ServerResponse } from 'node:http'
import { CodedError } from '../lib/coded-error.ts'
import { isJsonObject } from '../lib/json.ts'
import { refuseRequest } from '../server/guard/refusal.ts'
import type { Routes } from '../server/operation-options.ts'
import { Refusal } from '../simulator/api/status-refusal.ts'
import type { FaultOrder } from '../simulator/faults/fault.ts'
import { FaultError } from '../simulator/faults/faults.ts'
import { readBody } from '../simulator/http/request-body.ts'
import type { SimulatedFleet } from '../simulator/simulated-fleet.ts'

/** The path of the demo's faults. */
export const faultsPath = '/faults'

/** A request for faults that cannot be carried out. */
class FaultRequestError extends CodedError {
  constructor(problem: string, value: unknown, hint: string) {
    super('FAULT_REQUEST', problem, { value, hint })
  }
}

/**
 * `POST /faults` orders a fault of one cluster: `{ "cluster": "prod-us", "fault": "cut" }`, or `fault`, `match` and
 * `times` as the simulator's own `/simulator/faults` takes them. `GET` says of each cluster whether it is cut.
 */
export function faultsRoute(fleet: SimulatedFleet): Routes[string] {
  return async (request, response) => {
    try {
      await answer(fleet, request, response)
    } catch (error) {
      const isWrong = error instanceof FaultRequestError || error instanceof FaultError
      if (!isWrong && !(error instanceof Refusal)) throw error
      const { message: reason, hint } = error
      const status = isWrong ? 400 : error.httpStatus
      refuseRequest(response, { status, reason, ...(hint === undefined ? {} : { hint }) })
    }
  }
}

async function answer(
  fleet: SimulatedFleet,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method } = request
  if (method === 'POST') order(fleet, await readBody(request))
  else if (method !== 'GET') {
    const headers = { allow: 'GET, POST' }
    refuseRequest(response, {
      status: 405,
      reason: `${faultsPath} does not accept ${method ?? ''}`,
      hint: 'POST {"cluster":…,"fault":…} orders a fault, GET shows the clusters',
      headers,
    })
    return
  }
  const clusters = fleet.clusters.map(({ name, simulator: { url, faults } }) => ({
    name,
    url,
    connections: faults.connections,
    pending: faults.pending(),
  }))
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.end(`${JSON.stringify({ clusters })}\n`)
}

function order({ clusters }: SimulatedFleet, body: Buffer): void {
  const { cluster, fault, ...rest } = fieldsOf(body)
  const names = clusters.map(({ name }) => name)
  const found = clusters.find(({ name }) => name === cluster)
  if (found === undefined) {
    const problem =
      cluster === undefined
        ? 'cluster is missing'
        : `there is no cluster ${JSON.stringify(cluster)}`
    throw new FaultRequestError(problem, cluster, `clusters are ${names.join(', ')}`)
  }
  const faults = typeof fault === 'string' ? { type: fault } : fault
  if (![faults].flat().every(isJsonObject)) {
    const problem =
      fault === undefined ? 'fault is missing' : `there is no fault ${JSON.stringify(fault)}`
    const hint = 'a fault is cut, hang or mend, or one of docs/simulator.md'
    throw new FaultRequestError(problem, fault, hint)
  }
  found.simulator.faults.inject({ ...rest, fault: faults } as unknown as FaultOrder)
}

function fieldsOf(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString())
    if (isJsonObject(value)) return value
  } catch {
    // Falls through: no JSON is as wrong as another value.
  }
  const text = JSON.stringify(body.toString('utf8', 0, 60))
  const problem = `the body is no JSON object: ${text}`
  throw new FaultRequestError(problem, body, 'POST {"cluster":"prod-us","fault":"cut"}')
}
