import { Counter, Gauge, type Registry } from 'prom-client'
import type { AuthenticationObserver } from '../../access/authentication/authentication-observer.ts'
import type { ServerObserver, ServerRefusal } from '../../server/server-observer.ts'

/** Who is let in, and how many are there. */
export class ServerMetrics implements ServerObserver, Pick<AuthenticationObserver, 'verified'> {
  readonly #tokens: Counter<'outcome'>
  readonly #refusals: Counter<'transport' | 'code'>
  readonly #sockets: Gauge
  readonly #cutOffs: Counter<'transport'>
  #unsent = (): number => 0

  constructor(registry: Registry) {
    const registers = [registry]
    this.#tokens = new Counter({
      name: 'informerql_token_verifications_total',
      help: 'Tokens that were not known and had to be verified: accepted, refused, or unavailable.',
      labelNames: ['outcome'],
      registers,
    })
    this.#refusals = new Counter({
      name: 'informerql_refusals_total',
      help: 'Requests and WebSockets that were refused before their operation was read.',
      labelNames: ['transport', 'code'],
      registers,
    })
    this.#sockets = new Gauge({
      name: 'informerql_websockets',
      help: 'WebSockets that are open.',
      registers,
    })
    this.#cutOffs = new Counter({
      name: 'informerql_readers_cut_off_total',
      help: 'Connections that were cut off, as too much waited to be sent on them, or nothing was read for too long.',
      labelNames: ['transport'],
      registers,
    })
    const unsent = (): number => this.#unsent()
    const gauge: Gauge = new Gauge({
      name: 'informerql_unsent_bytes',
      help: 'What waits to be sent to readers, on all connections.',
      collect: () => gauge.set(unsent()),
      registers,
    })
  }

  verified(outcome: 'accepted' | 'refused' | 'unavailable'): void {
    this.#tokens.inc({ outcome })
  }

  refused({ transport, code }: ServerRefusal): void {
    this.#refusals.inc({ transport, code })
  }

  socketOpened(): void {
    this.#sockets.inc()
  }

  socketClosed(): void {
    this.#sockets.dec()
  }

  cutOff(transport: 'http' | 'websocket'): void {
    this.#cutOffs.inc({ transport })
  }

  unsent(bytes: () => number): void {
    this.#unsent = bytes
  }
}
