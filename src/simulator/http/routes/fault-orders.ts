import { isJsonObject } from '../../../lib/json.ts'
import { type Exchange, sendJson } from '../simulated-exchange.ts'
import { FaultError, type Faults } from '../../faults/faults.ts'
import type { FaultOrder } from '../../faults/fault.ts'
import { badRequest, methodNotAllowed } from '../../api/status-refusal.ts'
import { readBody } from '../request-body.ts'

/** The path of the fault orders. */
export const faultsPath = '/simulator/faults'

/** `POST` orders a fault, `GET` lists those that wait, `DELETE` forgets them. */
export async function serveFaultOrder(exchange: Exchange, faults: Faults): Promise<void> {
  if (exchange.method === 'POST') order(faults, await readBody(exchange.request))
  else if (exchange.method === 'DELETE') faults.clear()
  else if (exchange.method !== 'GET') throw methodNotAllowed()
  sendJson(exchange, 200, { pending: faults.pending() })
}

function order(faults: Faults, body: Buffer): void {
  try {
    const value: unknown = JSON.parse(body.toString())
    if (!isJsonObject(value) || ![value['fault']].flat().every(isJsonObject)) {
      throw new FaultError(value)
    }
    faults.inject(value as unknown as FaultOrder)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FaultError) throw badRequest(error.message)
    throw error
  }
}
