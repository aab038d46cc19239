import type { Gateway } from '../gateway/gateway.ts'
import { shellWords } from './shell-words.ts'

/** The process that a shell starts, and where. */
export interface ShellTarget {
  readonly cluster: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly command: readonly string[]
  readonly debug?: { readonly image: string }
}

/** How a shell has ended, as the gateway says. */
export interface ShellEnd {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly exitCode?: number
}

interface ShellListener {
  readonly opened: (container: string) => void
  readonly printed: (bytes: Uint8Array) => void
  readonly ended: (end: ShellEnd) => void
}

interface Size {
  readonly columns: number
  readonly rows: number
}

/** Sent in parts of this size: the gateway bounds messages. */
const partBytes = 16_384

/** A shell over a WebSocket of the gateway (docs/exec.md). */
export class ShellSession {
  readonly #socket: WebSocket
  readonly #stop: () => void
  #isEnded = false

  constructor(gateway: Gateway, target: ShellTarget, size: Size, listener: ShellListener) {
    const at = new URL('exec', new URL(gateway.url, location.href))
    this.#socket = new WebSocket(at.href.replace(/^http/, 'ws'), 'informerql.exec.v1')
    this.#socket.binaryType = 'arraybuffer'
    this.#stop = gateway.onProlonged((authorization) =>
      this.#tell({ type: 'credentials', authorization }),
    )
    const end = (how: ShellEnd): void => {
      if (this.#isEnded) return
      this.#isEnded = true
      this.#stop()
      listener.ended(how)
    }
    this.#socket.addEventListener('open', () =>
      this.#tell({ type: 'start', ...gateway.credentials(), ...target, tty: true, ...size }),
    )
    this.#socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data !== 'string') {
        listener.printed(new Uint8Array(data, 1))
        return
      }
      const told = JSON.parse(data) as
        | { readonly type: 'open'; readonly container: string }
        | ({ readonly type: 'end' } & ShellEnd)
      if (told.type === 'open') listener.opened(told.container)
      else end(told)
    })
    this.#socket.addEventListener('close', () =>
      end({ code: 'UNREACHABLE', message: shellWords.lost }),
    )
  }

  type(text: string): void {
    const bytes = new TextEncoder().encode(text)
    for (let from = 0; from < bytes.length; from += partBytes) {
      this.#send(0, bytes.subarray(from, from + partBytes))
    }
  }

  resize({ columns, rows }: Size): void {
    this.#send(4, new TextEncoder().encode(JSON.stringify({ Width: columns, Height: rows })))
  }

  close(): void {
    this.#stop()
    this.#isEnded = true
    this.#socket.close()
  }

  #send(channel: number, bytes: Uint8Array): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const message = new Uint8Array(bytes.length + 1)
    message[0] = channel
    message.set(bytes, 1)
    this.#socket.send(message)
  }

  #tell(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }
}
