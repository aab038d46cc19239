import { CodedError } from '../../lib/coded-error.ts'
import type { Connections, FaultOrder, PendingFault, RequestFault, ServerFault } from './fault.ts'
import { effectOf, type FaultEffect, isRequestFault } from './fault-effects.ts'

/** The properties of a request that faults match. */
export interface FaultSubject {
  readonly path: string
  readonly verb: string
  readonly resource: string
  readonly group: string
  readonly namespace: string
  readonly page: 'first' | 'later'
}

/** Faults that strike one request after the other, over and over. */
interface OrderedFaults extends Omit<PendingFault, 'fault'> {
  readonly faults: readonly RequestFault[]
}

/** An order with an unknown fault, or with a fault that has no target. */
export class FaultError extends CodedError {
  constructor(value: unknown) {
    super('FAULT', `no such fault, or no target for it: ${JSON.stringify(value)}`, {
      value,
      hint: 'POST {"fault":{"type":…},"match":{…},"times":1}; docs/simulator.md lists the types',
    })
  }
}

/** The server that faults strike. */
export interface FaultyServer {
  readonly connections: () => Connections
  /** Carries out a server fault. Returns `false` for an unknown fault, or one without a target. */
  readonly strike: (fault: ServerFault) => boolean
}

const mostPending = 1000

/** The ordered faults. Each strikes the next requests that match it. */
export class Faults {
  readonly #server: FaultyServer
  #pending: OrderedFaults[] = []

  constructor(server: FaultyServer) {
    this.#server = server
  }

  get connections(): Connections {
    return this.#server.connections()
  }

  /** Orders a fault. Server faults strike at once. Throws {@link FaultError}. */
  inject({ fault, match = {}, times = 1 }: FaultOrder): void {
    const faults = [fault].flat()
    if (faults.length > 0 && faults.every(isRequestFault)) {
      if (this.#pending.length >= mostPending) throw new FaultError(fault)
      this.#pending.push({ faults, match, remaining: faults.length * times })
    } else if (!this.#server.strike(fault as ServerFault)) throw new FaultError(fault)
  }

  pending(): readonly PendingFault[] {
    return this.#pending.map((one) => {
      const { match, remaining } = one
      return { fault: next(one), match, remaining }
    })
  }

  clear(): void {
    this.#pending = []
  }

  /** Takes the effects of all faults that strike a request, in the order in which they were ordered. */
  take(subject: FaultSubject): FaultEffect[] {
    if (this.#pending.length === 0) return []
    const struck = this.#pending.filter(({ match: { path = '', ...match } }) => {
      const wanted = Object.entries(match) as [keyof FaultSubject, string][]
      return subject.path.startsWith(path) && wanted.every(([name, one]) => subject[name] === one)
    })
    this.#pending = this.#pending
      .map((one) => (struck.includes(one) ? { ...one, remaining: one.remaining - 1 } : one))
      .filter(({ remaining }) => remaining > 0)
    return struck.map((one) => effectOf(next(one)))
  }
}

function next({ faults, remaining }: OrderedFaults): RequestFault {
  return faults.at(-remaining % faults.length) as RequestFault
}
