import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { applied, type Held } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'

/** A list to follow, and what of it. */
export interface Followed {
  /** With an open list of arguments. */
  readonly field: string
  /** Of each change, besides its object. */
  readonly extra: string
  readonly selection: string
  /** What of the pods there are is in the list. */
  readonly matches: (pod: Fields) => boolean
}

/** Where a client stood once, and what it held there. */
export interface Stand {
  readonly token: string | undefined
  readonly held: Held
  readonly isSynced: boolean
  /** How often history had been forgotten before. */
  readonly epoch: number
}

/** What became of subscriptions that came back with a token. */
export interface ComeBacks {
  resumed: number
  /** Begun anew, as the token was one from within a snapshot. */
  within: number
  /** Begun anew, where history has been forgotten since. */
  forgotten: number
  /** Begun anew, as graphql-js answers what no plan covers. */
  unplanned: number
  /** Begun anew all the same. */
  lost: number
}

export const noComeBacks = (): ComeBacks => ({
  resumed: 0,
  within: 0,
  forgotten: 0,
  unplanned: 0,
  lost: 0,
})

/** What clients are held to. */
export interface Truth {
  readonly url: string
  /** How often history has been forgotten. */
  readonly epoch: () => number
  /** Whether a pod, by its UID, has been deleted ever. */
  readonly wasDeleted: (uid: string) => boolean
  /** Whether it has been one that does not match. */
  readonly wasUnmatched: (uid: string, matches: Followed['matches']) => boolean
}

/** A client that comes back whenever it is cut off, with the last token that it has. */
export class LiveClient {
  readonly followed: Followed
  readonly problems: string[] = []
  readonly comeBacks: ComeBacks = noComeBacks()
  /** Wherever it has stood. */
  readonly stands: Stand[] = []
  readonly #truth: Truth
  readonly #query: string
  #stand: Stand
  #socket: WebSocket | undefined
  #isOver = false
  #isThere = false
  #isPaused = false

  constructor(truth: Truth, followed: Followed, from?: Stand) {
    const { field, extra, selection } = followed
    this.#truth = truth
    this.followed = followed
    this.#stand = from ?? { token: undefined, held: new Map(), isSynced: false, epoch: 0 }
    this.#query = `subscription ($from: String) {
      frame: ${field}, resumeFrom: $from) {
        reset synced resumeToken resourceVersion
        changes { type removal objectId ${extra} object { id ${selection} } }
      }
    }`
    this.#connect()
  }

  get held(): Held {
    return this.#stand.held
  }

  /** Whether it has been answered on the connection that it has, or could not know that it was. */
  get isThere(): boolean {
    return this.#isThere || this.#isPaused
  }

  pause(): void {
    this.#isPaused = true
    this.#socket?.pause()
  }

  go(): void {
    this.#isPaused = false
    this.#socket?.resume()
  }

  leave(): void {
    this.#isOver = true
    this.#socket?.terminate()
  }

  #connect(): void {
    if (this.#isOver) return
    const socket = (this.#socket = new WebSocket(this.#truth.url, 'graphql-transport-ws'))
    const from = this.#stand
    let isFirst = true
    socket.on('error', () => {})
    socket.on('open', () => socket.send('{"type":"connection_init"}'))
    socket.on('close', () => {
      this.#isThere = false
      void sleep(20).then(() => this.#connect())
    })
    socket.on('message', (data: Buffer) => {
      if (this.#isOver) return
      const { type, payload } = JSON.parse(data.toString())
      if (type === 'connection_ack') {
        const asked = { query: this.#query, variables: { from: from.token } }
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: asked }))
      } else if (type === 'next' && payload.data?.frame !== undefined) {
        if (isFirst) this.#begin(payload.data.frame, from)
        this.#take(payload.data.frame)
        isFirst = false
        this.#isThere = true
      } else if (type !== 'ping') socket.terminate()
    })
  }

  #begin({ reset }: Fields, { token, isSynced, epoch }: Stand): void {
    if (token === undefined) {
      if (reset !== true) this.problems.push('no reset at first')
    } else if (reset === false) {
      if (!isSynced) this.problems.push('went on from within a snapshot')
      this.comeBacks.resumed += 1
    } else if (!isSynced) this.comeBacks.within += 1
    else if (epoch < this.#truth.epoch()) this.comeBacks.forgotten += 1
    else if (this.followed.extra !== '') this.comeBacks.unplanned += 1
    else this.comeBacks.lost += 1
  }

  #take(frame: Fields): void {
    const { held, isSynced } = this.#stand
    if (isSynced && !frame.synced && !frame.reset) this.problems.push('no longer synced')
    for (const change of frame.reset === true ? [] : frame.changes) {
      this.#check(change, held.get(change.objectId)?.metadata)
    }
    const epoch = this.#truth.epoch()
    this.#stand = {
      token: frame.resumeToken,
      held: applied(held, frame),
      isSynced: frame.synced,
      epoch,
    }
    this.stands.push(this.#stand)
  }

  #check({ type, removal, object }: Fields, before: Fields): void {
    if (before === undefined) return
    const { name, uid } = before
    if (type !== 'REMOVED') {
      const isBack = Number(before.resourceVersion) > Number(object?.metadata.resourceVersion)
      if (isBack) this.problems.push(`${name} went back`)
      return
    }
    const { wasDeleted, wasUnmatched } = this.#truth
    const isTrue =
      removal === 'UNMATCHED' ? wasUnmatched(uid, this.followed.matches) : wasDeleted(uid)
    if (!isTrue) this.problems.push(`${name} is said to be ${removal}, and never was`)
  }
}
