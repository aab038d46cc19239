import { Counter, Gauge, type Registry } from 'prom-client'
import type { AuthenticationObserver } from '../../access/authentication/authenticator.ts'
import type { ServerObserver, ServerRefusal } from '../../server/operation-options.ts'

/** The metrics of authentication, refusals and connections. */
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
      help: 'Verifications of unknown tokens: accepted, refused, or unavailable.',
      labelNames: ['outcome'],
      registers,
    })
    this.#refusals = new Counter({
      name: 'informerql_refusals_total',
      help: 'Requests and WebSockets refused before their operation was read.',
      labelNames: ['transport', 'code'],
      registers,
    })
    this.#sockets = new Gauge({
      name: 'informerql_websockets',
      help: 'Open WebSockets.',
      registers,
    })
    this.#cutOffs = new Counter({
      name: 'informerql_readers_cut_off_total',
      help: 'Connections cut off because too many bytes waited, or the reader took nothing for too long.',
      labelNames: ['transport'],
      registers,
    })
    const unsent = (): number => this.#unsent()
    const gauge: Gauge = new Gauge({
      name: 'informerql_unsent_bytes',
      help: 'Bytes that wait to be sent, on all connections.',
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
