import { WebSocket } from 'ws'
import { appliedSteps, type HeldPage } from './followed-page.ts'
import type { Fields } from './test-cluster.ts'

/**
 * A reader of a live page by a socket of its own, which it may stop reading, down to the socket, and which may be cut: then it
 * comes back with the token of the last frame that it has applied.
 */
export class PageReader {
  readonly problems: string[] = []
  /** How often it has come back with a token, and how often it then went on where it was. */
  readonly returns: { tried: number; honoured: number } = { tried: 0, honoured: 0 }
  frames = 0
  resets = 0
  readonly #url: string
  readonly #query: string
  #held: HeldPage = { rows: [], totalCount: -1 }
  #token: string | undefined
  #socket: WebSocket
  #isFirst = true

  /** `field` has an open list of arguments. */
  constructor(url: string, field: string, selection: string) {
    this.#url = url.replace('http', 'ws')
    this.#query = `subscription ($from: String) {
      page: ${field}, resumeFrom: $from) {
        reset synced totalCount resumeToken
        changes { step index from objectId object { id ${selection} } }
      }
    }`
    this.#socket = this.#open()
  }

  get held(): HeldPage {
    return this.#held
  }

  pause(): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.pause()
  }

  resume(): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.resume()
  }

  /** Loses the connection, and comes back. */
  cut(): void {
    this.leave()
    if (this.#token !== undefined) this.returns.tried += 1
    this.#isFirst = true
    this.#socket = this.#open()
  }

  leave(): void {
    this.#socket.removeAllListeners('message')
    this.#socket.on('error', () => {})
    this.#socket.terminate()
  }

  #open(): WebSocket {
    const socket = new WebSocket(this.#url, 'graphql-transport-ws')
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
    socket.on('message', (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString())
      if (type === 'connection_ack') {
        const variables = { from: this.#token }
        const message = { id: '1', type: 'subscribe', payload: { query: this.#query, variables } }
        socket.send(JSON.stringify(message))
      } else if (type === 'next') this.#take(payload)
      else if (type !== 'ping') this.problems.push(data.toString())
    })
    return socket
  }

  #take({ data, errors }: Fields): void {
    if (data === null || data === undefined) {
      this.problems.push(JSON.stringify(errors))
      return
    }
    const { page } = data
    if (this.#isFirst && this.#token !== undefined && page.reset === false)
      this.returns.honoured += 1
    this.#isFirst = false
    this.frames += 1
    if (page.reset === true) this.resets += 1
    this.#held = appliedSteps(this.#held, page, (text) => this.problems.push(text))
    this.#token = page.resumeToken
  }
}
