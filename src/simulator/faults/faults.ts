import { CodedError } from '../../lib/coded-error.ts'
import type { FaultMatch, FaultOrder, PendingFault, RequestFault, ServerFault } from './fault.ts'
import { effectOf, type FaultEffect, isRequestFault } from './fault-effects.ts'

/** A request as faults are matched with it. */
export interface FaultSubject {
  readonly path: string
  readonly verb: string
  readonly resource: string
  readonly group: string
  readonly namespace: string
  readonly page: 'first' | 'later'
}

/** Faults that strike one request after the other, from the first to the last and again. */
interface OrderedFaults extends Omit<PendingFault, 'fault'> {
  readonly faults: readonly RequestFault[]
}

/** Does what server faults ask for. */
export interface ServerFaultTarget {
  /** `false` where there is nothing that it could strike. */
  strike(fault: ServerFault): boolean
}

/** An order that names no fault there is. */
export class FaultError extends CodedError {
  constructor(value: unknown) {
    super('FAULT', `no such fault, or nothing that it strikes: ${JSON.stringify(value)}`, {
      value,
      hint: 'POST {"fault":{"type":…},"match":{…},"times":1}; docs/simulator.md lists the types',
    })
  }
}

const serverFaults = {
  'drop-connections': true,
  'refuse-connections': true,
  'freeze-connections': true,
  'end-watches': true,
  'fail-node': true,
  'recover-node': true,
  'compact-history': true,
} satisfies Record<ServerFault['type'], true>

/** How many faults may wait at once; one more is refused. */
const mostPending = 1000

/** The faults that the simulated server is to show, each for the next requests that match it. */
export class Faults {
  readonly #target: ServerFaultTarget
  #pending: OrderedFaults[] = []

  constructor(target: ServerFaultTarget) {
    this.#target = target
  }

  /** Orders a fault. Server faults strike at once. Throws {@link FaultError}. */
  inject({ fault, match = {}, times = 1 }: FaultOrder): void {
    const faults = [fault].flat()
    if (faults.length > 0 && faults.every(isRequestFault)) {
      if (this.#pending.length >= mostPending) throw new FaultError(fault)
      this.#pending.push({ faults, match, remaining: faults.length * times })
    } else if (
      !('type' in fault) ||
      !Object.hasOwn(serverFaults, fault.type) ||
      !this.#target.strike(fault as ServerFault)
    ) {
      throw new FaultError(fault)
    }
  }

  /** The request faults that still wait. */
  pending(): readonly PendingFault[] {
    return this.#pending.map((one) => {
      const { match, remaining } = one
      return { fault: next(one), match, remaining }
    })
  }

  /** Forgets all that wait. */
  clear(): void {
    this.#pending = []
  }

  /** The effects of all faults that strike this request, in the order of their orders. */
  take(subject: FaultSubject): FaultEffect[] {
    if (this.#pending.length === 0) return []
    const struck = this.#pending.filter(({ match }) => matches(match, subject))
    this.#pending = this.#pending
      .map((one) => (struck.includes(one) ? { ...one, remaining: one.remaining - 1 } : one))
      .filter(({ remaining }) => remaining > 0)
    return struck.map((one) => effectOf(next(one)))
  }
}

function next({ faults, remaining }: OrderedFaults): RequestFault {
  return faults.at(-remaining % faults.length) as RequestFault
}

function matches({ path, ...match }: FaultMatch, subject: FaultSubject): boolean {
  if (path !== undefined && !subject.path.startsWith(path)) return false
  return Object.entries(match).every(
    ([name, value]) => subject[name as keyof FaultSubject] === value,
  )
}
